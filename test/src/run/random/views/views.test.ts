/**
 * Random logical views against nested loops: iterators within records, several values, texts that are documents, inner and left joins, also
 * with their own source, views on views. What a view gives depends neither on memory nor on what else is read of it.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { share, sharedTest, test } from '../../../../support/jest/extent.ts';
import { Random, seeds } from '../../../../support/random.ts';
import { linesOfSlices } from '../engine.ts';

const VALUES = ['a', 'b', 'c', 'a b', 'ü', '1:1', 't3:a', '%41', 'x/y', 'n0:'];

interface Person {
  readonly id: string;
  readonly k?: string | null;
  readonly tags?: readonly string[];
  readonly items?: readonly { readonly t?: string }[];
  /** A CSV document with the column `size`. */
  readonly parts?: string;
}

interface Row {
  readonly k: string | null;
  readonly v: string | null;
}

interface Case {
  readonly people: readonly Person[];
  readonly rows: readonly Row[];
  readonly type: 'leftJoin' | 'innerJoin';
  /** The joined view reads the source of the view itself. */
  readonly own: boolean;
  /** The triples maps read a view on the view. */
  readonly again: boolean;
}

function invent(seed: number, count: number): Case {
  const random = new Random(seed);
  const below = (n: number): number => random.between(0, n - 1);
  const pick = <T>(of: readonly T[]): T => random.pick(of);
  const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  const value = (): string => (below(count) < 30 ? pick(VALUES) : `v${below(count)}`);
  const some = <T>(make: () => T): T | undefined => (below(5) === 0 ? undefined : make());
  return {
    people: times(below(count) + 1, (i) => ({
      id: `p${below(10) === 0 ? 0 : i}`,
      k: below(8) === 0 ? null : some(value),
      tags: some(() => times(below(4), value)),
      items: some(() => times(below(4), () => ({ t: some(value) }))),
      parts: some(() => ['size', ...times(below(3), () => `${below(9)}`)].join('\n')),
    })),
    rows: times(below(count * 2), () => ({ k: below(8) === 0 ? null : value(), v: below(8) === 0 ? null : value() })),
    type: pick(['leftJoin', 'innerJoin']),
    own: below(3) === 0,
    again: below(2) === 0,
  };
}

/** The objects of the triples map: `{field}` in templates. */
const OBJECTS = [
  '{tag.#}|{tag}',
  '{item.#}|{item.t}',
  '{tag}|{item.t}|{v}',
  '{v}|{k}',
  '{c}',
  '{parts.part.#}|{parts.part.size}|{tag}',
  '{#}',
];

function mappingOf({ type, own, again }: Case, objects: readonly string[]): string {
  const source = (path: string, iterator: string) =>
    `rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "${iterator}"`;
  const field = (name: string, expression: string) => `[ rml:fieldName "${name}" ; ${expression} ]`;
  const joined = own
    ? `<joined> rml:viewOn <people> ; rml:field ${field('k', 'rml:reference "$.k"')} , ${field('v', 'rml:reference "$.tags[*]"')} .`
    : `<joined> rml:viewOn [ ${source('rows.json', '$[*]')} ] ; rml:field ${field('k', 'rml:reference "$.k"')} , ${field('v', 'rml:reference "$.v"')} .`;
  const fields = ['id', 'tag', 'item.t', 'k', 'v', 'c', 'tag.#', 'item.#', 'parts.part.#', 'parts.part.size'];
  const renamed = (name: string): string => name.replaceAll('.', '_').replaceAll('#', 'n');
  // In a view on the view, positions are those of that view's fields.
  const written = objects.map((object) =>
    again ? object.replace(/\{([^}]+)\}/g, (_, name: string) => (name === '#' ? '{#}' : `{${renamed(name)}}`)) : object,
  );
  return `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://m/> .
<people> ${source('people.json', '$[*]')} .
${joined}
<view> rml:viewOn <people> ;
  rml:field ${field('id', 'rml:reference "$.id"')} , ${field('k', 'rml:reference "$.k"')} , ${field('tag', 'rml:reference "$.tags[*]"')} ,
    [ rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field ${field('t', 'rml:reference "$.t"')} ] ,
    [ rml:fieldName "parts" ; rml:reference "$.parts" ;
      rml:field [ rml:fieldName "part" ; rml:referenceFormulation rml:CSV ; rml:field ${field('size', 'rml:reference "size"')} ] ] ;
  rml:${type} [ rml:parentLogicalView <joined> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ;
    rml:field ${field('v', 'rml:reference "v"')} , ${field('c', 'rml:template "{v}-{k}"')} ] .
<again> rml:viewOn <view> ; rml:field ${fields.map((name) => field(renamed(name), `rml:reference "${name}"`)).join(' , ')} .
<map> rml:logicalSource <${again ? 'again' : 'view'}> ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap ${written.map((object) => `[ rml:template "${object}" ; rml:termType rml:Literal ]`).join(' , ')} ] .
`;
}

type Cells = Readonly<Record<string, string | null>>;

/** Nested loops over everything. */
function rowsOf({ people, rows, type, own }: Case): readonly Cells[] {
  const orNull = <T>(list: readonly T[] | undefined): readonly (T | null)[] => (list === undefined || list.length === 0 ? [null] : list);
  const right: readonly Row[] = own ? people.flatMap(({ k, tags }) => orNull(tags).map((v) => ({ k: k ?? null, v }))) : rows;
  const made: Cells[] = [];
  for (const [position, person] of people.entries()) {
    const k = person.k ?? null;
    const met = k === null ? [] : right.filter((row) => row.k === k);
    const joined = met.length > 0 ? met : type === 'leftJoin' ? [null] : [];
    const sizes = person.parts?.split('\n').slice(1);
    for (const [t, tag] of orNull(person.tags).entries()) {
      for (const [i, item] of orNull(person.items).entries()) {
        for (const [s, size] of orNull(sizes).entries()) {
          for (const row of joined) {
            made.push({
              '#': String(position),
              id: person.id,
              k,
              tag,
              'tag.#': tag === null ? null : String(t),
              'item.#': item === null ? null : String(i),
              'item.t': item?.t ?? null,
              'parts.part.size': size,
              'parts.part.#': size === null ? null : String(s),
              v: row?.v ?? null,
              c: row === null || row.v === null ? null : `${row.v}-${row.k}`,
            });
          }
        }
      }
    }
  }
  return made;
}

/** The objects of each row. */
function evaluate(one: Case, objects: readonly string[]): Set<string> {
  const lines = rowsOf(one).flatMap((cells) =>
    objects.flatMap((object) => {
      const names = [...object.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string);
      if (names.some((name) => cells[name] === null)) return [];
      return [`<http://e/${cells.id}> <http://e/p> "${object.replace(/\{([^}]+)\}/g, (_, name: string) => cells[name] as string)}" .`];
    }),
  );
  return new Set(lines);
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-views-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(options: Partial<RunRequest>): Promise<string[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-views-spill-'));
  try {
    const mappings = [join(directory, 'mapping.ttl')];
    await executeRun(
      { ...RUN_DEFAULTS, runId: 'views', mappings, inputs: [], workingDirectory: directory, spillDirectory, ...options },
      sink,
      {},
    );
    expect(readdirSync(spillDirectory)).toEqual([]);
    return Buffer.concat(parts).toString().split('\n').slice(0, -1);
  } finally {
    rmSync(spillDirectory, { recursive: true });
  }
}

function write(one: Case, objects: readonly string[]): void {
  writeFileSync(join(directory, 'people.json'), JSON.stringify(one.people));
  writeFileSync(join(directory, 'rows.json'), JSON.stringify(one.rows));
  writeFileSync(join(directory, 'mapping.ttl'), mappingOf(one, objects));
}

describe('views are what nested loops give', () => {
  sharedTest.each(share(14, seeds(1, 60)))('seed %i', async (seed) => {
    const one = invent(seed, seed % 3 === 0 ? 60 : 8);
    // Positions of rows in a view on a view follow the order of its rows, which joins at the end do not keep.
    const objects = one.again ? OBJECTS.filter((object) => object !== '{#}') : OBJECTS;
    const expected = [...evaluate(one, objects)].sort();
    write(one, objects);
    const threads = seed % 4 === 0 ? [3, 2, 1] : [1];
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
      for (const number of threads) {
        const lines = await run({ memoryBudgetBytes, threads: number, threadBytes: 100, keyBytes: 0 });
        expect(lines.sort()).toEqual(expected);
      }
    }
    expect([...new Set(await run({ distinct: false }))].sort()).toEqual(expected);
    const changes = { mappings: [join(directory, 'mapping.ttl')], workingDirectory: directory };
    const slices = seed % 4 !== 1 ? undefined : await linesOfSlices(changes, { rows: 7, bytes: 150, sideBytes: 1e9 });
    if (slices !== undefined) expect(slices.sort()).toEqual(expected);
  });

  // Unread fields of a view also multiply its rows where each row has a distinct value.
  sharedTest.each(share(5, seeds(2001, 2020)))('a blank node and a random value for each row, seed %i', async (seed) => {
    const one = invent(seed, 10);
    const uuid = '[ rml:functionExecution [ rml:function idlab-fn:random ] ]';
    for (const subject of ['[ rml:termType rml:BlankNode ]', '[ rml:template "http://e/{id}" ]']) {
      const isBlank = subject.includes('Blank');
      const object = isBlank ? '[ rml:constant "row" ]' : uuid;
      write(one, ['{tag}']);
      const mapping = mappingOf(one, []).replace(/<map> .*$/s, '');
      writeFileSync(
        join(directory, 'mapping.ttl'),
        `@prefix idlab-fn: <https://w3id.org/imec/idlab/function#> .
${mapping}<map> rml:logicalSource <${one.again ? 'again' : 'view'}> ; rml:subjectMap ${subject} ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap ${object} ] .
`,
      );
      const lines = await run({});
      expect(lines.length).toBe(rowsOf(one).length);
      expect(new Set(lines).size).toBe(lines.length);
    }
  });

  sharedTest.each(share(5, seeds(1001, 1020)))('each object by itself, seed %i', async (seed) => {
    const one = invent(seed, 10);
    for (const object of OBJECTS) {
      if (one.again && object === '{#}') continue;
      write(one, [object]);
      expect((await run({})).sort()).toEqual([...evaluate(one, [object])].sort());
    }
  });
});

describe('what finds nothing in any record', () => {
  test('references and iterators of fields are reported like other references', async () => {
    writeFileSync(join(directory, 'people.json'), '[{"id":"a","items":[{"t":"x"}],"parts":"size\\n1","none":""},{"id":"b"}]');
    const iterable = (name: string, iterator: string, fields: string) =>
      `[ rml:fieldName "${name}" ; rml:iterator "${iterator}" ; rml:field ${fields} ]`;
    const field = (name: string, reference: string) => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
    const fields = ['id', 'item.t', 'item.u', 'item.deep.v', 'other.w', 'none.part.x', 'parts.part.size'];
    writeFileSync(
      join(directory, 'mapping.ttl'),
      `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://m/> .
<view> rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:field ${field('id', '$.id')} ,
    ${iterable('item', '$.items[*]', `${field('t', '$.t')} , ${field('u', '$.u')} , ${iterable('deep', '$.deep[*]', field('v', '$.v'))}`)} ,
    ${iterable('other', '$.others[*]', field('w', '$.w'))} ,
    [ rml:fieldName "parts" ; rml:reference "$.parts" ; rml:field [ rml:fieldName "part" ; rml:referenceFormulation rml:CSV ; rml:field ${field('size', 'size')} ] ] ,
    [ rml:fieldName "none" ; rml:reference "$.none" ; rml:field [ rml:fieldName "part" ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$.x[*]" ; rml:field ${field('x', '$')} ] ] .
<map> rml:logicalSource <view> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap ${fields.map((name) => `[ rml:reference "${name}" ]`).join(' , ')} ] .
`,
    );
    const sink = { write: () => undefined, commit: async () => [], abort: async () => {} };
    const request: RunRequest = {
      ...RUN_DEFAULTS,
      runId: 'views',
      mappings: [join(directory, 'mapping.ttl')],
      inputs: [],
      workingDirectory: directory,
      spillDirectory: directory,
    };
    const { warnings } = await executeRun(request, sink, {});
    const found = warnings.map((warning) =>
      /^No record has anything at (\S+) .*mapping\.ttl:(\d+):/.exec(warning)?.slice(1).join(' line '),
    );
    expect(found.sort()).toEqual(['$.deep[*] line 4', '$.others[*] line 5', '$.u line 4', '$.x[*] line 7']);
    await expect(executeRun({ ...request, onError: 'strict' }, sink, {})).rejects.toThrow(/No record has anything at/);
  });
});
