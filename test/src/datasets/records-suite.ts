/**
 * Datasets of random mappings over random tables that are edited, in all formats, made by output and by record side by side: the graphs and the changes of each version
 * are equal, and a plain run makes the same graph. Chunks are so small that each record is one, or have the size of some records.
 *
 * RANDOM_SEEDS, VERSIONS and TELL ask for other datasets, for so many versions of each, and for their count.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/core/fault.ts';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import type { ChangesBy, FileKind } from '../../../src/datasets/manifest.ts';
import { EQUAL_NAMED } from '../../../src/datasets/records/changes.ts';
import { type DatasetReport, runDataset } from '../../../src/datasets/run.ts';
import { openInput } from '../../../src/storage/open.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { Random } from '../../support/random.ts';
import { type Changes, linesOf, requestOf } from '../run/random/engine.ts';
import { CSV, changesOf, type Databases, FORMATS, type Format, headOf, openDatabases } from '../run/random/formats.ts';
import { expectKept, told } from './versions-suite.ts';

export const COLUMNS = ['id', 'k', 'a'] as const;
type Row = readonly string[];

const PREFIXES =
  '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .\n@prefix idlab-fn: <https://w3id.org/imec/idlab/function#> .\n@base <http://e/m#> .\n';
type Formats = Readonly<Record<'one' | 'two', Format>>;

/** CSV whose text the test writes by itself, so that it has all that CSV may have. */
const OWN_CSV: Format = { ...CSV, name: 'own CSV', source: (table) => fileSource(`${table}.csv`) };
const PACKED_CSV: Format = { ...CSV, name: 'packed CSV', source: (table) => fileSource(`${table}.csv.gz`) };
const fileSource = (path: string): string =>
  `[ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV ]`;
/** The longest texts in tables of databases. */
const MOST_CHARACTERS = 190;

/** What a mapping has beside records that are mapped by themselves. */
interface Mapping {
  readonly text: string;
  readonly joins: boolean;
  readonly views: boolean;
  readonly outer: boolean;
  readonly nodes: boolean;
  readonly quotes: boolean;
  readonly targets: boolean;
  readonly promises: boolean;
}

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
/** The paths of logical targets. */
const TARGETS = ['t1', 't2'] as const;
const KINDS = ['joins', 'views', 'outer', 'nodes', 'quotes', 'targets', 'promises'] as const;

/** Views on the tables: `V0` and `V1` with a join each, and `V2`, which joins one of them with the other. */
function viewsOf(random: Random, formats: Formats): Pick<Mapping, 'text' | 'outer' | 'promises'> {
  let outer = false;
  let promises = false;
  const kinds = random.chance(0.5) ? ['innerJoin'] : ['innerJoin', 'leftJoin'];
  const field = (name: string, reference = name): string => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
  /** Rows may break it: such a version is refused. */
  const promise = (): string => {
    if (!random.chance(0.15)) return '';
    promises = true;
    const [kind, fields] = random.pick([
      ['Unique', '"id" "k" "a"'],
      ['Unique', '"id" "a"'],
      ['NotNull', '"id"'],
    ]);
    return ` ; rml:structuralAnnotation [ a rml:${kind}Annotation ; rml:onFields ( ${fields} ) ]`;
  };
  const own = (names: readonly string[]): string => names.map((name) => field(name)).join(' , ');
  const bases = (['one', 'two'] as const).map((table) => {
    const fields = COLUMNS.map((name) => field(name, formats[table].column(name))).join(' , ');
    return `<#B${table}> rml:viewOn ${formats[table].source(table)} ; rml:field ${fields}${promise()} .\n`;
  });
  const joined = (parent: string, number: number, names: readonly string[]): string => {
    const kind = random.pick(kinds);
    outer ||= kind === 'leftJoin';
    const conditions = Array.from(
      { length: random.pick([1, 1, 2]) },
      () =>
        `rml:joinCondition [ rml:child "${random.pick(names)}" ; rml:parent "${random.pick(parent.startsWith('B') ? COLUMNS : VIEW_COLUMNS)}" ]`,
    );
    const fields = [
      field(`v${number}`, random.pick(['a', 'k'])),
      field(`w${number}`, parent.startsWith('B') ? 'id' : random.pick(['w0', 'v0'])),
    ];
    return ` ; rml:${kind} [ rml:parentLogicalView <#${parent}> ; ${conditions.join(' ; ')} ; rml:field ${fields.join(' , ')} ]`;
  };
  const base = (): string => random.pick(['Bone', 'Bone', 'Btwo']);
  const views = [0, 1].map((at) => {
    const second = random.chance(0.3) ? joined(base(), 1, COLUMNS) : '';
    return `<#V${at}> rml:viewOn <#${base()}> ; rml:field ${own(COLUMNS)}${joined(base(), 0, COLUMNS)}${second}${promise()} .\n`;
  });
  const above = `<#V2> rml:viewOn <#V0> ; rml:field ${own(VIEW_COLUMNS)}${joined('V1', 2, VIEW_COLUMNS)} .\n`;
  return { text: bases.join('') + views.join('') + above, outer, promises };
}

/** Of `V0` and `V1`; `V2` has more. */
const VIEW_COLUMNS = [...COLUMNS, 'v0', 'w0'];

/** An object where a column has no value. */
const noneOf = (column: string): string =>
  `rml:constant ex:none ; rml:condition [ rml:functionExecution [ rml:function idlab-fn:isNull ; rml:input [ rml:parameter idlab-fn:str ; rml:inputValueMap [ rml:reference "${column}" ] ] ] ]`;

export function mappingOf(random: Random, formats: Formats): Mapping {
  const views = random.chance(0.5) ? viewsOf(random, formats) : undefined;
  const source = (): string => random.pick(views === undefined ? ['one', 'one', 'two'] : ['one', 'V0', 'V0', 'V1', 'V2', 'V2']);
  const joins = random.chance(0.5);
  let joined = false;
  let viewed = false;
  const count = random.between(1, 3);
  let nodes = false;
  let quotes = false;
  const targets = random.chance(0.25);
  /** How probable it is that all statements of a map go to a target. Then the output of the run need not have their subjects. */
  const toTargets = targets ? random.pick([0, 0.5, 1]) : 0;
  /** Those that may be quoted: no triple is made of itself, and none with a collection. */
  const plain: boolean[] = [];
  const target = (): string => (targets && random.chance(0.3) ? ` ; rml:logicalTarget <#${random.pick(TARGETS)}>` : '');
  const sources = Array.from({ length: count }, source);
  const isView = (name: string): name is 'V0' => name.startsWith('V');
  const columnsOf = (name: string): readonly string[] => (name === 'V2' ? [...VIEW_COLUMNS, 'v2', 'w2'] : VIEW_COLUMNS);
  /** A reference. */
  const column = (name: string, usual: string): string => (isView(name) ? usual : formats[name as 'one'].column(usual));
  const anyOf = (name: string): string => column(name, random.pick(isView(name) ? columnsOf(name) : COLUMNS));
  const maps = sources.map((name, i) => {
    viewed ||= isView(name);
    const of = (usual: string): string => (isView(name) && random.chance(0.5) ? random.pick(columnsOf(name)) : column(name, usual));
    // A map with quoted triples makes no collections.
    let quotesHere = false;
    let gathersHere = false;
    const object = (): string => {
      if (joins && random.chance(0.4)) {
        const at = random.between(0, count - 1);
        joined = true;
        plain[i] = false;
        const conditions = Array.from(
          { length: random.pick([1, 1, 1, 2]) },
          () => ` ; rml:joinCondition [ rml:child "${anyOf(name)}" ; rml:parent "${anyOf(sources[at] as string)}" ]`,
        );
        return `rml:parentTriplesMap <#M${at}>${conditions.join('')}`;
      }
      const earlier = sources.flatMap((other, at) => (other === name && at < i && plain[at] ? [at] : []));
      if (earlier.length > 0 && !gathersHere && random.chance(0.3)) {
        quotes = true;
        quotesHere = true;
        return `rml:quotedTriplesMap <#M${random.pick(earlier)}>`;
      }
      if (!quotesHere && random.chance(0.08)) {
        nodes = true;
        gathersHere = true;
        plain[i] = false;
        const members = Array.from({ length: random.between(1, 2) }, () => `[ rml:reference "${of(random.pick(COLUMNS))}" ]`);
        return `rml:gather ( ${members.join(' ')} ) ; rml:gatherAs <${RDF}${random.pick(['List', 'List', 'Bag'])}>`;
      }
      const literal = random.pick([
        `rml:reference "${of('a')}"`,
        `rml:reference "${of('k')}"`,
        // A row of a left join makes a statement where it has no partner, and another row of its subject may make the same one.
        ...(isView(name) ? [noneOf(random.pick(['v0', 'w0'])), noneOf(random.pick(columnsOf(name)))] : []),
        `rml:template "http://e/{${of('id')}}"`,
        'rml:constant ex:C',
        `rml:template "{${of('k')}}-{${column(name, 'a')}}" ; rml:termType rml:BlankNode`,
      ]);
      return literal + target();
    };
    plain[i] = true;
    const template = random.pick([`{${of('id')}}`, `{${of('k')}}`, `{${column(name, 'id')}}/{${of('k')}}`, `{${of('a')}}`]);
    const earlier = sources.flatMap((other, at) => (other === name && at < i && plain[at] ? [at] : []));
    const isNode = random.chance(0.12);
    const isQuoted = !isNode && earlier.length > 0 && random.chance(0.25);
    nodes ||= isNode;
    quotes ||= isQuoted;
    quotesHere = isQuoted;
    const subject = isNode
      ? 'rml:termType rml:BlankNode'
      : isQuoted
        ? `rml:quotedTriplesMap <#M${random.pick(earlier)}>`
        : random.chance(0.1)
          ? 'rml:constant ex:all'
          : `rml:template "http://e/${template}"${random.chance(0.15) ? ' ; rml:termType rml:BlankNode' : ''}${random.chance(0.3) ? ' ; rml:class ex:T' : ''}`;
    const ofSubject = random.chance(toTargets) ? ` ; rml:logicalTarget <#${random.pick(TARGETS)}>` : '';
    const graph = random.chance(0.2) ? ` ; rml:graphMap [ rml:template "http://g/{${of('k')}}" ]` : '';
    /** Different records that name blank nodes: equal ones are the exception. */
    const telling = isNode
      ? [` ; rml:predicateObjectMap [ rml:predicate ex:id ; rml:objectMap [ rml:reference "${column(name, 'id')}" ] ]`]
      : [];
    const rules = Array.from(
      { length: random.between(1, 3) },
      () =>
        ` ; rml:predicateObjectMap [ ${random.chance(0.2) ? `rml:predicateMap [ rml:template "http://p/{${of('k')}}" ]` : `rml:predicate ex:${random.pick(['p', 'q'])}`} ; rml:objectMap [ ${object()} ] ]`,
    );
    const logical = isView(name) ? `<#${name}>` : formats[name as 'one'].source(name);
    return `<#M${i}> rml:logicalSource ${logical} ; rml:subjectMap [ ${subject}${ofSubject}${graph} ]${[...telling, ...rules].join('')} .\n`;
  });
  const head = targets ? TARGETS.map((path) => `<#${path}> rml:target [ a rml:Target, rml:FilePath ; rml:path "${path}" ] .\n`) : [];
  return {
    text: PREFIXES + headOf(Object.values(formats)) + head.join('') + (views?.text ?? '') + maps.join(''),
    nodes,
    quotes,
    targets,
    promises: views?.promises === true,
    joins: joined,
    views: viewed,
    outer: viewed && views?.outer === true,
  };
}

/** @param keys so many different ones: with many, few rows meet in joins */
export const rowOf = (random: Random, keys: number, id = random.between(0, keys * 3)): Row => [
  String(id),
  random.chance(0.1) ? '' : `x${random.between(1, keys)}`,
  // The reader takes so long a row together with rows behind it.
  random.chance(0.01)
    ? 'wide '.repeat(random.between(13_000, 20_000))
    : random.pick(['1', '2', 'x1', 'x2', 'a,b', 'a"b', 'two\nlines', 'a\r\nb', '"', '\n', 'ü', 'long '.repeat(20), '']),
];

interface Table {
  readonly header: Row;
  readonly rows: readonly Row[];
}

interface Style {
  readonly feed: string;
  readonly mark: string;
}

function textOf(random: Random, { header, rows }: Table, style: Style): string {
  const cell = (text: string): string => (/[",\r\n]/.test(text) || random.chance(0.02) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [header, ...rows].map((row) =>
    header.map((name) => cell(row === header ? name : (row[COLUMNS.indexOf(name as 'id')] as string))).join(','),
  );
  const blank = random.chance(0.1) ? style.feed : '';
  const end = random.chance(0.7) ? style.feed : '';
  return style.mark + lines.join(style.feed + blank) + end;
}

/** @param copied how probable it is that a row comes a second time */
function edited(random: Random, keys: number, { header, rows }: Table, copied: number): Table {
  const of = [...rows];
  const at = random.between(0, Math.max(0, of.length - 1));
  const to = random.between(0, of.length);
  /** A row, with a cell of another one. */
  const mixed = (): Row => {
    const column = random.between(0, COLUMNS.length - 1);
    return (of[at] as Row).with(column, (random.pick(of) as Row)[column] as string);
  };
  switch (random.chance(copied) ? 2 : random.between(0, 9)) {
    case 0:
      return { header, rows: of.toSpliced(at, random.between(1, 3)) };
    case 1:
      return { header, rows: of.toSpliced(to, 0, rowOf(random, keys), rowOf(random, keys)) };
    case 2:
      return { header, rows: of.length === 0 ? of : of.toSpliced(to, 0, of[at] as Row) };
    case 3:
      return { header, rows: random.shuffle(of) };
    case 4:
      return random.chance(0.2) ? { header, rows: [] } : { header, rows: of.length === 0 ? of : of.with(at, mixed()) };
    case 5:
      return random.chance(0.1) ? { header: random.shuffle([...header]), rows } : { header, rows };
    case 6:
      return { header, rows: of.length === 0 ? of : of.toSpliced(at, 1).toSpliced(Math.min(to, of.length - 1), 0, of[at] as Row) };
    default:
      return { header, rows: of.length === 0 ? of : of.with(at, rowOf(random, keys)) };
  }
}

/** Writes a table in a format. */
async function write(random: Random, place: string, name: 'one' | 'two', format: Format, table: Table, style: Style): Promise<void> {
  if (format === OWN_CSV) return writeFileSync(join(place, `${name}.csv`), textOf(random, table, style));
  if (format === PACKED_CSV) return writeFileSync(join(place, `${name}.csv.gz`), gzipSync(textOf(random, table, style)));
  const rows = table.rows.map((row) =>
    Object.fromEntries(COLUMNS.map((column, i) => [column, (row[i] as string).slice(0, MOST_CHARACTERS)])),
  );
  await format.write(place, name, COLUMNS, rows);
}

/** @param versions of each dataset */
export function datasetsByRecord(seeds: readonly number[], versions: number, hasDatabases: boolean): void {
  describe('changes by record', () => {
    let directory: string;
    let databases: Databases | undefined;
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-records-'));
      if (hasDatabases) databases = await openDatabases();
    }, 120_000);
    afterAll(async () => {
      await databases?.close();
      rmSync(directory, { recursive: true, force: true });
    });
    /** Comparisons by record, by what their mappings read. */
    const formatsByRecord = new Map<string, number>();
    const counts = { versions: 0, versionsByRecord: 0, record: 0, output: 0, changed: 0, kept: 0, damaged: 0, faults: 0, repeated: 0 };
    const kinds = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<(typeof KINDS)[number], number>;

    test.each(seeds)('seed %d', async (seed) => {
      const random = new Random(seed);
      const place = join(directory, String(seed));
      mkdirSync(place);
      const style = { feed: random.pick(['\n', '\n', '\r\n']), mark: random.pick(['', '', '\ufeff']) };
      const others = [PACKED_CSV, ...FORMATS.filter(({ name }) => name !== 'CSV'), ...(databases?.formats ?? [])];
      const other = others[seed % others.length] as Format;
      // The formats take turns: each seed has one of them.
      const formats = random.pick([
        { one: other, two: OWN_CSV },
        { one: other, two: other },
        { one: OWN_CSV, two: other },
      ]);
      const readBy = ({ text }: Mapping) => (['one', 'two'] as const).filter((table) => text.includes(formats[table].source(table)));
      let mapping = mappingOf(random, formats);
      const many = random.pick([5, 15, 60]);
      const keys = random.pick([4, 12, 20]);
      const isKeyed = mapping.nodes || random.chance(0.3);
      const tables: Record<'one' | 'two', Table> = {
        one: {
          header: COLUMNS,
          rows: Array.from({ length: random.between(0, many) }, (_, i) => rowOf(random, keys, isKeyed ? i : undefined)),
        },
        two: {
          header: COLUMNS,
          rows: Array.from({ length: random.between(0, Math.min(many, 20)) }, (_, i) => rowOf(random, keys, isKeyed ? i : undefined)),
        },
      };
      const chunks = random.chance(0.5) ? { least: 1, usual: 0, most: 1 } : { least: 20, usual: 60, most: 200 };
      const changes: Changes = {
        mappings: [join(place, 'mapping.ttl')],
        workingDirectory: place,
        onError: 'skip',
        maxRejected: 1e9,
        ...changesOf(Object.values(formats)),
        rdf: random.pick(['star', '1.2'] as const),
      };
      const datasets = (['output', 'record'] as const).map((by) => ({
        by,
        files: openFiles(join(place, by), place, USUAL_S3_ACCESS),
        graph: new Set<string>(),
      }));
      const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 2 ** 24 };
      let before: readonly string[] = [];
      /** Whether the mapping cannot be made by record. */
      let isRefused = false;
      for (let step = 0; step < versions; step++) {
        if (step > 0)
          for (const table of readBy(mapping))
            for (let i = random.between(0, 4); i > 0; i--) tables[table] = edited(random, keys, tables[table], mapping.nodes ? 0.2 : 0);
        if (step > 0 && (isRefused || random.chance(0.05))) mapping = mappingOf(random, formats);
        isRefused = false;
        writeFileSync(join(place, 'mapping.ttl'), mapping.text);
        for (const table of ['one', 'two'] as const) await write(random, place, table, formats[table], tables[table], style);
        const expected = await linesOf({ ...changes, dataset: 'd' }).catch((error: unknown) => error as Error);
        if (expected instanceof Error && (expected as Partial<Fault>).code !== 'record/promise') throw expected;
        const isDamaged = step > 0 && random.chance(0.05) && damage(random, join(place, 'record', 'state'));
        const made: {
          readonly by: ChangesBy | undefined;
          readonly lines: Readonly<Record<FileKind, readonly string[]>>;
          graph: readonly string[];
          reason: string | undefined;
          isNew: boolean;
        }[] = [];
        for (const { by, files } of datasets) {
          const request = {
            ...requestOf({ ...changes, ...(random.chance(0.3) ? { memoryBudgetBytes: 0 } : {}) }, join(place, 'spill')),
            runId: `run-${step}`,
          };
          const stateDirectory = join(place, by, 'state');
          let whole: string[] = [];
          const linesIn = (text: string, target: string | undefined): readonly string[] =>
            text
              .split('\n')
              .slice(0, -1)
              .map((line) => (target === undefined ? line : `${target} ${line}`));
          const outputs = {
            of: (target: string | undefined) => ({ write: (lines: string) => void whole.push(...linesIn(lines, target)) }),
          };
          const find = (asked: ChangesBy | undefined): Promise<DatasetReport> => {
            whole = [];
            return runDataset({ files, stateDirectory, name: 'd' }, request, {}, outputs, { by: asked, chunks });
          };
          const isAsked = by === 'output' || random.chance(0.85);
          const run = find(isAsked ? by : undefined).catch((error: unknown) => {
            if ((error as Error).message.includes('cannot be found by record')) return find(undefined);
            throw error;
          });
          if (expected instanceof Error) {
            await expect(run).rejects.toMatchObject({ code: 'record/promise' });
            counts.faults++;
            continue;
          }
          const report = await run;
          const dataset = await Dataset.open(files);
          const graph: string[] = [];
          for (const target of [undefined, ...Object.keys(report.manifest.targets ?? {})])
            for await (const lines of dataset.graph(dataset.current, target, folding)) graph.push(...linesIn(lines, target));
          expect(whole.toSorted()).toEqual(graph.toSorted());
          const lines = { added: [], removed: [], kept: [], base: [] } as Record<FileKind, readonly string[]>;
          for (const { name, kind, target } of report.manifest.files) {
            const { bytes } = await openInput(join(place, by, 'versions', name), { workingDirectory: place, reach: undefined });
            let text = '';
            for await (const piece of bytes) text += Buffer.from(piece).toString('latin1');
            lines[kind] = [...lines[kind], ...linesIn(text, target)];
          }
          made.push({ by: report.changesBy, lines, graph, reason: report.reason, isNew: report.version > report.previousVersion });
          expect(readdirSync(stateDirectory).filter((name) => !/^\d+-/.test(name))).toEqual([]);
        }
        if (expected instanceof Error) continue;
        const [output, record] = made as [(typeof made)[0], (typeof made)[0]];
        if (output.isNew) {
          counts.versions++;
          if (record.by === 'record') counts.versionsByRecord++;
        }
        const nodes = (lines: readonly string[]): readonly string[] =>
          lines.map((line) => line.replace(/_:q[0-9a-f]{32}/g, '_:').replace(/_:t[0-9a-f]{32}/g, '_:t')).toSorted();
        if (output.by !== undefined && record.by !== undefined) counts[record.by]++;
        if (record.reason === EQUAL_NAMED) counts.repeated++;
        isRefused = step === 0 && record.reason !== 'it is the first version';
        if (isDamaged && record.by === 'output') counts.damaged++;
        expect(record.graph.length).toBe(expected.length);
        expect(nodes(record.graph)).toEqual(nodes(output.graph));
        for (const kind of ['added', 'removed'] as const) expect(nodes(record.lines[kind])).toEqual(nodes(output.lines[kind]));
        if (record.lines.removed.length > 0) counts.changed++;
        if (step > 0 && record.by === 'record') {
          if (record.isNew) for (const kind of KINDS) kinds[kind] += Number(mapping[kind]);
          for (const { name } of new Set(readBy(mapping).map((table) => formats[table])))
            formatsByRecord.set(name, (formatsByRecord.get(name) ?? 0) + 1);
        }
        const isRecent = record.lines.added.length + record.lines.removed.length > 0;
        if (isRecent) counts.kept += expectKept(before, record.graph, record.lines.kept);
        before = record.graph;
      }
      told(counts.versions, counts.versionsByRecord);
    });

    test('are of all kinds', () => {
      if (process.env.TELL)
        console.log(`versions by output: ${counts.versions}, by record: ${counts.versionsByRecord}`, counts, formatsByRecord);
      if (seeds.length < 20) return;
      expect(counts.record).toBeGreaterThan(seeds.length);
      for (const many of [counts.output, counts.changed, counts.kept]) expect(many).toBeGreaterThan(seeds.length / 2);
      for (const kind of KINDS) expect([kind, kinds[kind] > seeds.length / 20]).toEqual([kind, true]);
      const names = [OWN_CSV, PACKED_CSV, ...FORMATS.slice(1), ...(databases?.formats ?? [])].map(({ name }) => name);
      if (seeds.length >= 40) expect(names.filter((name) => !formatsByRecord.has(name))).toEqual([]);
      expect(counts.faults).toBeGreaterThan(0);
      expect(counts.repeated).toBeGreaterThan(0);
      expect(counts.damaged).toBeGreaterThan(seeds.length / 50);
    });
  });
}

/** Cuts a file of the state off. */
function damage(random: Random, state: string): boolean {
  const records = readdirSync(state).flatMap((name) =>
    readdirSync(join(state, name)).includes('records') ? [join(state, name, 'records')] : [],
  );
  const files = records.flatMap((path) => readdirSync(path).map((name) => join(path, name)));
  if (files.length === 0) return false;
  truncateSync(random.pick(files), 0);
  return true;
}
