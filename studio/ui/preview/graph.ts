/** Statements as nodes and links: literals and classes stand within their node. */
import type { StudioPreviewStatement } from '../../../client/types.ts';
import type { Arrangement } from '../parts/layout/layout.ts';
import { RDF_TYPE, termsOf } from '../parts/statements/terms.ts';

export interface GraphNode {
  /** The term, as N-Quads writes it. */
  readonly id: string;
  readonly label: string;
  readonly classes: readonly string[];
  /** The first of its literals, each with its predicate. */
  readonly values: readonly string[];
  readonly moreValues: number;
  /** All in which it is the subject, or the object. */
  readonly statements: readonly StudioPreviewStatement[];
}

export interface GraphLink {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly statement: StudioPreviewStatement;
}

export interface PreviewGraph {
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
  /** Nodes that are not given. */
  readonly more: number;
}

export const MAX_NODES = 200;
const MAX_VALUES = 3;
export const NODE_WIDTH = 220;
const TITLE = 28;
const LINE = 18;

/** @param compact makes names of terms */
export function graphOf(statements: readonly StudioPreviewStatement[], compact: (term: string) => string): PreviewGraph {
  const nodes = new Map<string, { classes: string[]; values: string[]; statements: StudioPreviewStatement[] }>();
  const nodeAt = (id: string) => {
    const known = nodes.get(id) ?? { classes: [], values: [], statements: [] };
    nodes.set(id, known);
    return known;
  };
  const links: GraphLink[] = [];
  for (const statement of statements) {
    const { subject, predicate, object } = termsOf(statement.text);
    const node = nodeAt(subject);
    node.statements.push(statement);
    if (object.startsWith('"')) node.values.push(`${compact(predicate)} ${compact(object)}`);
    else if (predicate === RDF_TYPE) node.classes.push(compact(object));
    else {
      if (object !== subject) nodeAt(object).statements.push(statement);
      links.push({ from: subject, to: object, label: compact(predicate), statement });
    }
  }
  const shown = [...nodes].slice(0, MAX_NODES);
  const ids = new Set(shown.map(([id]) => id));
  return {
    nodes: shown.map(([id, { classes, values, statements: own }]) => ({
      id,
      label: compact(id),
      classes,
      values: values.slice(0, MAX_VALUES),
      moreValues: Math.max(0, values.length - MAX_VALUES),
      statements: own,
    })),
    links: links.filter(({ from, to }) => ids.has(from) && ids.has(to)),
    more: nodes.size - shown.length,
  };
}

export const heightOf = ({ classes, values, moreValues }: GraphNode): number =>
  TITLE + LINE * ((classes.length > 0 ? 1 : 0) + values.length + (moreValues > 0 ? 1 : 0));

export const arrangementOf = ({ nodes, links }: PreviewGraph): Arrangement => ({
  boxes: nodes.map((node) => ({ id: node.id, isInput: false, width: NODE_WIDTH, height: heightOf(node) })),
  lines: links,
});
