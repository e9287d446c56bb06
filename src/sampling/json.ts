/** The beginning of JSON, and of sequences of JSON values. */
import { Fault } from '../core/fault.ts';
import { hasContent, type JsonBeginning, JsonBeginningError, readJson, readJsonSequence } from '../infer/json-beginning.ts';
import type { DocumentSample } from '../infer/sample.ts';
import { toUtf8 } from '../sources/encoding.ts';
import type { TextOptions } from '../sources/source.ts';
import { beginningOf, type Ending, faultBehind } from './beginning.ts';
import type { SampleOptions } from './options.ts';

type Sampled = Pick<DocumentSample, 'root' | 'isWhole' | 'fault'>;
type Options = Pick<SampleOptions, 'records' | 'bytes' | 'encoding'> & Ending & Pick<TextOptions, 'served'>;
type Read = (text: string, isWhole: boolean, items: number) => JsonBeginning;

/** @throws Fault source/malformed, source/encoding */
export const sampleJson = (bytes: AsyncIterable<Uint8Array>, name: string, options: Options): Promise<Sampled> =>
  sampled(readJson, bytes, name, options, SEVERAL);

/** @throws Fault source/malformed, source/encoding */
export const sampleJsonSequence = (bytes: AsyncIterable<Uint8Array>, name: string, options: Options): Promise<Sampled> =>
  sampled(readJsonSequence, bytes, name, options);

/** @param several what to do where another value stands behind the first one */
async function sampled(read: Read, bytes: AsyncIterable<Uint8Array>, name: string, options: Options, several?: string): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name, options);
  try {
    const { tree = null, isAll } = read(text, isWhole, options.records);
    return { root: tree, isWhole: isWhole && isAll };
  } catch (error) {
    if (!(error instanceof JsonBeginningError)) throw error;
    // As far as it is right, it is a text that breaks off. A document of several values is of another format.
    const tree = error.isBehindValue ? undefined : read(text.slice(0, error.offset), false, options.records).tree;
    const fault = faultBehind(faultIn(text, error, name, several), options, tree !== undefined && tree !== null && hasContent(tree));
    return { root: tree ?? null, isWhole: false, fault };
  }
}

/** The last character may be cut off. */
async function textOf(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  { bytes, encoding, served }: Options,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const beginning = await beginningOf(toUtf8(chunks, encoding, undefined, name, 'JSON', served), bytes);
  return { text: new TextDecoder().decode(beginning.bytes, { stream: true }), isWhole: beginning.isWhole };
}

/** Where more than one value stands. */
const SEVERAL =
  'One document holds one value. Several, one a line (JSON Lines) or one after the other, are read when the name ends in .jsonl or .ndjson';

function faultIn(text: string, { message, offset, isBehindValue }: JsonBeginningError, name: string, several: string | undefined): Fault {
  if (text.trim() === '') return new Fault('source/malformed', 'The document is empty', { place: { input: name } });
  const before = text.slice(0, offset).split('\n');
  const place = { input: name, line: before.length, column: (before.at(-1) as string).length + 1 };
  const hint = isBehindValue ? several : undefined;
  return new Fault('source/malformed', message, { place, ...(hint === undefined ? {} : { hint }) });
}
