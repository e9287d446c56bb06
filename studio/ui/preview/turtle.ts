/** Statements as Turtle, or as TriG where there are named graphs: one statement on a line. */
import type { StudioPreviewStatement } from '../../../client/types.ts';
import { type Prefixes, RDF_TYPE, type StatementTerms, termsOf } from '../parts/statements/terms.ts';

export interface Line {
  readonly text: string;
  /** Absent: the line is of no single statement. */
  readonly statement?: StudioPreviewStatement;
}

interface Row {
  readonly statement: StudioPreviewStatement;
  readonly terms: StatementTerms;
}

/** Graphs, subjects and predicates in the order in which they come first. */
export function turtleOf(statements: readonly StudioPreviewStatement[], { compact, used, usedBase }: Prefixes): readonly Line[] {
  const lines: Line[] = [];
  const rows = statements.map((statement): Row => ({ statement, terms: termsOf(statement.text) }));
  for (const [graph, ofGraph] of groupBy(rows, ({ graph }) => graph)) {
    const indent = graph === '' ? '' : '  ';
    if (graph !== '') lines.push({ text: `${compact(graph)} {` });
    for (const [subject, ofSubject] of groupBy(ofGraph, (terms) => terms.subject)) {
      lines.push({ text: `${indent}${compact(subject)}` });
      const ordered = [...groupBy(ofSubject, ({ predicate }) => predicate).values()].flat();
      ordered.forEach(({ statement, terms: { predicate, object } }, i) => {
        const isMore = i > 0 && ordered[i - 1]?.terms.predicate === predicate;
        const next = ordered[i + 1];
        const end = next === undefined ? '.' : next.terms.predicate === predicate ? ',' : ';';
        const verb = predicate === RDF_TYPE ? 'a' : compact(predicate);
        lines.push({ text: `${indent}  ${isMore ? '  ' : `${verb} `}${compact(object)} ${end}`, statement });
      });
    }
    if (graph !== '') lines.push({ text: '}' });
  }
  const base = usedBase();
  const prefixes = [...used].map(([name, iri]): Line => ({ text: `PREFIX ${name}: <${iri}>` }));
  return [...(base === undefined ? [] : [{ text: `BASE <${base}>` }]), ...prefixes, ...lines];
}

function groupBy(rows: readonly Row[], key: (terms: StatementTerms) => string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(key(row.terms));
    if (group === undefined) groups.set(key(row.terms), [row]);
    else group.push(row);
  }
  return groups;
}
