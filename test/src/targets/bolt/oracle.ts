/** What a property graph must hold after a write, worked out from statements alone, and what a server does hold. */
import neo4j, { type Driver, type Session } from 'neo4j-driver';
import type { Statement } from '../../../../src/nquads/statement.ts';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
export const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/** Literals and what the server is to say of their values; lists of one predicate stay with one column. */
export const LITERALS: Readonly<Record<string, readonly (readonly [term: string, stored: string])[]>> = {
  name: [
    ['"Ann"', 'string Ann'],
    ['"B\\"o\\\\b\\n"', 'string B"o\\b\n'],
    ['"x"^^<http://example.org/datatype>', 'string x'],
    ['""', 'string '],
  ],
  age: [
    [`"7"^^<${XSD}integer>`, 'bigint 7'],
    [`"-08"^^<${XSD}int>`, 'bigint -8'],
    [`"9223372036854775807"^^<${XSD}long>`, 'bigint 9223372036854775807'],
  ],
  height: [
    [`"1.50"^^<${XSD}decimal>`, 'number 1.5'],
    [`"1e3"^^<${XSD}double>`, 'number 1000'],
    [`"INF"^^<${XSD}double>`, 'number Infinity'],
    [`"NaN"^^<${XSD}float>`, 'number NaN'],
  ],
  member: [
    [`"true"^^<${XSD}boolean>`, 'boolean true'],
    [`"0"^^<${XSD}boolean>`, 'boolean false'],
  ],
  born: [
    [`"2026-01-31"^^<${XSD}date>`, 'Date 2026-01-31'],
    [`"-0044-03-15"^^<${XSD}date>`, 'Date -000044-03-15'],
  ],
  seen: [
    [`"2026-01-31T12:30:00.5"^^<${XSD}dateTime>`, 'LocalDateTime 2026-01-31T12:30:00.500000000'],
    [`"1969-12-31T23:59:59"^^<${XSD}dateTime>`, 'LocalDateTime 1969-12-31T23:59:59'],
  ],
  sent: [
    [`"2026-01-31T12:30:00+01:30"^^<${XSD}dateTime>`, 'DateTime 2026-01-31T12:30:00+01:30'],
    [`"1066-10-14T09:00:00Z"^^<${XSD}dateTimeStamp>`, 'DateTime 1066-10-14T09:00:00Z'],
  ],
  opens: [[`"08:30:00"^^<${XSD}time>`, 'LocalTime 08:30:00']],
  closes: [[`"18:30:00-05:00"^^<${XSD}time>`, 'Time 18:30:00-05:00']],
  lasts: [
    [`"P1Y2M3DT4H5M6S"^^<${XSD}duration>`, 'Duration P1Y2M3DT4H5M6S'],
    [`"-PT0.5S"^^<${XSD}duration>`, 'Duration PT-0.500000000S'],
  ],
  /** Values of several types at once are text. */
  mixed: [
    [`"7"^^<${XSD}integer>`, 'string 7'],
    ['"7"', 'string 7'],
    [`"2026-01-31"^^<${XSD}date>`, 'string 2026-01-31'],
  ],
};

/** The server's graph: nodes by key, each a sorted text of labels and properties; relationships, sorted. */
export interface StoredGraph {
  readonly nodes: ReadonlyMap<string, string>;
  readonly edges: readonly string[];
}

const localName = (term: string): string => /([^#/:]+)>$/.exec(term)?.[1] ?? term;
const plain = (term: string): string => (term.startsWith('<') ? term.slice(1, -1) : term);

/** The graph of statements whose literals are all of `LITERALS`, the predicate's local name being the column; text of languages is kept apart. */
export function expectedGraph(statements: readonly Statement[]): StoredGraph {
  const nodes = new Map<string, { labels: Set<string>; values: Map<string, Set<string>>; graphs: Set<string> }>();
  const edges = new Set<string>();
  const node = (key: string) => {
    const known = nodes.get(key) ?? { labels: new Set(['Resource']), values: new Map(), graphs: new Set() };
    nodes.set(key, known);
    return known;
  };
  for (const { subject, predicate, object, graph } of statements) {
    const from = node(plain(subject));
    from.graphs.add(plain(graph));
    const name = localName(predicate);
    if (predicate === TYPE) from.labels.add(localName(object));
    else if (object.startsWith('"')) {
      const language = /"@([\w-]+)$/.exec(object)?.[1];
      const stored =
        language === undefined
          ? LITERALS[name]?.find(([term]) => term === object)?.[1]
          : `string ${object.slice(1, object.lastIndexOf('"'))}`;
      if (stored === undefined) throw new Error(`The oracle does not know ${object} of ${name}`);
      const property = language === undefined ? name : `${name}@${language}`;
      from.values.set(property, (from.values.get(property) ?? new Set()).add(stored));
    } else {
      node(plain(object));
      edges.add(`${plain(subject)} ${name} ${plain(object)} ${plain(graph)}`);
    }
  }
  return {
    nodes: new Map(
      [...nodes].map(([key, { labels, values, graphs }]) => {
        if (graphs.size > 1 || (graphs.size === 1 && !graphs.has('')))
          values.set('graph', new Set([...graphs].map((graph) => `string ${graph}`)));
        values.set('iri', new Set([`string ${key}`]));
        return [
          key,
          describe(
            [...labels],
            [...values].map(([name, all]) => [name, [...all]]),
          ),
        ];
      }),
    ),
    edges: [...edges].sort(),
  };
}

function describe(labels: readonly string[], properties: readonly (readonly [string, readonly string[]])[]): string {
  return JSON.stringify([[...labels].sort(), properties.map(([name, values]) => [name, ...[...values].sort()]).sort()]);
}

/** All of a server, without what the writer keeps of datasets. Every node must have a key. */
export async function storedGraph(driver: Driver): Promise<StoredGraph> {
  return inSession(driver, async (session) => {
    const nodes = await session.run(
      'MATCH (n) WHERE NOT n:QuadmillDataset AND NOT n:QuadmillStatements RETURN n.iri AS key, labels(n) AS labels, properties(n) AS properties',
    );
    const edges = await session.run('MATCH (a)-[r]->(b) RETURN a.iri AS a, type(r) AS type, b.iri AS b, properties(r) AS properties');
    const texts = nodes.records.map((record) => {
      const properties = Object.entries(record.get('properties') as Record<string, unknown>);
      const described = properties.map(([name, value]) => [name, (Array.isArray(value) ? value : [value]).map(text)] as const);
      return [record.get('key') as string, describe(record.get('labels'), described)] as const;
    });
    const byKey = new Map(texts);
    if (byKey.size !== texts.length) throw new Error('Two nodes have one key');
    return {
      nodes: byKey,
      edges: edges.records
        .map((record) => {
          const { graph = '', ...others } = record.get('properties') as Record<string, unknown>;
          if (Object.keys(others).length > 0) throw new Error(`A relationship has properties: ${JSON.stringify(others)}`);
          return `${record.get('a')} ${record.get('type')} ${record.get('b')} ${graph}`;
        })
        .sort(),
    };
  });
}

export function text(value: unknown): string {
  return typeof value === 'object' && value !== null ? `${value.constructor.name} ${value}` : `${typeof value} ${value}`;
}

/** What one has and the other has not. */
export function differences(
  stored: StoredGraph,
  expected: StoredGraph,
): { readonly extra: readonly string[]; readonly missing: readonly string[] } {
  const lines = ({ nodes, edges }: StoredGraph): readonly string[] => [...[...nodes].map(([key, text]) => `${key} ${text}`), ...edges];
  const [has, should] = [lines(stored), lines(expected)];
  const [hasSet, shouldSet] = [new Set(has), new Set(should)];
  const twice = stored.edges.filter((line, i) => stored.edges[i - 1] === line);
  return { extra: [...has.filter((line) => !shouldSet.has(line)), ...twice], missing: should.filter((line) => !hasSet.has(line)) };
}

export async function inSession<T>(driver: Driver, work: (session: Session) => Promise<T>): Promise<T> {
  const session = driver.session();
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Everything goes, constraints stay. */
export const emptyStore = (driver: Driver): Promise<unknown> =>
  inSession(driver, (session) => session.run('MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS'));

export const openDriver = (url: string, login: { readonly username: string; readonly password: string }): Driver =>
  neo4j.driver(url, neo4j.auth.basic(login.username, login.password), { useBigInt: true });

/** Numbers below `below` in an order that `seed` decides. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

export interface RandomGraph {
  readonly subjects: number;
  readonly seed: number;
  /** Empty: the default graph. */
  readonly graphs?: readonly string[];
}

/** Statements of every kind, of one subject together, some of them twice. */
export function randomStatements({ subjects, seed, graphs = [''] }: RandomGraph): readonly Statement[] {
  const random = randomNumbers(seed);
  const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const columns = Object.keys(LITERALS);
  const statements: Statement[] = [];
  for (let i = 0; i < subjects; i++) {
    const subject = `<http://example.org/s${i}>`;
    const add = (predicate: string, object: string): void =>
      void statements.push({ subject, predicate, object, graph: pick(graphs), line: statements.length + 1 });
    for (let k = random(3); k > 0; k--) add(TYPE, `<http://example.org/class#${pick(['Person', 'Agent', 'Thing'])}>`);
    for (let k = 1 + random(6); k > 0; k--) {
      const column = pick(columns);
      // A mixture must be one.
      if (column === 'mixed') for (const [term] of LITERALS.mixed ?? []) add('<http://example.org/p/mixed>', term);
      else add(`<http://example.org/p/${column}>`, pick(LITERALS[column] ?? [])[0]);
    }
    if (random(4) === 0) add('<http://example.org/p/label>', pick(['"one"@en', '"un"@fr', '"uno"@es', '"ein"@de-CH']));
    for (let k = random(4); k > 0; k--)
      add(`<http://example.org/p/${pick(['knows', 'likes'])}>`, `<http://example.org/s${random(subjects * 2)}>`);
    if (random(5) === 0) statements.push(pick(statements.slice(-1)));
  }
  return statements;
}

/** Neighbours of about `size` statements; subjects may be cut. */
export function cut(statements: readonly Statement[], size: number): readonly (readonly Statement[])[] {
  return Array.from({ length: Math.ceil(statements.length / size) }, (_, i) => statements.slice(i * size, (i + 1) * size));
}

/** Neighbours of one subject stay together. */
export function cutWhole(statements: readonly Statement[], size: number): readonly (readonly Statement[])[] {
  const parts: Statement[][] = [];
  for (const [i, statement] of statements.entries()) {
    const last = parts.at(-1);
    if (last === undefined || (last.length >= size && statements[i - 1]?.subject !== statement.subject)) parts.push([statement]);
    else last.push(statement);
  }
  return parts;
}
