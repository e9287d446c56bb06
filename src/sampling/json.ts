/** The beginning of JSON, and of sequences of JSON values. */
import { Fault } from '../core/fault.ts';
import { type JsonBeginning, JsonBeginningError, readJson, readJsonSequence } from '../infer/json-beginning.ts';
import type { DocumentSample } from '../infer/sample.ts';
import { toUtf8 } from '../sources/encoding.ts';
import { beginningOf } from './beginning.ts';
import type { SampleOptions } from './options.ts';

type Sampled = Pick<DocumentSample, 'root' | 'isWhole'>;
type Options = Pick<SampleOptions, 'records' | 'bytes'>;

/** @throws Fault source/malformed, source/encoding */
export async function sampleJson(bytes: AsyncIterable<Uint8Array>, name: string, options: Options): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name, options);
  const { tree = null, isAll } = parsed(() => readJson(text, isWhole, options.records), text, name, SEVERAL);
  return { root: tree, isWhole: isWhole && isAll };
}

/** @throws Fault source/malformed, source/encoding */
export async function sampleJsonSequence(bytes: AsyncIterable<Uint8Array>, name: string, options: Options): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name, options);
  const { tree = [], isAll } = parsed(() => readJsonSequence(text, isWhole, options.records), text, name);
  return { root: tree, isWhole: isWhole && isAll };
}

/** The last character may be cut off. */
async function textOf(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  { bytes }: Options,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const beginning = await beginningOf(toUtf8(chunks, undefined, undefined, name), bytes);
  return { text: new TextDecoder().decode(beginning.bytes, { stream: true }), isWhole: beginning.isWhole };
}

/** Where more than one value stands. */
const SEVERAL =
  'One document holds one value. Several, one a line (JSON Lines) or one after the other, are read when the name ends in .jsonl or .ndjson';

function parsed(read: () => JsonBeginning, text: string, name: string, several?: string): JsonBeginning {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonBeginningError)) throw error;
    const before = text.slice(0, error.offset).split('\n');
    const place = { input: name, line: before.length, column: (before.at(-1) as string).length + 1 };
    if (text.trim() === '') throw new Fault('source/malformed', 'The document is empty', { place: { input: name } });
    const hint = error.isBehindValue ? several : undefined;
    throw new Fault('source/malformed', error.message, { place, ...(hint === undefined ? {} : { hint }) });
  }
}
