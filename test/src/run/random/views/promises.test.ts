/**
 * Random promises of views against nested loops: a promise that holds changes nothing, and one that is broken ends the run, whatever fits
 * in memory.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { Fault } from '../../../../../src/core/fault.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { share, sharedTest, test } from '../../../../support/jest/extent.ts';
import { Random, seeds } from '../../../../support/random.ts';

/** A number has another datatype than the text of the same digits. */
type Cell = string | number | null;
type Cells = Readonly<Record<string, Cell>>;

const TEXTS = ['a', 'b', 'a b', 'ü', '1', '2', '1:1', 't1:1', 'x/y', '%41'];

interface Data {
  /** Of CSV: texts alone. */
  readonly flat: readonly { readonly id: string | null; readonly name: string | null; readonly k: string | null }[];
  readonly deep: readonly { readonly id: Cell; readonly k: Cell; readonly tags: readonly Cell[]; readonly items: readonly Cell[] }[];
}

/** View → its fields. */
const VIEWS = {
  flat: ['id', 'name', 'k'],
  deep: ['id', 'k', 'tag', 'item.t'],
  again: ['i', 'g'],
  left: ['id', 'v'],
  inner: ['id', 'k', 'v'],
} as const;
type View = keyof typeof VIEWS;

interface Promised {
  readonly view: View;
  readonly kind: 'IriSafe' | 'NotNull' | 'Unique' | 'PrimaryKey' | 'Inclusion';
  readonly fields: readonly string[];
  readonly target: { readonly view: View; readonly fields: readonly string[] } | undefined;
}

function invent(seed: number): { readonly data: Data; readonly promises: readonly Promised[]; readonly subject: string } {
  const random = new Random(seed);
  const below = (n: number): number => random.between(0, n - 1);
  const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  // Many seeds have few values, so that promises are broken; many have one for each row, so that they hold.
  const plain = below(2) === 0;
  const size = below(plain ? 40 : 8);
  const text = (i: number): string => (plain ? `v${i}` : random.pick(TEXTS));
  const orNull = <T>(value: T): T | null => (below(plain ? 30 : 8) === 0 ? null : value);
  const value = (i: number): Cell => orNull(below(4) === 0 ? i % 3 : text(i));
  const data: Data = {
    flat: times(size, (i) => ({ id: orNull(text(i)), name: orNull(random.pick(TEXTS)), k: orNull(text(below(size + 2))) })),
    deep: times(below(12), (i) => ({ id: value(i), k: value(i), tags: times(below(3), value), items: times(below(3), value) })),
  };
  const viewOf = (): View => random.pick(Object.keys(VIEWS) as View[]);
  const fieldsOf = (view: View, count: number): string[] => {
    const rest: string[] = [...VIEWS[view]];
    return times(Math.min(count, rest.length), () => rest.splice(below(rest.length), 1)[0] as string);
  };
  const promises = times(1 + below(2), (): Promised => {
    const [view, kind] = [viewOf(), random.pick(['IriSafe', 'NotNull', 'Unique', 'PrimaryKey', 'Inclusion'] as const)];
    const fields = fieldsOf(view, 1 + below(2));
    const other = below(3) === 0 ? view : viewOf();
    return { view, kind, fields, target: kind === 'Inclusion' ? { view: other, fields: fieldsOf(other, fields.length) } : undefined };
  });
  const isSound = ({ fields, target }: Promised): boolean => target === undefined || target.fields.length === fields.length;
  const keys = new Set<View>();
  const isFirst = ({ kind, view }: Promised): boolean => kind !== 'PrimaryKey' || (!keys.has(view) && keys.add(view) !== undefined);
  return {
    data,
    promises: promises.filter(isSound).filter(isFirst),
    subject: random.pick(['{id}', '{id}/{name}', '{name}{id}', '{name}']),
  };
}

function mappingOf(promises: readonly Promised[], subject: string): string {
  const field = (name: string, reference: string) => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
  const source = (path: string, rest: string) =>
    `rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ; rml:null "-" ] ; ${rest} ]`;
  const list = (names: readonly string[]) => `( ${names.map((name) => `"${name}"`).join(' ')} )`;
  const joined = (type: string) =>
    `rml:viewOn <flat> ; rml:field ${field('id', 'id')} , ${field('k', 'k')} ; rml:${type} [ rml:parentLogicalView <deep> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ; rml:field ${field('v', 'tag')} ] .`;
  const promise = ({ view, kind, fields, target }: Promised) =>
    `<${view}> rml:structuralAnnotation [ a rml:${kind}Annotation ; rml:onFields ${list(fields)} ${target === undefined ? '' : `; rml:targetView <${target.view}> ; rml:targetFields ${list(target.fields)}`} ] .`;
  const map = (view: View, template: string, objects: readonly string[]) =>
    `<of-${view}> rml:logicalSource <${view}> ; rml:subjectMap [ rml:template "http://e/${view}/${template}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap ${objects.map((name) => `[ rml:reference "${name}" ]`).join(' , ')} ] .`;
  return `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://m/> .
<flat> ${source('flat.csv', 'rml:referenceFormulation rml:CSV')} ; rml:field ${VIEWS.flat.map((name) => field(name, name)).join(' , ')} .
<deep> ${source('deep.json', 'rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"')} ; rml:field ${field('id', '$.id')} , ${field('k', '$.k')} , ${field('tag', '$.tags[*]')} ,
  [ rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field ${field('t', '$.t')} ] .
<again> rml:viewOn <deep> ; rml:field ${field('i', 'id')} , ${field('g', 'tag')} .
<left> ${joined('leftJoin')}
<inner> ${joined('innerJoin')}
${promises.map(promise).join('\n')}
${map('flat', subject, ['name', 'k'])}
${map('deep', '{id}', ['tag', 'item.t'])}
${map('again', '{i}', ['g'])}
${map('left', '{id}', ['v', 'k'])}
${map('inner', '{id}', ['v'])}
`;
}

const orNull = <T>(list: readonly T[]): readonly (T | null)[] => (list.length === 0 ? [null] : list);

/** The rows of a view at the level of some fields: what is not among them does not multiply. */
function rowsOf(data: Data, view: View, fields: readonly string[]): readonly Cells[] {
  const has = (name: string): boolean => fields.includes(name);
  const deep = (wanted: (name: string) => boolean): Cells[] =>
    data.deep.flatMap(({ id, k, tags, items }) =>
      (wanted('tag') ? orNull(tags) : [null]).flatMap((tag) =>
        (wanted('item.t') ? orNull(items) : [null]).map((t) => ({ id, k, tag, 'item.t': t })),
      ),
    );
  switch (view) {
    case 'flat':
      return data.flat;
    case 'deep':
      return deep(has);
    case 'again':
      return deep(() => true).map(({ id, tag }) => ({ i: id as Cell, g: tag as Cell }));
    default: {
      const parents = deep(() => true);
      return data.flat.flatMap(({ id, k }) => {
        const met = k === null ? [] : parents.filter((parent) => parent.k !== null && String(parent.k) === k);
        if (view === 'inner' && met.length === 0) return [];
        return (has('v') ? orNull(met) : [null]).map((parent) => ({ id, k, v: parent?.tag ?? null }));
      });
    }
  }
}

function isBroken(data: Data, { view, kind, fields, target }: Promised): boolean {
  const tuples = rowsOf(data, view, fields).map((row) => fields.map((name) => row[name] ?? null));
  const whole = tuples.filter((tuple) => !tuple.includes(null));
  const hasNull = whole.length < tuples.length;
  const repeats = new Set(whole.map((tuple) => JSON.stringify(tuple))).size < whole.length;
  const textOf = (tuple: readonly Cell[]): string => JSON.stringify(tuple.map(String));
  switch (kind) {
    case 'IriSafe':
      return tuples.some((tuple) => tuple.some((value) => value !== null && /[ :/%]/.test(String(value))));
    case 'NotNull':
      return hasNull;
    case 'Unique':
      return repeats;
    case 'PrimaryKey':
      return hasNull || repeats;
    case 'Inclusion': {
      const { view: other, fields: names } = target as NonNullable<typeof target>;
      const found = new Set(rowsOf(data, other, names).map((row) => textOf(names.map((name) => row[name] ?? null))));
      return whole.some((tuple) => !found.has(textOf(tuple)));
    }
  }
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-promises-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(mapping: string, options: Partial<RunRequest>): Promise<string[] | Fault> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-promises-spill-'));
  writeFileSync(join(directory, 'mapping.ttl'), mapping);
  try {
    const mappings = [join(directory, 'mapping.ttl')];
    const request = { ...RUN_DEFAULTS, runId: 'promises', mappings, inputs: [], workingDirectory: directory, spillDirectory, ...options };
    await executeRun(request, sink, {});
    return Buffer.concat(parts).toString().split('\n').slice(0, -1).sort();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  } finally {
    expect(readdirSync(spillDirectory)).toEqual([]);
    rmSync(spillDirectory, { recursive: true });
  }
}

const csvCell = (value: string | null): string => (value === null ? '-' : `"${value}"`);

describe('promises of views', () => {
  sharedTest.each(share(25, seeds(1, 120)))('seed %i', async (seed) => {
    const { data, promises, subject } = invent(seed);
    writeFileSync(
      join(directory, 'flat.csv'),
      ['id,name,k', ...data.flat.map(({ id, name, k }) => [id, name, k].map(csvCell).join(','))].join('\n'),
    );
    writeFileSync(join(directory, 'deep.json'), JSON.stringify(data.deep.map((one) => ({ ...one, items: one.items.map((t) => ({ t })) }))));
    const without = await run(mappingOf([], subject), {});
    const broken = promises.some((promise) => isBroken(data, promise));
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
      const found = await run(mappingOf(promises, subject), { memoryBudgetBytes });
      if (broken) expect(found).toMatchObject({ code: 'record/promise', place: { record: expect.any(Number), input: expect.any(String) } });
      else expect(found).toEqual(without);
    }
  });

  // More keys than the tables hold without memory.
  const MANY = 5000;
  const rows = (ids: readonly number[]): void => {
    writeFileSync(join(directory, 'flat.csv'), `id,name,k\n${ids.map((id) => `i${id},n,i${id}`).join('\n')}\n`);
    writeFileSync(join(directory, 'deep.json'), '[]');
  };
  const key: Promised = { view: 'flat', kind: 'PrimaryKey', fields: ['id'], target: undefined };
  const inclusion: Promised = { view: 'flat', kind: 'Inclusion', fields: ['k'], target: { view: 'flat', fields: ['id'] } };

  test.each([0, 1 << 16, RUN_DEFAULTS.memoryBudgetBytes])('many keys, with %i bytes', async (memoryBudgetBytes) => {
    const ids = Array.from({ length: MANY }, (_, i) => i);
    rows(ids);
    const without = await run(mappingOf([], '{id}'), {});
    expect(await run(mappingOf([key, inclusion], '{id}'), { memoryBudgetBytes })).toEqual(without);
    for (const again of [0, MANY - 2]) {
      rows([...ids, again]);
      const found = await run(mappingOf([key], '{id}'), { memoryBudgetBytes });
      expect(found).toMatchObject({
        code: 'record/promise',
        place: { record: MANY, expression: 'id', value: `"i${again}"`, mapping: expect.stringMatching(/mapping\.ttl:\d+:\d+$/) },
      });
    }
  });

  test('a key of one document repeats in another one of the source', async () => {
    rows([1, 2]);
    writeFileSync(join(directory, 'more.csv'), 'id,name,k\ni3,n,i3\ni2,n,i2\n');
    const inputs = ['flat.csv', 'more.csv'].map((url) => ({ name: 'flat.csv', url }));
    expect(await run(mappingOf([key], '{id}'), { inputs })).toMatchObject({
      code: 'record/promise',
      place: { input: expect.stringMatching(/more\.csv$/), record: 1 },
    });
    expect(await run(mappingOf([inclusion], '{id}'), { inputs })).toEqual(await run(mappingOf([], '{id}'), { inputs }));
  });

  test('a broken promise ends the run where records may be rejected, too', async () => {
    rows([1, 1]);
    expect(await run(mappingOf([key], '{id}'), { onError: 'skip' })).toMatchObject({ code: 'record/promise' });
  });
});
