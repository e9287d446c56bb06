/** What a document and a text say in YARRRML: values to be written, and patterns to be compared. */
import { convertGraph } from '../../../../src/mapping/convert/dialect.ts';
import { type SaidMapping, type SaidPair, sayMappings } from '../../../../src/mapping/convert/yarrrml.ts';
import { Report } from '../../../../src/mapping/model/diagnostics.ts';
import { type Graph, nodeId } from '../../../../src/mapping/model/graph.ts';
import type { Mapping, Origin } from '../../../../src/mapping/model/model.ts';
import { graphOf } from '../../../../src/mapping/parse/document.ts';
import { readGraph } from '../../../../src/mapping/parse/read.ts';
import { readYarrrml } from '../../../../src/mapping/yarrrml/read.ts';
import type { Id, StudioDocument } from '../../document.ts';
import { mappingGraph } from '../../print/mapping.ts';
import { dialectOf } from '../../print/print.ts';
import { patternsOf } from '../patterns.ts';

export interface SaidPart extends Omit<SaidMapping, 'pairs'> {
  readonly pairs: ReadonlyMap<Id, SaidPair>;
}

export interface SaidDocument {
  /** By the names of parts. */
  readonly parts: ReadonlyMap<string, SaidPart>;
  /** What YARRRML cannot say, and what would be wrong with it. */
  readonly errors: readonly string[];
  readonly patterns: readonly string[];
}

const MODEL = 'model';

/**
 * @param prefixes those that the text declares
 * @param nameOf the name of a mapping by the id of its triples map
 */
export function saidOf(document: StudioDocument, prefixes: ReadonlyMap<string, string>, nameOf: (id: string) => string): SaidDocument {
  const report = new Report();
  const { graph, parts, pairs } = mappingGraph(document, report, false);
  const { graph: converted, lines } = withLines(graph, document, report);
  const { mapping } = readGraph(converted, report);
  const names = new Map(mapping.triplesMaps.map(({ id }) => [id, nameOf(id)]));
  const said = sayMappings(mapping, prefixes, names, report);
  const edges = new Map([...pairs].map(([edge, term]) => [lines.get(nodeId(term) as string), edge]));
  const maps = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
  const found = new Map<string, SaidPart>();
  for (const [part, term] of parts) {
    const id = nodeId(term) as string;
    const own = said.get(id);
    if (own === undefined) continue;
    const ofEdges = (maps.get(id)?.predicateObjects ?? []).flatMap(({ origin }, i): [Id, SaidPair][] => {
      const edge = edges.get(origin.line);
      const pair = own.pairs[i];
      return edge === undefined || pair === undefined ? [] : [[edge, pair]];
    });
    found.set(part, { ...own, pairs: new Map(ofEdges) });
  }
  return { parts: found, errors: errorsIn(report), patterns: patternsIn(mapping) };
}

/** The graph in the dialect of YARRRML. Each node has a separate line, which identifies what is read from it. */
function withLines(
  graph: Graph,
  document: StudioDocument,
  report: Report,
): { readonly graph: Graph; readonly lines: ReadonlyMap<string, number> } {
  const nodes = convertGraph(graph, dialectOf(document), report);
  const lines = new Map(nodes.map(({ term }, i) => [nodeId(term) as string, i + 1]));
  const at = (id: string | undefined): Origin => ({ document: MODEL, line: lines.get(id ?? '') ?? nodes.length + 1, column: 1 });
  const described = nodes.flatMap(({ term, statements }) =>
    statements.map(({ property, object }) => {
      const origin = at(nodeId(object));
      return { subject: term, subjectOrigin: at(nodeId(term)), statement: { property, object, origin, propertyOrigin: origin } };
    }),
  );
  return { graph: graphOf(described), lines };
}

export interface SaidText {
  readonly errors: readonly string[];
  readonly patterns: readonly string[];
}

export function saidByText(text: string): SaidText {
  const report = new Report();
  const [described = []] = readYarrrml([{ name: MODEL, text, scope: 'd0' }], report);
  if (report.errors > 0) return { errors: errorsIn(report), patterns: [] };
  const { mapping } = readGraph(graphOf(described), report);
  return { errors: errorsIn(report), patterns: patternsIn(mapping) };
}

const patternsIn = (mapping: Mapping): readonly string[] => patternsOf(mapping);

const errorsIn = (report: Report): readonly string[] =>
  report.sorted([MODEL]).flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
