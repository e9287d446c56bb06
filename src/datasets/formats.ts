/**
 * Changes as text: RDF Patch, an update of SPARQL 1.1, or the statements alone.
 *
 * @see https://afs.github.io/rdf-delta/rdf-patch.html
 * @see https://www.w3.org/TR/sparql11-update/#deleteData
 */
import { skolemiser } from '../nquads/skolem.ts';
import { isTriple, mapTriple, splitLine } from '../nquads/terms.ts';
import type { ChangedLines } from './changes.ts';

export const CHANGE_FORMATS = ['rdf-patch', 'sparql-update', 'nquads-added', 'nquads-removed'] as const;
export type ChangeFormat = (typeof CHANGE_FORMATS)[number];

/** `skolem`: as IRIs; `keep`: as blank nodes, with the labels of the dataset. */
export const BLANK_NODE_FORMS = ['skolem', 'keep'] as const;
export type BlankNodeForm = (typeof BLANK_NODE_FORMS)[number];

/**
 * Pieces of lines → the same with blank nodes as IRIs.
 *
 * @param base what the IRIs begin with
 * @param seed tells the labels of foreign files apart; those of runs name their nodes
 */
export function skolemising(base: string, seed: string): (lines: string) => string {
  const iriOf = skolemiser(base, seed);
  const node = (term: string): string =>
    term.startsWith('_:') ? `<${iriOf(term.slice(2))}>` : isTriple(term) ? mapTriple(term, node) : term;
  return (lines) => {
    if (!lines.includes('_:')) return lines;
    let text = '';
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf('\n', at) + 1;
      const line = lines.slice(at, end);
      text += line.includes('_:') ? skolemised(line, node) : line;
      at = end;
    }
    return text;
  };
}

function skolemised(line: string, node: (term: string) => string): string {
  const [subject, predicate, object, rest] = splitLine(line);
  const graph = rest.startsWith('_:') ? rest.slice(0, rest.indexOf(' ')) : '';
  return `${node(subject)} ${predicate} ${node(object)} ${graph === '' ? rest : node(graph) + rest.slice(graph.length)}`;
}

/** What the text of changes says of their place. */
export interface PatchHeader {
  /** IRI of the changes. */
  readonly id: string;
  /** IRI of those before; undefined: there are none. */
  readonly previous: string | undefined;
}

/**
 * Changes as text, in pieces. Removed statements come first. Without changes a patch has its header and an empty transaction, and the other formats
 * are empty.
 *
 * An update cannot delete blank nodes: give it changes that have none.
 */
export async function* formatChanges(
  changes: AsyncIterable<ChangedLines>,
  format: ChangeFormat,
  header: PatchHeader,
): AsyncGenerator<string> {
  switch (format) {
    case 'rdf-patch': {
      yield `H id <${header.id}> .\n${header.previous === undefined ? '' : `H prev <${header.previous}> .\n`}TX .\n`;
      for await (const { kind, lines } of changes) yield lines.replace(/^(?!$)/gm, kind === 'added' ? 'A ' : 'D ');
      yield 'TC .\n';
      return;
    }
    case 'sparql-update':
      yield* updates(changes);
      return;
    case 'nquads-added':
    case 'nquads-removed':
      for await (const { kind, lines } of changes) if (format === `nquads-${kind}`) yield lines;
  }
}

/** Statements of one operation. */
const MOST_STATEMENTS = 10_000;

async function* updates(changes: AsyncIterable<ChangedLines>): AsyncGenerator<string> {
  let open: ChangedLines['kind'] | undefined;
  let graph = '';
  let statements = 0;
  const close = (): string => (open === undefined ? '' : `${graph === '' ? '' : '  }\n'}} ;\n`);
  for await (const { kind, lines } of changes) {
    let text = '';
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf('\n', at) + 1;
      const [subject, predicate, object, rest] = splitLine(lines.slice(at, end));
      const name = rest.startsWith('.') ? '' : rest.slice(0, rest.lastIndexOf(' .'));
      if (kind !== open || statements === MOST_STATEMENTS) {
        text += `${close()}${kind === 'removed' ? 'DELETE' : 'INSERT'} DATA {\n`;
        if (name !== '') text += `  GRAPH ${name} {\n`;
        open = kind;
        graph = name;
        statements = 0;
      } else if (name !== graph) {
        text += `${graph === '' ? '' : '  }\n'}${name === '' ? '' : `  GRAPH ${name} {\n`}`;
        graph = name;
      }
      text += `  ${subject} ${predicate} ${object} .\n`;
      statements++;
      at = end;
    }
    yield text;
  }
  yield close();
}
