/**
 * Property graphs over Bolt as targets of the graph writer: Neo4j, and compatible servers.
 *
 * Each call is one transaction: nodes before relationships, both found by the key that `prepare` makes unique.
 */
import { excerpt, Fault } from '../../core/fault.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { Elements } from '../../property-graph/elements.ts';
import { BASE_LABEL, namesOf, nodeKey } from '../../property-graph/names.ts';
import type { PropertyGraphTarget } from '../property-graph.ts';
import type { TargetAddress } from '../target.ts';
import { connectBolt } from './connect.ts';
import { productOf } from './cypher.ts';
import { replaceGraphOver } from './graph.ts';
import { versionsOver } from './versions.ts';
import { insertElementsInto, insertInto, replaceIntoGraph } from './write.ts';

/** Maximum length of an index key in Neo4j. */
const LONGEST_KEY_BYTES = 8_000;

/**
 * Does not connect yet.
 *
 * @throws Fault config/invalid — not a Bolt endpoint, or an unreadable certificate
 */
export async function boltTarget(address: TargetAddress): Promise<PropertyGraphTarget> {
  const connection = await connectBolt(address);
  const names = namesOf(address.propertyGraph);
  const name = `property graph at ${connection.name}`;
  return {
    describe: () => (address.database === undefined ? name : `${name}, database ${address.database}`),
    sizes: { first: 10_000, least: 100, most: 20_000, inFlight: 2 },
    takesBlankNodes: false,
    warnings: () => names.warnings,
    async probe(signal) {
      const begun = performance.now();
      const { name: product } = productOf(await connection.agent(signal));
      const milliseconds = Math.round(performance.now() - begun);
      await connection.tryOut(`CREATE (:${BASE_LABEL})`, signal);
      return { product, milliseconds };
    },
    async prepare(signal) {
      for (const statement of productOf(await connection.agent(signal)).constraint) await connection.schema(statement, signal);
    },
    async insert(statements, signal) {
      if (statements.length === 0) return;
      checkKeys(statements);
      await connection.transaction((work) => insertInto(work, statements, names), signal);
    },
    async insertElements(elements, signal) {
      checkElementKeys(elements);
      await connection.transaction((work) => insertElementsInto(work, elements), signal);
    },
    async replace(statements, scope, signal) {
      if (statements.length === 0) return;
      checkKeys(statements);
      await connection.transaction((work) => replaceIntoGraph(work, statements, scope, names), signal);
    },
    versions: versionsOver(connection, names, address.propertyGraph, refusal),
    replaceGraph: (graph, key, signal) => replaceGraphOver(connection, graph, key, names, checkKeys, signal),
    close: () => connection.close(),
  };
}

/** @throws Fault target/refused */
function checkKeys(statements: readonly Statement[]): void {
  for (const statement of statements) {
    const refused = refusal(statement);
    if (refused !== undefined) throw refused;
  }
}

/** Why a statement is refused; undefined: it is not. */
function refusal({ subject, object }: Statement): Fault | undefined {
  const term = isLong(subject) ? subject : object;
  return isLong(term) ? tooLong(nodeKey(term), term.length - 2) : undefined;
}

const isLong = (term: string): boolean => term.length - 2 > LONGEST_KEY_BYTES && term.charCodeAt(0) !== 34;

/** @throws Fault target/refused */
function checkElementKeys({ nodes, edges }: Elements): void {
  // A UTF-16 code unit takes at most three bytes.
  for (const key of [...nodes.map(({ iri }) => iri), ...edges.flatMap(({ from, to }) => [from, to])])
    if (key.length * 3 > LONGEST_KEY_BYTES && Buffer.byteLength(key) > LONGEST_KEY_BYTES) throw tooLong(key, Buffer.byteLength(key));
}

const tooLong = (key: string, bytes: number): Fault =>
  new Fault('target/refused', `An IRI of ${bytes} bytes is too long for the key of a node`, {
    place: { value: excerpt(key) },
    hint: `A property graph takes IRIs of at most ${LONGEST_KEY_BYTES} bytes`,
  });
