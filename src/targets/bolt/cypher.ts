/** The Cypher statements of the graph writer. Data is sent as parameters; labels and types, which cannot be parameters, are quoted. */
import { BASE_LABEL, GRAPH, KEY } from '../../property-graph/names.ts';

/** Differences between Bolt servers, by their agent name. The last row applies to all others. */
const PRODUCTS: readonly { readonly agent: RegExp; readonly name: string; readonly constraint: readonly string[] }[] = [
  {
    agent: /memgraph/i,
    name: 'Memgraph',
    constraint: [
      `CREATE CONSTRAINT ON (n:${BASE_LABEL}) ASSERT n.${KEY} IS UNIQUE`,
      `CREATE INDEX ON :${BASE_LABEL}(${KEY})`,
      `CREATE INDEX ON :${BASE_LABEL}(${GRAPH})`,
    ],
  },
  {
    agent: /^neo4j\//i,
    name: 'Neo4j',
    constraint: [
      `CREATE CONSTRAINT quadmill_${KEY} IF NOT EXISTS FOR (n:${BASE_LABEL}) REQUIRE n.${KEY} IS UNIQUE`,
      `CREATE INDEX quadmill_${GRAPH} IF NOT EXISTS FOR (n:${BASE_LABEL}) ON (n.${GRAPH})`,
    ],
  },
];

/** @param agent of the server, `Neo4j/5.26.30` */
export function productOf(agent: string): { readonly name: string; readonly constraint: readonly string[] } {
  const product = PRODUCTS.find((each) => each.agent.test(agent)) ?? (PRODUCTS.at(-1) as (typeof PRODUCTS)[number]);
  const version = /^neo4j\/([\w.-]+)$/i.exec(agent)?.[1];
  return { name: version === undefined ? agent || product.name : `${product.name} ${version}`, constraint: product.constraint };
}

/** Quotes a name for use in a statement. */
export const quoted = (name: string): string => `\`${name.replaceAll('`', '``').replaceAll('\\u', '\\u005Cu')}\``;

const labelsOf = (labels: readonly string[]): string => labels.map((label) => `:${quoted(label)}`).join('');

/**
 * Rows `{iri, properties}`, sorted by key, and `$all`. Creates missing nodes and fills nodes without statements. Nodes are locked in row
 * order, so that two writers never deadlock. Returns the other nodes of rows with properties, only those that differ from their row unless
 * `$all`; `linked` if relationships of the default graph start at a node without `graph` that now gets one; `removed` if another
 * transaction has removed the node between reading and locking, so that everything must be repeated.
 */
export const MERGE_NODES = `
UNWIND $rows AS row
MERGE (n:${BASE_LABEL} {${KEY}: row.iri})
ON MATCH SET n.${KEY} = row.iri
WITH n, row, size(keys(n)) AS size, row.properties.${GRAPH} IS NOT NULL AND n.${GRAPH} IS NULL
  AND EXISTS { MATCH (n)-[r]->() WHERE r.${GRAPH} IS NULL } AS linked
WITH n, row, size, linked, row.properties IS NOT NULL AND NOT linked AND size = 1 AND size(labels(n)) = 1 AS bare
FOREACH (_ IN CASE WHEN bare THEN [1] ELSE [] END | SET n += row.properties)
WITH n, row, size, linked, bare
WHERE size = 0 OR (row.properties IS NOT NULL AND NOT bare AND ($all OR properties(n) <> row.properties))
RETURN row.iri AS iri, properties(n) AS properties, labels(n) AS labels, linked, size = 0 AS removed`;

/** Rows `{iri, properties}`; null removes a property. */
export const CHANGE_NODES = `
UNWIND $rows AS row
MATCH (n:${BASE_LABEL} {${KEY}: row.iri})
SET n += row.properties
RETURN count(*) AS found`;

/** `$keys`. */
export const changeLabels = (verb: 'SET' | 'REMOVE', labels: readonly string[]): string => `
UNWIND $keys AS key
MATCH (n:${BASE_LABEL} {${KEY}: key})
${verb} n${labelsOf(labels)}
RETURN count(*) AS found`;

/** Distinct rows `{from, to}`, whose nodes exist and are locked; `found` is the number of rows with both nodes. */
export const mergeEdges = (type: string): string => `
UNWIND $rows AS row
MATCH (a:${BASE_LABEL} {${KEY}: row.from})
MATCH (b:${BASE_LABEL} {${KEY}: row.to})
WITH a, b, EXISTS { MATCH (a)-[r:${quoted(type)}]->(b) WHERE r.${GRAPH} IS NULL } AS known
FOREACH (_ IN CASE WHEN known THEN [] ELSE [1] END | CREATE (a)-[:${quoted(type)}]->(b))
RETURN count(*) AS found`;

/** The same for relationships of the named graphs in the rows. */
export const mergeGraphEdges = (type: string): string => `
UNWIND $rows AS row
MATCH (a:${BASE_LABEL} {${KEY}: row.from})
MATCH (b:${BASE_LABEL} {${KEY}: row.to})
MERGE (a)-[:${quoted(type)} {${GRAPH}: row.graph}]->(b)
RETURN count(*) AS found`;

/** Distinct rows `{from, to}`, with `graph` for a named graph, whose nodes exist and are locked; `found` as for `mergeEdges`. */
export const removeEdges = (type: string): string => `
UNWIND $rows AS row
MATCH (a:${BASE_LABEL} {${KEY}: row.from})
MATCH (b:${BASE_LABEL} {${KEY}: row.to})
OPTIONAL MATCH (a)-[r:${quoted(type)}]->(b)
WHERE coalesce(r.${GRAPH}, '') = coalesce(row.graph, '')
DELETE r
RETURN count(DISTINCT row) AS found`;

/** Condition: no statement describes the node `m`, which is locked. */
const IS_BARE = 'size(labels(m)) = 1 AND size(keys(m)) = 1 AND NOT EXISTS { (m)--() }';

/** The same in the middle of a statement: with `kept`, `m` among them. */
const deleteBare = (kept: string): string => `WITH ${kept}, ${IS_BARE} AS bare
FOREACH (each IN CASE WHEN bare THEN [m] ELSE [] END | DELETE each)`;

/** Removes nodes `m` that no statement describes. Locks before reading. */
const REMOVE_BARE = `
SET m.${KEY} = m.${KEY}
WITH m
WHERE ${IS_BARE}
DELETE m`;

/**
 * Rows `{number, iri, graph, types, keep}`: removes the relationships that start at the node in the graph, have one of the types (null:
 * any) and whose `type\\nkey` is not in `keep`, and nodes without any remaining statement. `found` is the number of rows whose node exists.
 */
export const REMOVE_EDGES = `
UNWIND $rows AS row
MATCH (n:${BASE_LABEL} {${KEY}: row.iri})
OPTIONAL MATCH (n)-[r]->(m:${BASE_LABEL})
WHERE coalesce(r.${GRAPH}, '') = row.graph AND (row.types IS NULL OR type(r) IN row.types) AND NOT (type(r) + '\\n' + m.${KEY}) IN row.keep
DELETE r
WITH count(DISTINCT row.number) AS found, collect(DISTINCT m) AS ends
UNWIND CASE WHEN ends = [] THEN [null] ELSE ends END AS m
SET m.${KEY} = m.${KEY}
${deleteBare('found, m')}
RETURN max(found) AS found`;

/**
 * Condition: a node is in several graphs, `$graph` among them. An index finds lists by range; every IRI begins with a letter. (For a
 * half-open range, Neo4j 5.26 fails in a transaction that has changed such a list: the maximum is not defined yet.)
 */
const SEVERAL = `n.${GRAPH} >= [''] AND n.${GRAPH} < ['~'] AND $graph IN ([] + n.${GRAPH})`;

/** For nodes that are subjects in the graph `$graph`. One index finds both those of this graph alone and those of several. */
const inGraph = (graph: string): string =>
  graph === '' ? `MATCH (n:${BASE_LABEL})` : `MATCH (n:${BASE_LABEL}) WHERE n.${GRAPH} = $graph OR (${SEVERAL})`;

/** For nodes that are in no other graph; without `graph`, in the default graph. */
const alone = (graph: string): string =>
  graph === '' ? `MATCH (n:${BASE_LABEL}) WHERE n.${GRAPH} IS NULL` : `MATCH (n:${BASE_LABEL}) WHERE n.${GRAPH} = $graph`;

/**
 * What happens to nodes that have lost something. Bare ones are removed at once if the transaction ends there; otherwise their keys are
 * returned for `removeBare`, because Neo4j 5.26 examines each removed node again whenever the same transaction looks up a key.
 */
const ENDINGS = { remove: REMOVE_BARE, tell: `\nRETURN m.${KEY} AS key` } as const;
export type Ending = keyof typeof ENDINGS;

/** `$keys`; `found` is the number of existing nodes. */
export const removeBare = `
UNWIND $keys AS key
MATCH (m:${BASE_LABEL} {${KEY}: key})
SET m.${KEY} = m.${KEY}
${deleteBare('m')}
RETURN count(*) AS found`;

/**
 * Removes the content of a graph, `''` for the default graph: one statement after the other, with `$graph`, each `$limit` items at a time
 * until nothing is left.
 */
export const clearGraph = {
  edges: (graph: string, ending: Ending): string => `
${inGraph(graph)}
MATCH (n)-[r]->(m:${BASE_LABEL})
WHERE coalesce(r.${GRAPH}, '') = $graph
WITH n, r, m LIMIT $limit
DELETE r
WITH collect(n) + collect(m) AS ends
UNWIND ends AS m
WITH DISTINCT m${ENDINGS[ending]}`,
  /** Returns the label sets of nodes that are in this graph alone. */
  labelSets: (graph: string): string => `
${alone(graph)}
RETURN DISTINCT labels(n) AS labels`,
  /** Removes `labels` from the nodes whose label set is `$labels`. */
  labels: (graph: string, labels: readonly string[], ending: Ending): string => `
${alone(graph)} AND labels(n) = $labels
WITH n AS m LIMIT $limit
REMOVE m${labelsOf(labels)}
WITH collect(m) AS nodes
UNWIND nodes AS m
WITH m${ENDINGS[ending]}`,
  properties: (graph: string, ending: Ending): string => `
${alone(graph)} AND size(keys(n)) > 1
WITH n AS m LIMIT $limit
SET m = {${KEY}: m.${KEY}}
WITH collect(m) AS nodes
UNWIND nodes AS m
WITH m${ENDINGS[ending]}`,
  /** Nodes that are also in other graphs lose only the name of this one. */
  shared: `
MATCH (n:${BASE_LABEL})
WHERE ${SEVERAL}
WITH n, [each IN [] + n.${GRAPH} WHERE each <> $graph] AS rest LIMIT $limit
SET n.${GRAPH} = CASE WHEN rest = [''] THEN null WHEN size(rest) = 1 THEN rest[0] ELSE rest END`,
};

const STAGED = '`Quadmill graph replacement`';

/**
 * A replacement is stored as a node without `part` and one node per part; `$key` identifies it. `phase` is its progress if it is not
 * completed in one step.
 */
export const staging = {
  begin: `CREATE (:${STAGED} {key: $key})`,
  add: `CREATE (:${STAGED} {key: $key, part: $part, text: $text})`,
  /** Returns one row while the replacement is neither completed nor aborted. */
  phase: `MATCH (s:${STAGED} {key: $key}) WHERE s.part IS NULL RETURN s.phase AS phase`,
  enter: `MATCH (s:${STAGED} {key: $key}) WHERE s.part IS NULL SET s.phase = $phase`,
  parts: `MATCH (s:${STAGED} {key: $key}) WHERE s.part IS NOT NULL RETURN s.part AS part ORDER BY part`,
  text: `MATCH (s:${STAGED} {key: $key, part: $part}) RETURN s.text AS text`,
  removePart: `MATCH (s:${STAGED} {key: $key, part: $part}) DELETE s`,
  remove: `MATCH (s:${STAGED} {key: $key}) DELETE s`,
} as const;

/** Each node and each relationship as a row, in no order. */
export const ALL_NODES = `
MATCH (n:${BASE_LABEL})
WHERE n.${KEY} IS NOT NULL
RETURN n.${KEY} AS iri, properties(n) AS properties, labels(n) AS labels,
  EXISTS { MATCH (n)-[r]->() WHERE r.${GRAPH} IS NULL } AS linked, NOT EXISTS { (n)--() } AS alone`;
export const ALL_EDGES = `
MATCH (n:${BASE_LABEL})-[r]->(m:${BASE_LABEL})
WHERE n.${KEY} IS NOT NULL AND m.${KEY} IS NOT NULL
RETURN n.${KEY} AS from, type(r) AS type, m.${KEY} AS to, coalesce(r.${GRAPH}, '') AS graph`;

const STATED = 'QuadmillStatements';

/** A node per subject, with its IRI, and a property per dataset, named by the id of the dataset: its statements about the subject, a text each. */
export const stated = {
  /** One of them, for each kind of server. */
  constraint: (agent: string): string =>
    /memgraph/i.test(agent)
      ? `CREATE CONSTRAINT ON (s:${STATED}) ASSERT s.${KEY} IS UNIQUE`
      : `CREATE CONSTRAINT quadmill_statements IF NOT EXISTS FOR (s:${STATED}) REQUIRE s.${KEY} IS UNIQUE`,
  /**
   * Sorted `$keys`. Makes what is missing, and locks all in their order. `size` is the number of characters of all statements; `removed` as for
   * `MERGE_NODES`.
   */
  lock: `
UNWIND $keys AS key
MERGE (s:${STATED} {${KEY}: key})
ON MATCH SET s.${KEY} = key
WITH s, key, [name IN keys(s) WHERE name <> '${KEY}'] AS ids
RETURN key, size(keys(s)) = 0 AS removed, reduce(sum = 0, id IN ids | sum + reduce(size = 0, each IN s[id] | size + size(each))) AS size`,
  /** `$keys`. */
  read: `
UNWIND $keys AS key
MATCH (s:${STATED} {${KEY}: key})
RETURN key, properties(s) AS stated`,
  /** Rows `{iri, properties}`; null removes a property. Removes nodes that have no statements. */
  store: `
UNWIND $rows AS row
MATCH (s:${STATED} {${KEY}: row.iri})
SET s += row.properties
WITH s, size(keys(s)) = 1 AS isEmpty
FOREACH (each IN CASE WHEN isEmpty THEN [s] ELSE [] END | DELETE each)
RETURN count(*) AS found`,
  /** Those of the dataset `$id`. */
  all: `
MATCH (s:${STATED})
WHERE s[$id] IS NOT NULL
UNWIND s[$id] AS statement
RETURN s.${KEY} AS iri, statement`,
} as const;

const DATASET = 'QuadmillDataset';

/** A node per dataset, with `id`, `name`, `version`, `complete` and `form`. */
export const positions = {
  /** Two writers at the same time may have made two nodes: taking a version again changes nothing, so the older one counts. */
  all: `
MATCH (d:${DATASET})
RETURN d.id AS id, d.name AS name, d.form AS form, min(d.version) AS version, NOT false IN collect(d.complete) AS complete`,
  /** Those of `$id`. @param locks until the transaction ends */
  of: (locks: boolean): string => `
MATCH (d:${DATASET})
WHERE d.id = $id${locks ? '\nSET d.id = d.id' : ''}
RETURN d.version AS version, d.complete AS complete`,
  /** `$position` are the properties. */
  store: `
OPTIONAL MATCH (d:${DATASET})
WHERE d.id = $position.id OR d.name = $position.name
DELETE d
WITH count(*) AS removed
CREATE (n:${DATASET})
SET n = $position`,
} as const;
