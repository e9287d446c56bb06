/** The beginning of JSON and JSON Lines. */
import { Fault } from '../core/fault.ts';
import { type JsonBeginning, JsonBeginningError, readJson } from '../infer/json-beginning.ts';
import type { DocumentSample, Tree } from '../infer/sample.ts';
import { toUtf8 } from '../sources/encoding.ts';
import { beginningOf } from './beginning.ts';
import type { SampleOptions } from './options.ts';

type Sampled = Pick<DocumentSample, 'root' | 'isWhole'>;
type Options = Pick<SampleOptions, 'records'>;

/** @throws Fault source/malformed, source/encoding */
export async function sampleJson(bytes: AsyncIterable<Uint8Array>, name: string, { records }: Options): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name);
  const { tree = null, isAll } = parsed(text, isWhole, records, text, 0, name);
  return { root: tree, isWhole: isWhole && isAll };
}

/** @throws Fault source/malformed, source/encoding */
export async function sampleJsonLines(bytes: AsyncIterable<Uint8Array>, name: string, { records }: Options): Promise<Sampled> {
  const { text, isWhole } = await textOf(bytes, name);
  const root: Tree[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    if (end < 0 && !isWhole) break;
    const line = text.slice(from, end < 0 ? text.length : end);
    if (line.trim() !== '') {
      if (root.length === records) return { root, isWhole: false };
      root.push(parsed(line, true, records, text, from, name).tree ?? null);
    }
    from = end < 0 ? text.length : end + 1;
  }
  return { root, isWhole };
}

/** The last character may be cut off. */
async function textOf(bytes: AsyncIterable<Uint8Array>, name: string): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const beginning = await beginningOf(toUtf8(bytes, undefined, undefined, name));
  return { text: new TextDecoder().decode(beginning.bytes, { stream: true }), isWhole: beginning.isWhole };
}

function parsed(text: string, isWhole: boolean, records: number, document: string, from: number, name: string): JsonBeginning {
  try {
    return readJson(text, isWhole, records);
  } catch (error) {
    if (!(error instanceof JsonBeginningError)) throw error;
    const before = document.slice(0, from + error.offset).split('\n');
    const place = { input: name, line: before.length, column: (before.at(-1) as string).length + 1 };
    throw new Fault('source/malformed', error.message, { place });
  }
}
