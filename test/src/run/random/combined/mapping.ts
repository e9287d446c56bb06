/**
 * Random mappings that combine views, joins, functions, collections, quoted triples, graphs and logical targets. The same mapping reads views
 * over sources of any formats, or the rows of these views as CSV: both must give the same statements.
 */
import type { Random } from '../../../../support/random.ts';
import { type Cells, COLUMNS, type Column, CSV, type Format, headOf, type Row, TABLES, type Table, type Tables } from '../formats.ts';

// ---------------------------------------------------------------- views

interface ViewJoin {
  readonly type: 'leftJoin' | 'innerJoin';
  readonly parent: Table;
  readonly on: readonly { readonly child: Column; readonly parent: Column; readonly splits: boolean }[];
}

type PromiseKind = 'NotNull' | 'Unique' | 'PrimaryKey';

/** A view on the table `one`, which has its columns, `up` (`a` in capitals), and of the joins `v0` (`a`), `w0` (`id`-`k`), `v1` and `w1`. */
export interface View {
  readonly joins: readonly ViewJoin[];
  readonly promises: readonly { readonly kind: PromiseKind; readonly fields: readonly Column[] }[];
}

/** @param alone without joins and promises, so that its source can be cut into slices */
export function viewOf(random: Random, alone: boolean): View {
  const join = (): ViewJoin => ({
    type: random.pick(['leftJoin', 'innerJoin']),
    parent: random.pick(TABLES),
    on: Array.from({ length: random.pick([1, 1, 2]) }, () => {
      const [child, parent] = random.pick([
        ['k', 'k'],
        ['k', 'k'],
        ['a', 'b'],
        ['id', 'id'],
      ] as const);
      return { child, parent, splits: child === 'k' && random.chance(0.3) };
    }),
  });
  const kind = (): PromiseKind => random.pick(['NotNull', 'Unique', 'PrimaryKey']);
  const fields = (): readonly Column[] => random.shuffle([...COLUMNS].slice(0, 4)).slice(0, random.between(1, 2));
  return {
    // In the order of their rows: left joins are made first.
    joins: Array.from({ length: alone ? 0 : random.pick([0, 1, 1, 2]) }, join).sort((a, b) =>
      a.type === b.type ? 0 : a.type === 'leftJoin' ? -1 : 1,
    ),
    promises: !alone && random.chance(0.4) ? [{ kind: kind(), fields: fields() }] : [],
  };
}

const keysOf = (text: string | null, splits: boolean): readonly string[] => (text === null ? [] : splits ? text.split('-') : [text]);

const meets = ({ on }: ViewJoin, row: Cells, other: Row): boolean =>
  on.every(({ child, parent, splits }) => {
    const keys = keysOf(other[parent], splits);
    return keysOf(row[child] as string | null, splits).some((key) => keys.includes(key));
  });

export const viewColumns = ({ joins }: View): readonly string[] => [...COLUMNS, 'up', ...joins.flatMap((_, i) => [`v${i}`, `w${i}`])];

/** Nested loops. */
export function rowsOfView({ joins }: View, tables: Tables): readonly Cells[] {
  let rows: readonly Cells[] = tables.one.map((row) => ({ ...row, up: row.a?.toUpperCase() ?? null }));
  for (const [i, join] of joins.entries()) {
    rows = rows.flatMap((row): readonly Cells[] => {
      const met = tables[join.parent].filter((other) => meets(join, row, other));
      if (met.length === 0) return join.type === 'leftJoin' ? [{ ...row, [`v${i}`]: null, [`w${i}`]: null }] : [];
      return met.map(({ a, id, k }) => ({ ...row, [`v${i}`]: a, [`w${i}`]: id === null || k === null ? null : `${id}-${k}` }));
    });
  }
  return rows;
}

/** Whether a promise is broken. Joins take rows away, and do not multiply those that it is made of. */
export function isBroken({ joins, promises }: View, tables: Tables): boolean {
  const rows = tables.one.filter((row) =>
    joins.every((join) => join.type === 'leftJoin' || tables[join.parent].some((other) => meets(join, row, other))),
  );
  return promises.some(({ kind, fields }) => {
    const tuples = rows.map((row) => fields.map((field) => row[field]));
    const whole = tuples.filter((tuple) => !tuple.includes(null));
    const repeats = new Set(whole.map((tuple) => JSON.stringify(tuple))).size < whole.length;
    return (kind !== 'Unique' && whole.length < tuples.length) || (kind !== 'NotNull' && repeats);
  });
}

const call = (name: string, ...inputs: readonly (readonly [parameter: string, value: string])[]): string =>
  `rml:functionExecution [ rml:function grel:${name} ; ${inputs.map(([parameter, value]) => `rml:input [ rml:parameter grel:${parameter} ; rml:inputValueMap [ ${value} ] ]`).join(' ; ')} ]`;
const split = (reference: string): string => call('string_split', ['valueParam', reference], ['param_string_sep', 'rml:constant "-"']);

function viewText(view: View, formats: Readonly<Record<Table, Format>>): string {
  const field = (name: string, expression: string): string => `[ rml:fieldName "${name}" ; ${expression} ]`;
  const fieldsOf = (table: Table): string[] => COLUMNS.map((name) => field(name, `rml:reference "${formats[table].column(name)}"`));
  const parents = TABLES.map(
    (table) => `<#right-${table}> rml:viewOn ${formats[table].source(table)} ; rml:field ${fieldsOf(table).join(' , ')} .`,
  );
  const joins = view.joins.map(({ type, parent, on }, i) => {
    const conditions = on.map(({ child, parent: other, splits }) =>
      splits
        ? `rml:joinCondition [ rml:childMap [ ${split(`rml:reference "${child}"`)} ] ; rml:parentMap [ ${split(`rml:reference "${other}"`)} ] ]`
        : `rml:joinCondition [ rml:child "${child}" ; rml:parent "${other}" ]`,
    );
    return ` ; rml:${type} [ rml:parentLogicalView <#right-${parent}> ; ${conditions.join(' ; ')} ; rml:field ${field(`v${i}`, 'rml:reference "a"')} , ${field(`w${i}`, 'rml:template "{id}-{k}"')} ]`;
  });
  const promises = view.promises.map(
    ({ kind, fields }) =>
      ` ; rml:structuralAnnotation [ a rml:${kind}Annotation ; rml:onFields ( ${fields.map((name) => `"${name}"`).join(' ')} ) ]`,
  );
  const up = field('up', call('toUpperCase', ['valueParam', `rml:reference "${formats.one.column('a')}"`]));
  const again = viewColumns(view).map((name) => field(name, `rml:reference "${name}"`));
  return `${parents.join('\n')}
<#view> rml:viewOn ${formats.one.source('one')} ; rml:field ${[...fieldsOf('one'), up].join(' , ')}${joins.join('')}${promises.join('')} .
<#again> rml:viewOn <#view> ; rml:field ${again.join(' , ')} .
`;
}

// ---------------------------------------------------------------- mappings

/** What rows are read from; `again` is a view on the view. */
type Rows = Table | 'view' | 'again';

interface Written {
  readonly name: string;
  readonly rows: Rows;
  readonly text: string;
}

export interface Mapping {
  /** Independent of the order of its triples maps. */
  readonly maps: readonly Written[];
  readonly head: string;
  /** Members depend on the order of rows. */
  readonly gathers: boolean;
  /** Each row counts, also beside an equal one. */
  readonly counts: boolean;
}

export const textOf = ({ head, maps }: Mapping, isReversed = false): string =>
  `${head}${(isReversed ? maps.toReversed() : maps).map(({ text }) => text).join('\n')}\n`;

/**
 * The same mapping for the same random numbers.
 *
 * @param formats undefined: of the rows of the views as CSV
 * @param alone records are mapped each by itself: without join conditions, targets, and collections of several rows
 */
export function mappingOf(random: Random, view: View, formats: Readonly<Record<Table, Format>> | undefined, alone: boolean): Mapping {
  const columnsOf = (rows: Rows): readonly string[] => (rows === 'one' || rows === 'two' ? COLUMNS : viewColumns(view));
  const isTable = (rows: Rows): rows is Table => rows === 'one' || rows === 'two';
  const column = (rows: Rows, name: string): string => (formats !== undefined && isTable(rows) ? formats[rows].column(name) : name);
  const source = (rows: Rows): string => {
    if (formats === undefined) return CSV.source(isTable(rows) ? rows : 'view');
    return isTable(rows) ? formats[rows].source(rows) : `<#${rows}>`;
  };
  let gathers = false;
  let counts = false;
  let number = 0;

  const count = random.between(2, 4);
  const usesTargets = !alone && random.chance(0.3);
  const kinds = Array.from({ length: count }, (): Rows => random.pick(['one', alone ? 'view' : 'two', 'view', 'view', 'again']));
  /** Whether others may quote it, or refer to its subject. */
  const isPlain = Array.from({ length: count }, () => random.chance(0.6));
  const maps = kinds.map((rows, i): Written => {
    const name = (): string => random.pick(columnsOf(rows));
    const hole = (): string => `{${column(rows, name())}}`;
    const reference = (of = name()): string => `rml:reference "${column(rows, of)}"`;
    const target = (): string => (usesTargets && random.chance(0.2) ? ` ; rml:logicalTarget <#t${random.between(1, 2)}>` : '');
    const template = (space = ''): string =>
      `rml:template "http://example.com/${space}${hole()}${random.pick(['', '/', '-', '%'])}${random.chance(0.5) ? hole() : ''}"`;
    const condition = (): string =>
      random.chance(0.15)
        ? ` ; rml:condition [ ${call('string_contains', ['valueParam', reference()], ['string_sub', `rml:constant "${random.pick(['x', 'a', '-'])}"`])} ]`
        : '';
    const literal = (): string =>
      random.pick([
        () => reference(),
        () => reference(),
        () => `rml:template "${hole()}|${hole()}" ; rml:termType rml:Literal`,
        () => `${reference()} ; rml:languageMap [ ${reference('lang')}${target()} ]`,
        () => `${reference()} ; rml:datatypeMap [ ${template()}${target()} ]`,
        () => call('toUpperCase', ['valueParam', reference()]),
        () => split(reference('k')),
      ])() + condition();
    const iri = (): string =>
      template() + random.pick(['', '', ' ; rml:termType rml:UnsafeIRI', ' ; rml:termType rml:BlankNode']) + condition();
    const conditions = (other: Rows): string =>
      Array.from({ length: random.pick([1, 1, 2]) }, () => {
        const [child, parent] = random.pick([
          ['k', 'k'],
          ['id', 'id'],
          ['a', 'b'],
          [name(), random.pick(columnsOf(other))],
        ] as const);
        return ` ; rml:joinCondition [ rml:child "${column(rows, child as string)}" ; rml:parent "${column(other, parent as string)}" ]`;
      }).join('');
    const others = kinds.flatMap((kind, at) => (isPlain[at] && (!alone || kind === rows) ? [at] : []));
    const refer = (property: string, at: number): string =>
      `rml:${property} <#m${at}>${kinds[at] === rows && (alone || random.chance(0.4)) ? '' : conditions(kinds[at] as Rows)}`;
    const parent = (): string => (others.length === 0 ? literal() : refer('parentTriplesMap', random.pick(others)));
    const earlier = others.filter((at) => at < i);
    const quoted = (): string => (earlier.length === 0 ? literal() : refer('quotedTriplesMap', random.pick(earlier)));
    const gather = (depth: number, joins: boolean): string => {
      gathers = true;
      counts = true;
      const own = number++;
      const named = (): readonly string[] => [
        `rml:template "http://example.com/h${own}/{${column(rows, 'k')}}" ;`,
        `rml:template "h${own}-{${column(rows, 'k')}}" ; rml:termType rml:BlankNode ;`,
        `rml:constant <http://example.com/h${own}> ;`,
      ];
      const head = random.pick(['', ...(alone ? [] : ['', ...named()])]);
      const member = (): string =>
        random.pick([
          reference,
          reference,
          () => `${template()} ; rml:termType rml:IRI`,
          () => split(reference('k')),
          ...(depth < 1 ? [() => gather(depth + 1, joins)] : []),
          ...(joins ? [parent] : []),
        ])();
      const members = Array.from({ length: random.between(1, 3) }, () => `[ ${member()} ]`);
      return `${head} rml:gather ( ${members.join(' ')} ) ; rml:gatherAs rdf:${random.pick(['List', 'List', 'Bag', 'Seq', 'Alt'])}${random.chance(0.25) ? ' ; rml:strategy rml:cartesianProduct' : ''}${random.chance(0.3) ? ' ; rml:allowEmptyListAndContainer true' : ''}`;
    };
    const graph = (): string => {
      if (random.chance(0.7)) return '';
      const map = random.pick([() => 'rml:constant <http://example.com/g>', () => template('g') + condition()])();
      return ` ; rml:graphMap [ ${map}${target()} ]`;
    };
    const plain = isPlain[i] as boolean;
    const rule = (): string => {
      const predicate = random.chance(0.85) ? `rml:constant ex:p${random.between(0, 4)}` : template();
      const object = random.pick([
        () => literal() + target(),
        () => literal() + target(),
        () => iri() + target(),
        parent,
        quoted,
        ...(plain ? [] : [() => gather(0, true), () => gather(0, true)]),
      ])();
      return ` ; rml:predicateObjectMap [ rml:predicateMap [ ${predicate}${target()} ] ; rml:objectMap [ ${object} ]${graph()} ]`;
    };
    const fresh = (): string => {
      counts = true;
      return 'rml:termType rml:BlankNode';
    };
    const subject = random.pick([
      ...Array.from({ length: 6 }, () => () => iri() + target()),
      fresh,
      ...(i > 0 && !plain ? [quoted, quoted, () => gather(0, false)] : []),
    ])();
    const isSubject =
      subject.includes('quotedTriplesMap') ||
      subject.includes('rml:template') ||
      subject.includes('rml:gather') ||
      subject === 'rml:termType rml:BlankNode';
    const own = isSubject ? subject : template();
    const rules = Array.from({ length: random.between(1, 3) }, rule);
    return {
      name: `m${i}`,
      rows,
      text: `<#m${i}> rml:logicalSource ${source(rows)} ; rml:subjectMap [ ${own}${graph()} ]${rules.join('')} .`,
    };
  });
  const targets = [1, 2].map((target) => `<#t${target}> rml:target [ a rml:Target, rml:FilePath ; rml:path "t${target}" ] .\n`).join('');
  const head = `@prefix rml: <http://w3id.org/rml/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
@prefix ex: <http://example.com/ns#> .
@base <http://example.com/map/> .
${formats === undefined ? '' : headOf(Object.values(formats))}${usesTargets ? targets : ''}${formats === undefined ? '' : viewText(view, formats)}`;
  return { maps, head, gathers, counts };
}
