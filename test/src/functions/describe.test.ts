/** The FnO description is Turtle, and says of every function what a mapping needs. */
import { describe, expect, test } from '@jest/globals';
import { Parser, type Quad } from 'n3';
import { describeFunctions } from '../../../src/functions/describe.ts';
import { FUNCTIONS } from '../../../src/functions/registry.ts';

const FNO = 'https://w3id.org/function/ontology#';
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

const quads: readonly Quad[] = new Parser().parse(describeFunctions(FUNCTIONS));
const objects = (subject: string, predicate: string): string[] =>
  quads.filter((quad) => quad.subject.value === subject && quad.predicate.value === predicate).map(({ object }) => object.value);

function items(head: string): string[] {
  if (head === `${RDF}nil`) return [];
  return [...objects(head, `${RDF}first`), ...objects(head, `${RDF}rest`).flatMap(items)];
}

describe('the description', () => {
  test.each(FUNCTIONS.map((definition) => [definition.name, definition] as const))('%s', (_, { iri, parameters, returns }) => {
    expect(objects(iri, `${RDF}type`)).toEqual([`${FNO}Function`]);
    expect(objects(iri, `${FNO}expects`).flatMap(items)).toEqual(parameters.map((one) => one.iri));
    expect(objects(iri, `${FNO}returns`).flatMap(items)).toEqual(returns.map((one) => one.iri));
    for (const one of parameters) expect(objects(one.iri, `${FNO}predicate`)).toHaveLength(1);
    for (const one of [...parameters, ...returns]) expect(objects(one.iri, `${FNO}type`)).toHaveLength(1);
  });

  test('GREL has its predicates', () => {
    const grel = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
    expect(objects(`${grel}valueParam`, `${FNO}predicate`)).toEqual([`${grel}valueParameter`]);
    expect(objects(`${grel}p_int_i_opt_to`, `${FNO}required`)).toEqual(['false']);
    expect(objects(`${grel}stringOut`, `${FNO}predicate`)).toEqual([`${grel}stringOutput`]);
    expect(objects(`${grel}param_dec_n`, `${FNO}type`)).toEqual(['http://www.w3.org/2001/XMLSchema#decimal']);
  });
});
