/** Random mappings over views of JSON documents, as text, with their records. */
import { Random } from '../../../support/random.ts';

export interface ViewCase {
  readonly turtle: string;
  readonly documents: Readonly<Record<string, readonly unknown[]>>;
  /**
   * Something belongs to its row: blank nodes of rows, and collections, which the engine names as it likes, and positions of rows in a view on
   * a view, which joins at the end change.
   */
  readonly ofRows: boolean;
}

const VALUES = ['a', 'b', 'c', 'a b', 'ü', '1:1', '%41', 'x/y'];

/** What `<view>` shows; `<again>` shows it under names without dots. */
const NAMES = ['id', 'k', 'tag', 'tag.#', 'item.t', 'item.#', 'item.sub', 'item.sub.#', 'parts.part.size', 'v', 'c', 'v.#', '#'];
const renamed = (name: string): string => (name === '#' ? '#' : name.replaceAll('.', '_').replaceAll('#', 'n'));

/** @param mayFail whether some IRIs are values as they are, which a space makes invalid */
export function inventViews(seed: number, mayFail: boolean): ViewCase {
  const random = new Random(seed);
  const below = (n: number): number => random.between(0, n - 1);
  const chance = (percent: number): boolean => below(100) < percent;
  const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  const value = (): unknown => (mayFail && chance(20) ? 'a b' : chance(10) ? below(3) : random.pick(VALUES));
  const some = <T>(make: () => T): T | undefined => (chance(80) ? make() : undefined);
  const documents = {
    'people.json': times(1 + below(5), (i) => ({
      id: `p${chance(15) ? 0 : i}`,
      k: some(value) ?? null,
      tags: some(() => times(below(4), value)),
      items: some(() => times(below(3), () => ({ t: some(value), subs: some(() => times(below(3), value)) }))),
      parts: some(() => ['size', ...times(below(3), () => `${below(3)}`)].join('\n')),
    })),
    'rows.json': times(below(5), () => ({ k: some(value) ?? null, v: some(value) ?? null })),
  };
  let ofRows = false;
  const field = (name: string, reference: string): string => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
  const source = (path: string): string =>
    `rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"`;
  const fields = random.shuffle([
    field('id', '$.id'),
    field('k', '$.k'),
    field('tag', '$.tags[*]'),
    `[ rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field ${field('t', '$.t')} , ${field('sub', '$.subs[*]')} ]`,
    `[ rml:fieldName "parts" ; rml:reference "$.parts" ; rml:field [ rml:fieldName "part" ; rml:referenceFormulation rml:CSV ; rml:field ${field('size', 'size')} ] ]`,
  ]);
  const joined = chance(30)
    ? `rml:viewOn <people> ; rml:field ${field('k', '$.k')} , ${field('v', '$.tags[*]')}`
    : `rml:viewOn [ ${source('rows.json')} ] ; rml:field ${field('k', '$.k')} , ${field('v', '$.v')}`;
  const child = random.pick(['k', 'k', 'tag', 'item.t']);
  const annotations = times(below(3), () => {
    const kind = random.pick(['NotNull', 'IriSafe', 'Unique']);
    return `<view> rml:structuralAnnotation [ a rml:${kind}Annotation ; rml:onFields ( "${random.pick(['id', 'k', 'tag', 'v', 'item.t'])}" ) ] .`;
  });

  const map = (number: number, count: number): string => {
    const isAgain = chance(25);
    // In a view on the view, the positions of joined rows are fields like others; in its own join they are not.
    const names = isAgain ? NAMES.map(renamed) : NAMES;
    const favourites = times(1 + below(4), () => random.pick(names));
    const name = (): string => random.pick(chance(80) ? favourites : names);
    const template = (start: string): string => `rml:template "${start}${times(1 + below(2), () => `{${name()}}`).join('/')}"`;
    const iri = (): string => (mayFail && chance(50) ? `rml:reference "${name()}"` : template('http://e/'));
    const gather = (): string => {
      ofRows = true;
      const head = chance(50) ? `; ${template('http://l/')}` : '';
      return `rml:gather ( [ rml:reference "${name()}" ] [ rml:reference "${name()}" ] ) ; rml:gatherAs ${random.pick(['rdf:List', 'rdf:Bag'])} ${head}`;
    };
    const blank = (): string => {
      ofRows = true;
      return 'rml:termType rml:BlankNode';
    };
    const parent = (): string => {
      const other = below(count);
      const on = `rml:joinCondition [ rml:child "${name()}" ; rml:parent "id" ]`;
      return `rml:parentTriplesMap <m${other}> ; ${on}`;
    };
    const object = (): string => {
      const kind = random.weighted({ reference: 5, template: 3, iri: mayFail ? 6 : 3, parent: 1, gather: 0.3, row: 0.2 });
      switch (kind) {
        case 'reference':
          return `rml:reference "${name()}"`;
        case 'template':
          return `${template('')} ; rml:termType rml:Literal`;
        case 'iri':
          return `${iri()} ; rml:termType rml:IRI`;
        case 'parent':
          return parent();
        case 'gather':
          return gather();
        case 'row':
          return blank();
      }
    };
    const rules = times(1 + below(4), () => {
      const predicate = chance(85) ? `rml:predicate ex:p${below(2)}` : `rml:predicateMap [ ${template('http://p/')} ]`;
      const graph = chance(20) ? `; rml:graphMap [ ${template('http://g/')} ]` : '';
      return `; rml:predicateObjectMap [ ${predicate} ; rml:objectMap [ ${object()} ] ${graph} ]`;
    });
    const subject = chance(4) ? blank() : chance(75) ? 'rml:template "http://e/{id}"' : iri();
    const text = `<m${number}> rml:logicalSource <${isAgain ? 'again' : 'view'}> ; rml:subjectMap [ ${subject} ] ${rules.join(' ')} .`;
    if (isAgain && /[{"]#["}]/.test(text)) ofRows = true;
    return text;
  };
  const count = 1 + below(3);
  const maps = times(count, (i) => map(i, count));
  const again = NAMES.filter((name) => name !== '#').map((name) => field(renamed(name), name));
  const turtle = `@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://e/> . @base <http://m/> .
<people> ${source('people.json')} .
<joined> ${joined} .
<view> rml:viewOn <people> ; rml:field ${fields.join(' , ')} ;
  rml:${random.pick(['leftJoin', 'innerJoin'])} [ rml:parentLogicalView <joined> ; rml:joinCondition [ rml:child "${child}" ; rml:parent "k" ] ;
    rml:field ${field('v', 'v')} , [ rml:fieldName "c" ; rml:template "{v}-{k}" ] ] .
<again> rml:viewOn <view> ; rml:field ${again.join(' , ')} .
${annotations.join('\n')}
${maps.join('\n')}
`;
  return { turtle, documents, ofRows };
}
