/** The beginning of JSON, and of sequences of JSON values. */
import { Fault } from '../core/fault.ts';
import { type JsonBeginning, JsonBeginningError, readJson, readJsonSequence } from '../infer/json-beginning.ts';
import type { DocumentSample } from '../infer/sample.ts';
import { toUtf8 } from '../sources/encoding.ts';
import { beginningOf } from './beginning.ts';
import type { SampleOptions } from './options.ts';

type Sampled = Pick<DocumentSample, 'root' | 'isWhole'>;
type Options = Pick<SampleOptions, 'records'>;

/** @throws Fault source/malformed, source/encoding */
export async function sampleJson(bytes: AsyncIterable<Uint8Array>, name: string, { records }: Options): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name);
  const { tree = null, isAll } = parsed(() => readJson(text, isWhole, records), text, name);
  return { root: tree, isWhole: isWhole && isAll };
}

/** @throws Fault source/malformed, source/encoding */
export async function sampleJsonSequence(bytes: AsyncIterable<Uint8Array>, name: string, { records }: Options): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name);
  const { tree = [], isAll } = parsed(() => readJsonSequence(text, isWhole, records), text, name);
  return { root: tree, isWhole: isWhole && isAll };
}

/** The last character may be cut off. */
async function textOf(bytes: AsyncIterable<Uint8Array>, name: string): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const beginning = await beginningOf(toUtf8(bytes, undefined, undefined, name));
  return { text: new TextDecoder().decode(beginning.bytes, { stream: true }), isWhole: beginning.isWhole };
}

function parsed(read: () => JsonBeginning, text: string, name: string): JsonBeginning {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonBeginningError)) throw error;
    const before = text.slice(0, error.offset).split('\n');
    const place = { input: name, line: before.length, column: (before.at(-1) as string).length + 1 };
    throw new Fault('source/malformed', error.message, { place });
  }
}
