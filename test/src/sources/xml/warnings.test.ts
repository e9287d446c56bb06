import { expect, test } from '@jest/globals';
import type { XmlOptions } from '../../../../src/sources/source.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

const READING: XmlOptions = {
  format: 'xml',
  name: 'input.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 1_000_000,
};

async function warningsOf(iterator: string, references: readonly string[], items: number): Promise<readonly string[] | undefined> {
  const document = `<r><t>T</t>${`<i><a>${'x'.repeat(90)}</a></i>`.repeat(items)}</r>`;
  async function* bytes() {
    yield Buffer.from(document);
  }
  const scan = await openXml(bytes(), [{ iterator, references, origin: '' }], READING);
  for await (const { records } of scan.batches(new AbortController().signal)) if (records.length === 0) throw new Error('an empty batch');
  return scan.warnings?.();
}

test('an expression that takes a large document into memory is named', async () => {
  const size = '2 MB of input.xml: docs/xpath.md says which are read as a stream';
  expect(await warningsOf('/r/i', ['a', 'concat(../t, 1)'], 12_000)).toEqual([
    `The reference concat(../t, 1) of the iterator /r/i needs the whole document in memory, ${size}`,
  ]);
  expect(await warningsOf('/r/i', ['a', '../t', '../z'], 12_000)).toEqual([
    'The reference ../t of the iterator /r/i lets records wait in memory, 2 MB of input.xml, since its value may stand behind them: ' +
      'docs/xpath.md says which are read as a stream',
  ]);
  expect(await warningsOf('/r/i[a]', ['a'], 12_000)).toEqual([`The iterator /r/i[a] needs the whole document in memory, ${size}`]);
  expect(await warningsOf('/r/i', ['a', '../@t'], 12_000)).toEqual([]);
  expect(await warningsOf('/r/i', ['../t'], 10)).toEqual([]);
});
