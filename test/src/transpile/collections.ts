/** Mappings with random collections, and nodes for records; and the comparison of lines whose labels differ. */
import { createHash } from 'node:crypto';
import { Random } from '../../support/random.ts';
import { awkwardText, sourceOf, type Written, writeMapping } from './cases.ts';

/** Labels of nodes for records, and of collections. Others are equal texts. */
const LABEL = /_:q[0-9a-f]{32}[rh]\w+/g;

/**
 * The lines with the label of each blank node replaced by what is stated of it, to any depth: equal for two graphs whose blank nodes form trees, as those of
 * collections do, if and only if they are isomorphic.
 */
export function structureOf(lines: readonly string[]): string[] {
  let names = new Map(lines.flatMap((line) => line.match(LABEL) ?? []).map((label) => [label, '_:']));
  for (let count = 0; ; ) {
    const about = new Map([...names.keys()].map((label) => [label, [] as string[]]));
    for (const line of lines)
      for (const label of new Set(line.match(LABEL)))
        about.get(label)?.push(line.replaceAll(LABEL, (one) => (one === label ? '_:this' : (names.get(one) as string))));
    names = new Map(
      [...about].map(([label, said]) => [label, `_:${createHash('sha256').update(said.sort().join('\n')).digest('hex').slice(0, 16)}`]),
    );
    const found = new Set(names.values()).size;
    if (found === count) return lines.map((line) => line.replaceAll(LABEL, (one) => names.get(one) as string)).sort();
    count = found;
  }
}

const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';

export function writeCollections(directory: string, seed: number): readonly Written[] {
  const random = new Random(seed);
  const texts = [...Array.from({ length: 4 }, () => awkwardText(random).replaceAll(/[\u{10000}-\u{10ffff}]|\r/gu, '')), 'a', 'b', ''];
  const maybe = <T>(value: T): T | null => (random.between(0, 3) === 0 ? null : value);
  // Records repeat each other.
  const row = () => ({ id: `${random.between(0, 6)}`, a: maybe(random.pick(texts.slice(0, 3))), b: maybe(random.pick(texts)) });
  const rows = Array.from({ length: 10 }, row);
  const records = Array.from({ length: 14 }, () => ({
    ...row(),
    n: maybe(random.pick([1, 1.5, true, '1'])),
    tags: random.pick([undefined, null, [], [null], [1, 'a', null, 'a'], texts.slice(0, 3)]),
    deep: { items: random.pick([undefined, [], [{ k: 'k' }, {}, null, { k: texts[0] }]]) },
  }));
  const equal = <T>(value: T): string =>
    `rml:functionExecution [ rml:function <${GREL}controls_isNotNull> ; rml:input [ rml:parameter <${GREL}param_any_e> ; rml:inputValueMap [ rml:reference "${value}" ] ] ]`;

  const mapping = (source: string, single: readonly string[], several: readonly string[]): string => {
    const member = (depth: number): string => {
      const of = random.pick(several.length > 0 && random.between(0, 1) === 0 ? several : single);
      return random.pick([
        () => `[ rml:reference "${of}" ]`,
        () => `[ rml:reference "${of}" ; rml:datatype e:type ]`,
        () => `[ rml:reference "${of}" ; rml:language "en" ]`,
        () => `[ rml:template "http://e/{${of}}" ]`,
        () => `[ rml:template "{${of}}-{${random.pick(single)}}" ; rml:termType rml:Literal ]`,
        () => `[ rml:template "{${of}}" ; rml:termType rml:BlankNode ]`,
        () => '[ rml:constant "c" ]',
        () => (depth > 0 ? `[ ${gather(depth - 1)} ]` : '[ rml:reference "a" ]'),
      ])();
    };
    const gather = (depth: number): string => {
      const members = Array.from({ length: random.between(1, 3) }, () => member(depth)).join(' ');
      const empty = random.between(0, 1) === 0 ? '' : ' ; rml:allowEmptyListAndContainer true';
      const condition = random.between(0, 3) > 0 ? '' : ` ; rml:condition [ ${equal('b')} ]`;
      return `rml:gather ( ${members} ) ; rml:gatherAs rdf:${random.pick(['List', 'Bag', 'Seq', 'Alt'])}${empty}${condition}`;
    };
    const om = (predicate: string, object: string, more = ''): string =>
      `rml:predicateObjectMap [ rml:predicate e:${predicate} ; rml:objectMap [ ${object} ] ${more} ] ;`;
    const graph = `; rml:graphMap [ rml:template "http://g/{${random.pick([...single, ...several])}}" ]`;
    return `<#M> ${source} ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  ${Array.from({ length: 4 }, (_, at) => om(`c${at}`, gather(2), at === 0 ? graph : '')).join('\n  ')} .
<#R> ${source} ; rml:subjectMap [ rml:termType rml:BlankNode ] ;
  ${om('a', 'rml:reference "a"')} ${om('c', gather(1))} ${om('m', 'rml:parentTriplesMap <#M> ; rml:joinCondition [ rml:child "a" ; rml:parent "b" ]')} .
<#S> ${source} ; rml:subjectMap [ ${gather(1)} ; rml:class e:Collection ; rml:graphMap [ rml:template "http://g/{id}" ] ] ; ${om('of', `rml:reference "${random.pick([...single, ...several])}"`)} .
<#J> ${source} ; rml:subjectMap [ rml:template "http://e/j/{${random.pick([...single, ...several])}}" ] ;
  ${om('r', 'rml:parentTriplesMap <#R> ; rml:joinCondition [ rml:child "a" ; rml:parent "b" ]')}
  ${om('s', 'rml:parentTriplesMap <#S> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ]')}
  ${om('x', 'rml:termType rml:BlankNode')} ${om('y', gather(1))} .
<#K> ${source} ; rml:subjectMap [ rml:functionExecution [ rml:function <${GREL}toUpperCase> ; rml:input [ rml:parameter <${GREL}valueParam> ;
    rml:inputValueMap [ rml:template "k{${several[0] ?? 'a'}}" ] ] ] ; rml:termType rml:BlankNode ] ; ${om('z', gather(0))} .`;
  };
  const cell = (value: string | null): string => (value === null ? 'NULL' : `"${value.replaceAll('"', '""')}"`);
  return [
    writeMapping(directory, 'collections', {
      'mapping.ttl': mapping('SOURCE(v.jsonl,JSONPath)', ['a', 'b', 'n'], ['tags[*]', 'deep.items[*].k']),
      'v.jsonl': records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    }),
    writeMapping(directory, 'collections-csv', {
      'mapping.ttl': mapping(sourceOf('v.csv', 'rml:referenceFormulation rml:CSV', '; rml:null "NULL"'), ['a', 'b'], []),
      'v.csv': `id,a,b\n${rows.map((one) => `${Object.values(one).map(cell).join(',')}\n`).join('')}`,
    }),
  ];
}
