/** Reads the elements of a property graph back, to compare them with statements. */
import type { Fault } from '../../core/fault.ts';
import type { Statement } from '../../nquads/statement.ts';
import { elementsOf } from '../../property-graph/elements.ts';
import { type Names, nodeKey } from '../../property-graph/names.ts';
import type { ElementReader } from '../target.ts';
import type { BoltConnection } from './connect.ts';
import { ALL_EDGES, ALL_NODES } from './cypher.ts';
import { lineOfStoredEdge, linesOf, linesOfStored } from './element-lines.ts';
import type { StoredNode } from './merge.ts';

/** @param refusal why a statement is refused; undefined: it is not */
export function elementReader(
  connection: BoltConnection,
  names: Names,
  refusal: (statement: Statement) => Fault | undefined,
): ElementReader {
  return {
    async *read(graphs, signal) {
      const keys = new Set(Array.from(graphs, nodeKey));
      for await (const rows of connection.rows(ALL_NODES, {}, signal)) {
        let lines = '';
        for (const row of rows)
          lines += linesOfStored(String(row.get('iri')), row.toObject() as unknown as StoredNode, keys, row.get('alone'));
        yield lines;
      }
      for await (const rows of connection.rows(ALL_EDGES, {}, signal)) {
        let lines = '';
        for (const row of rows) {
          const { from, type, to, graph } = row.toObject();
          lines += lineOfStoredEdge({ from: String(from), type, to: String(to), graph: String(graph) }, keys);
        }
        yield lines;
      }
    },
    linesOf: (statements) => linesOf(elementsOf(statements, names)),
    refusal,
  };
}
