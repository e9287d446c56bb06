/**
 * Quoted triples of RDF-star in RDF 1.2, where a triple is a term as an object alone.
 *
 * A quoted triple as an object becomes a triple term. As a subject it becomes a node, its *reifier*, of which `rdf:reifies` says what the
 * triple is. Equal triples have one reifier, so that writing a statement again changes nothing.
 *
 * @see https://www.w3.org/TR/rdf12-concepts/#section-triple-terms-reification
 */
import { createHash } from 'node:crypto';
import type { Statement } from './statement.ts';
import { isQuoted, isTripleTerm, splitLine, termsOfQuoted } from './terms.ts';

export const REIFIES = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>';

/**
 * The statement in RDF 1.2, behind those of the reifiers that it names.
 *
 * @param reifierOf triple term → the node that stands for it
 */
export function reified(statement: Statement, reifierOf: (triple: string) => string): readonly Statement[] {
  const { subject, predicate, object, graph, line } = statement;
  if (!isQuoted(subject) && !isQuoted(object)) return [statement];
  const statements: Statement[] = [];
  const node = (term: string): string => {
    if (!isQuoted(term)) return term;
    const triple = tripleTerm(term);
    const reifier = reifierOf(triple);
    statements.push({ subject: reifier, predicate: REIFIES, object: triple, graph, line });
    return reifier;
  };
  const tripleTerm = (quoted: string): string => {
    const [s, p, o] = termsOfQuoted(quoted);
    return `<<( ${node(s)} ${p} ${inObject(o)} )>>`;
  };
  const inObject = (term: string): string => (isQuoted(term) ? tripleTerm(term) : term);
  const written = { subject: node(subject), predicate, object: inObject(object), graph, line };
  return [...statements, written];
}

/**
 * The reifier of a triple term as a blank node. Its label has 128 bits of the SHA-256 of the text, so choosing two triples that share one
 * takes 2^64 hashes. No other label that a run makes begins with a `t`.
 */
export const blankReifier = (triple: string): string => `_:t${createHash('sha256').update(triple, 'latin1').digest('hex').slice(0, 32)}`;

/** Whether a term may be a `blankReifier`. */
export const isReifier = (term: string): boolean => /^_:t[0-9a-f]{32}$/.test(term);

/** The triple term that a statement says its reifier has; undefined: the statement is of another kind. */
export const reifiedTriple = ({ subject, predicate, object }: Omit<Statement, 'line'>): string | undefined =>
  predicate === REIFIES && isReifier(subject) && isTripleTerm(object) ? object : undefined;

/**
 * A line of a run, which writes RDF-star, in RDF 1.2: the lines of its reifiers, then its own. What follows the object stands in all of
 * them. The result determines the line.
 */
export function reifiedLines(line: string): readonly string[] {
  // A literal may hold this as well.
  if (!line.includes('<< ')) return [line];
  const [subject, predicate, object, rest] = splitLine(line);
  const statements = reified({ subject, predicate, object, graph: rest, line: 0 }, blankReifier);
  return statements.map((one) => `${one.subject} ${one.predicate} ${one.object} ${one.graph}`);
}
