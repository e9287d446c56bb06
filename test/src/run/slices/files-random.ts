/** Random files cut into slices: what the slices give together is what one pass over the file would give. */
import { describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { Fault } from '../../../../src/core/fault.ts';
import { inRdf12 } from '../../../support/quoted-triples.ts';
import { dice, json, QUOTED, ROWS, run, withNodes, write, xml } from './files-runs.ts';

const CELLS = ['', 'x', 'ü', '"', 'a"b', 'a, b', 'line\nfeed', '\n', '\r\n', 'cr\rcr', '""', ',', '"\n"', '10', 'x\n\ny', '\t'];

/** A table whose cells are quoted where they must be, and sometimes where they need not be. */
export function table(seed: number, delimiter = ','): string {
  const below = dice(seed);
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  const cell = (text: string): string => (new RegExp(`[\n\r${delimiter}]|^"`).test(text) || below(4) === 0 ? quoted(text) : text);
  const end = ['\n', '\r\n', '\n\n'][below(3)] as string;
  const rows = Array.from({ length: 3 + below(30) }, (_, i) => {
    const id = below(4) === 0 ? String(below(i + 1)) : String(i);
    const random = (): string => CELLS[below(CELLS.length)] as string;
    return [id, random(), random(), `k${below(3)}`].map(cell).join(delimiter);
  });
  const mark = below(4) === 0 ? '\ufeff' : '';
  return `${mark}id,a,b,kind`.replaceAll(',', delimiter) + end + rows.join(end) + (below(2) === 0 ? end : '');
}

/** Numbers of random files. */
export interface Seeds {
  readonly tables: readonly number[];
  /** In every dialect. */
  readonly dialects: readonly number[];
  readonly lines: readonly number[];
}

export function randomSlices(seeds: Seeds): void {
  describe('a random CSV file', () => {
    test.each(seeds.tables)(
      'of random rows gives the same in slices of whatever size (seed %i)',
      async (seed) => {
        const tabs = seed % 5 === 4;
        const text = table(seed, tabs ? '\t' : ',');
        const input = await write(`random-${seed}.${tabs ? 'tsv' : 'csv'}`, text);
        const memoryBudgetBytes = seed % 3 === 0 ? 4096 : RUN_DEFAULTS.memoryBudgetBytes;
        for (const distinct of [true, false]) {
          const whole = await run({ mapping: ROWS, input, bytes: 0, more: { distinct } });
          expect(whole.slices).toBe(1);
          const sizes = [7, 16 + seed, 1 + dice(seed)(text.length)];
          for (const bytes of sizes) {
            const cut = await run({ mapping: ROWS, input, bytes, more: { distinct, memoryBudgetBytes } });
            expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
            if (bytes === 7) expect(cut.slices).toBeGreaterThan(1);
            const { records } = whole.result.report;
            expect(cut.result.report).toMatchObject({ records, quads: whole.lines.length });
          }
        }
      },
      60_000,
    );

    test.each(seeds.dialects)('gives each reifier once in slices of whatever size (seed %i)', async (seed) => {
      const input = await write(`quoted-${seed}.csv`, table(seed).replaceAll('\\', '/'));
      const more = { rdf: '1.2', memoryBudgetBytes: seed % 2 === 0 ? 0 : RUN_DEFAULTS.memoryBudgetBytes } as const;
      const quoted = await run({ mapping: QUOTED, input, bytes: 0 });
      const expected = [...inRdf12(quoted.lines)].sort();
      let most = 0;
      for (const bytes of [0, 7, 16 + seed, 40]) {
        const cut = await run({ mapping: QUOTED, input, bytes, more });
        expect(cut.lines.toSorted()).toEqual(expected);
        expect(cut.result.report.quads).toBe(expected.length);
        most = Math.max(most, cut.slices);
      }
      expect(most).toBeGreaterThan(1);
    });

    const dialect = (csvw: string): string =>
      ROWS.replace('rml:path "in"', `rml:path "in" ; csvw:dialect [ ${csvw} ]`).replace(
        '\n',
        ' @prefix csvw: <http://www.w3.org/ns/csvw#> .\n',
      );

    test.each<[name: string, csvw: string, delimiter: string, change: (text: string) => string | Buffer, isCut: boolean]>([
      ['semicolons', 'csvw:delimiter ";"', ';', (text) => text, true],
      ['semicolons and a byte order mark', 'csvw:delimiter ";"', ';', (text) => `\ufeff${text}`, true],
      [
        'bars and apostrophes',
        `csvw:delimiter "|" ; csvw:quoteChar "'"`,
        '|',
        (text) => text.replaceAll("'", '´').replaceAll('"', "'"),
        true,
      ],
      ['comments', 'csvw:commentPrefix "#"', ',', (text) => text.replace(/(?<=^[\d",]*\n)(?=\d)/gm, '# "a\n').replace(/\n$/, '\n#"'), true],
      ['rows before the header', 'csvw:skipRows 3', ',', (text) => `"a\n"b\n\nx"\n${text}`, true],
      ['a header of two rows', 'csvw:headerRowCount 2', ',', (text) => text.replace(/[\r\n]+/, '$&x,"x\ny",,\n'), true],
      ['blank rows as records', 'csvw:skipBlankRows false', ',', (text) => text.replace(/\n\n/g, '\n'), true],
      ['UTF-16', 'csvw:delimiter ";" ; csvw:encoding "UTF-16"', ';', (text) => Buffer.from(`\ufeff${text}`, 'utf16le'), false],
      ['latin1', 'csvw:delimiter ";" ; csvw:encoding "latin1"', ';', (text) => Buffer.from(text, 'latin1'), false],
      ['escapes', 'csvw:doubleQuote false', ',', (text) => text.replaceAll('""', '\\"').replace(/\\"(?=[,\r\n])/g, '""'), false],
      ['trimmed cells', 'csvw:trim true', ',', (text) => text.replace(/,"/g, ', "'), false],
      ['long comment signs', 'csvw:commentPrefix "//"', ',', (text) => `// "a\n${text}`, false],
    ])('of another dialect gives the same in slices: %s', async (name, csvw, delimiter, change, isCut) => {
      const mapping = dialect(csvw);
      let most = 0;
      for (const seed of seeds.dialects) {
        const text = table(seed + 7, delimiter).replace('\ufeff', '');
        const input = await write(`dialect-${seed}.csv`, change(text));
        const whole = await run({ mapping, input, bytes: 0 }).catch((error) => error);
        for (const bytes of [7, 23, 90]) {
          const cut = await run({ mapping, input, bytes }).catch((error) => error);
          // Random text may be malformed in one of the dialects: then it is so in slices.
          if (whole instanceof Error) expect(cut).toMatchObject({ code: (whole as Fault).code, message: whole.message });
          else expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
          if (!(whole instanceof Error)) most = Math.max(most, cut.slices);
        }
      }
      expect([name, most > 1]).toEqual([name, isCut]);
      expect(most).toBeGreaterThan(0);
    });
  });

  describe('random JSON Lines', () => {
    const lines = (seed: number): string => {
      const below = dice(seed);
      const values = Array.from({ length: 5 + below(40) }, (_, i) => {
        const value = {
          id: below(3) === 0 ? below(i + 1) : i,
          a: ['ü', 'x\ny', null, '', `{"a":1}`][below(5)],
          list: [{ n: i }, { n: below(3) }],
        };
        // Values over several lines are no JSON Lines, and read all the same.
        return JSON.stringify(value, undefined, below(6) === 0 ? 1 : 0);
      });
      return (below(3) === 0 ? '\ufeff' : '') + values.join(['\n', '\r\n', '\n\n'][below(3)]) + (below(2) === 0 ? '\n' : '');
    };

    test.each(seeds.lines)('give the same in slices of whatever size (seed %i)', async (seed) => {
      const input = await write(`random-${seed}.jsonl`, lines(seed));
      const parents = json('$[*].list[*]', 'n', ['$^^.id', '$^^.a', '$^[0].n']);
      for (const mapping of [json('$[*]'), json('$[*].list[*]', 'n'), parents].map(withNodes)) {
        const whole = await run({ mapping, input, bytes: 0 });
        for (const bytes of [20, 60, 200 + seed]) {
          const cut = await run({ mapping, input, bytes });
          // Parents within a line are no reason not to cut.
          expect(cut.slices).toBe((await run({ mapping: json('$[*]'), input, bytes })).slices);
          expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
          expect(cut.result.report.records).toBe(whole.result.report.records);
        }
      }
    });
  });

  describe('random JSON documents', () => {
    const document = (seed: number): string => {
      const below = dice(seed);
      const space = (): string => ['', ' ', '\n', '\t\r\n'][below(4)] as string;
      const records = Array.from({ length: below(40) }, (_, i) =>
        JSON.stringify(
          { id: below(3) === 0 ? below(i + 1) : i, a: ['ü', 'x"],[{', '\\', null, '}'][below(5)], list: [{ n: i }, { n: below(3) }] },
          undefined,
          below(3),
        ),
      );
      const array = `[${space()}${records.join(`${space()},${space()}`)}${space()}]`;
      // Members around it, one of them with the same name further inside.
      return `${below(3) === 0 ? '\ufeff' : ''}{"a": {"x": [1, [2]]},${space()}"x"${space()}:${space()}${array}, "y": "]"}${space()}`;
    };

    test.each(seeds.lines)('give the same in slices of whatever size (seed %i)', async (seed) => {
      const input = await write(`random-${seed}.json`, document(seed));
      const parents = json('$.x[*].list[*]', 'n', ['$^^.id', '$^^.a', '$^[0].n']);
      for (const mapping of [json('$.x[*]', 'id', ['a']), json("$['x'][*].list[*]", 'n'), parents].map(withNodes)) {
        const whole = await run({ mapping, input, bytes: 0 });
        for (const bytes of [20, 60, 200 + seed]) {
          const cut = await run({ mapping, input, bytes });
          expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
          expect(cut.result.report.records).toBe(whole.result.report.records);
          if (bytes === 20 && whole.result.report.records > 10) expect(cut.slices).toBeGreaterThan(1);
        }
      }
    });
  });

  describe('random XML documents', () => {
    const document = (seed: number): string => {
      const below = dice(seed);
      const between = (): string =>
        ['', '\n', '<!-- <x i="9"/> -->', 'text', '<![CDATA[<x>]]]>', '<?p <x>?>', '<other><x i="8"/></other>'][below(7)] as string;
      const record = (i: number): string =>
        `<x i='${below(3) === 0 ? below(i + 1) : i}' b="a>b" xmlns:q="http://q/"><y>${['ü', '&lt;', ' ', '<q:z/>'][below(4)]}</y>${between()}<y n="${below(4)}">${i}</y></x>`;
      const groups = Array.from({ length: 1 + below(6) }, (_, g) => {
        const records = Array.from({ length: below(9) }, (_, i) => record(g * 9 + i) + between());
        return below(5) === 0 ? `<g k="${g}"/>` : `<g\n k="${g}" >${between()}${records.join('')}</g >${between()}`;
      });
      return `${below(3) === 0 ? '\ufeff' : ''}<?xml version="1.0"?>\n<!-- <r> --><r xmlns:p="http://p/">${groups.join('')}</r>\n<!-- end -->`;
    };
    const mappings = [xml('/r/g/x', '@i', ['y', '@b', 'y[2]/@n']), xml('/r/g', '@k', ['x/y']), xml('/r/g/x/y', '@n', ['.', '../@i'])].map(
      withNodes,
    );

    test.each(seeds.lines)('give the same in slices of whatever size (seed %i)', async (seed) => {
      const input = await write(`random-${seed}.xml`, document(seed));
      for (const mapping of mappings) {
        const whole = await run({ mapping, input, bytes: 0 });
        for (const bytes of [20, 90, 300 + seed]) {
          const cut = await run({ mapping, input, bytes });
          expect(cut.lines.toSorted()).toEqual(whole.lines.toSorted());
          expect(cut.result.report.records).toBe(whole.result.report.records);
          if (bytes === 20 && whole.result.report.records > 10) expect(cut.slices).toBeGreaterThan(1);
        }
      }
    });
  });
}
