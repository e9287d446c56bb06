/** Pages of statements: together they are the file, or the statements of it whose subjects are meant. */
import { expect, test } from '@jest/globals';
import { toBytes } from '../../../src/core/text.ts';
import { pageOf } from '../../../src/nquads/page.ts';

const SUBJECTS = ['<http://e/a>', '<http://e/ab>', '<http://e/ü>', '_:qb', '<< <http://e/a> <http://e/p> "x > y" >>'];

async function* inPieces(lines: readonly string[], most: number): AsyncGenerator<string> {
  for (let at = 0; at < lines.length; at += most)
    yield toBytes(
      lines
        .slice(at, at + most)
        .map((line) => `${line}\n`)
        .join(''),
    );
}

const any = (most: number): number => Math.floor(Math.random() * most);

test('the pages of random files are their statements in order, each once', async () => {
  for (let turn = 0; turn < 300; turn++) {
    const lines = Array.from({ length: any(40) }, (_, i) => `${SUBJECTS[any(SUBJECTS.length)]} <http://e/a> "a ü ${i}" .`);
    const subject = [undefined, 'a', 'ü', '_:', '<http://e/a>', 'none'][any(6)];
    const limit = 1 + any(10);
    const found: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page = await pageOf(inPieces(lines, 1 + any(7)), { offset, limit, subject });
      expect(page.statements.length).toBeLessThanOrEqual(limit);
      if (page.next !== undefined) expect(page.next).toBe(offset + page.statements.length);
      found.push(...page.statements);
      offset = page.next;
    }
    const wanted = lines.filter((line) => {
      const known = SUBJECTS.find((one) => line.startsWith(`${one} `)) as string;
      return subject === undefined || known.includes(subject);
    });
    expect({ turn, found }).toEqual({ turn, found: wanted });
  }
});

test('a page ends after a megabyte, and has a statement that is longer', async () => {
  const long = (i: number): string => `<http://e/${i}> <http://e/p> "${'x'.repeat(700_000)}" .`;
  const lines = [0, 1, 2].map(long);
  const first = await pageOf(inPieces(lines, 1), { offset: 0, limit: 1_000, subject: undefined });
  expect([first.statements.length, first.next]).toEqual([2, 2]);
  expect(await pageOf(inPieces(lines, 1), { offset: 2, limit: 1_000, subject: undefined })).toEqual({ statements: [long(2)] });
});

test('a caller that has gone ends the reading', async () => {
  const reason = new Error('gone');
  await expect(pageOf(inPieces(['a b c .'], 1), { offset: 0, limit: 1, subject: undefined }, AbortSignal.abort(reason))).rejects.toBe(
    reason,
  );
});
