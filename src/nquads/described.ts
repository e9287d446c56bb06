/**
 * Triples as terms in RDF 1.1: a triple term becomes a node, a *statement*, that the vocabulary of reification describes. So property graphs
 * hold them, whose nodes and edges cannot be terms.
 *
 * @see https://www.w3.org/TR/rdf-schema/#ch_reificationvocab
 */
import { blankReifier, reified } from './reified.ts';
import type { Statement } from './statement.ts';
import { isTripleTerm, termsOfQuoted } from './terms.ts';

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

export interface TripleNames {
  /** Triple term → the node that reifies it. */
  reifier(triple: string): string;
  /** Triple term → the node of type `rdf:Statement` that stands for it: another one. */
  statement(triple: string): string;
}

/** Blank nodes, named after the triple. */
export const BLANK_NAMES: TripleNames = { reifier: blankReifier, statement: (triple) => `${blankReifier(triple)}s` };

/** The statement without triples as terms, behind what describes those that it has. Each description is in its graph. */
export function described(statement: Statement, names: TripleNames): readonly Statement[] {
  const { graph, line } = statement;
  const made: Statement[] = [];
  const node = (term: string): string => {
    if (!isTripleTerm(term)) return term;
    const [s, p, o] = termsOfQuoted(term);
    const subject = names.statement(term);
    const add = (name: string, object: string): void => void made.push({ subject, predicate: `<${RDF}${name}>`, object, graph, line });
    add('type', `<${RDF}Statement>`);
    add('subject', s);
    add('predicate', p);
    add('object', node(o));
    return subject;
  };
  for (const one of reified(statement, names.reifier)) {
    const object = node(one.object);
    made.push(object === one.object ? one : { ...one, object });
  }
  return made;
}
