/** What some formats cannot say: named graphs and triples as terms. */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { isQuoted, isTripleTerm } from '../../nquads/terms.ts';

/** Leaving the graph out would unite what the mapping keeps apart. @throws Fault mapping/invalid */
export function refuseGraph(format: string, graph: string): never {
  throw new Fault('mapping/invalid', `The mapping puts statements into the graph ${fromBytes(graph)}, and ${format} has no graphs`, {
    hint: 'Ask for the format nquads, trig or jsonld',
  });
}

/** @throws Fault mapping/invalid — the subject or the object is a quoted triple, or the object a triple term of RDF 1.2 */
export function refuseQuoted(format: string, subject: string, predicate: string, object: string): void {
  const isTermOf12 = isTripleTerm(object);
  if (!isTermOf12 && !isQuoted(subject) && !isQuoted(object)) return;
  throw new Fault(
    'mapping/invalid',
    `The mapping makes a statement with a ${isTermOf12 ? 'triple term' : 'quoted triple'}, and ${format} has none`,
    {
      place: { value: excerpt(fromBytes(`${subject} ${predicate} ${object}`)) },
      hint: 'Ask for the format nquads, ntriples, turtle or trig',
    },
  );
}

/** @throws Fault mapping/invalid — the subject or the object is a quoted triple of RDF-star */
export function refuseStar(format: string, subject: string, predicate: string, object: string): void {
  if (!isQuoted(subject) && !isQuoted(object)) return;
  throw new Fault(
    'mapping/invalid',
    `The mapping makes a statement with a quoted triple, and ${format} has triples as terms in RDF 1.2 alone`,
    {
      place: { value: excerpt(fromBytes(`${subject} ${predicate} ${object}`)) },
      hint: 'Ask for RDF 1.2 (--rdf 1.2, RDF_VERSION), or for the format nquads, ntriples, turtle or trig',
    },
  );
}
