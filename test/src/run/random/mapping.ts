/** Random mappings over random records, as data, and as the files that the engine reads. */
import { XSD, XSD_PATTERNS } from '../../../support/xsd.ts';
import { escaped } from './texts.ts';

export type Format = 'csv' | 'json' | 'jsonl' | 'xml';

/** A value of a record: its text, how JSON writes it, and the literal that it is by itself. */
export interface Scalar {
  readonly written: string;
  readonly json: string;
  readonly literal: string;
  /** An object of JSON: no term can be made of it. */
  readonly isObject?: true;
}

/** `a` and `b` have any text, `iri` what an IRI may hold, `lang` a language tag; `many` and `nested` have several values. */
export type Field = (typeof FIELDS)[number];
export const FIELDS = ['a', 'b', 'iri', 'lang', 'many', 'nested'] as const;

export interface Source {
  readonly format: Format;
  /** Triples maps over it are of legacy RML. */
  readonly isLegacy?: true;
  readonly records: readonly Readonly<Record<Field, readonly Scalar[]>>[];
}

export type TermType = 'IRI' | 'URI' | 'UnsafeIRI' | 'UnsafeURI' | 'BlankNode' | 'Literal';

export interface Template {
  readonly kind: 'template';
  readonly type: TermType;
  readonly parts: readonly (string | { readonly field: Field })[];
}

export interface Reference {
  readonly kind: 'reference';
  readonly type: TermType;
  readonly field: Field;
}

export interface Constant {
  readonly kind: 'constant';
  readonly token: string;
}

/** The number of a logical target: it writes `t<number>.nq`. */
export type Target = number;

export interface Term {
  readonly targets?: readonly Target[];
  readonly value: Template | Reference | Constant;
  readonly language?: string | { readonly field: Field };
  readonly datatype?: string | Template;
}

export interface Rule {
  readonly predicate: Term;
  readonly object: Term | { readonly parent: number; readonly on: readonly { readonly child: Field; readonly parent: Field }[] };
  readonly graph: Term | undefined;
}

export interface RandomMap {
  readonly source: number;
  readonly subject: Term;
  readonly rules: readonly Rule[];
}

export interface RandomMapping {
  readonly base: string;
  readonly sources: readonly Source[];
  readonly maps: readonly RandomMap[];
}

const text = (written: string): Scalar => ({ written, json: JSON.stringify(written), literal: `"${escaped(written)}"` });
const typed = (json: string, datatype: string, canonical = json): Scalar => ({
  written: json,
  json,
  literal: `"${canonical}"^^<${XSD}${datatype}>`,
});

const TEXTS = ['a', 'b', 'a b', 'ü', '"q"', '', '10', '1:1', 'line\nbreak', 'back\\slash', '<', '{x}', '%41', 'http:', 'http://e/1'].map(
  text,
);
/** Values that run into each other around a constant text, or have one text and several types. */
const ALIKE: readonly { readonly between: string; readonly values: readonly Scalar[] }[] = [
  { between: '/', values: ['x/y', 'z', 'x', 'y/z'].map(text) },
  { between: '-', values: ['x-y', 'z', 'x', 'y-z', ''].map(text) },
  { between: ':', values: ['x:y', 'z', 'x', 'y:z', ':'].map(text) },
  { between: '%', values: ['1 ', '2F', '1', '20/'].map(text) },
  { between: '', values: ['xy', 'z', 'x', 'yz', ''].map(text) },
  { between: '/', values: ['é', '%C3%A9', 'C3%A9', '%'].map(text) },
  {
    between: '/',
    values: [text('1'), typed('1', 'integer'), text('1.0'), typed('1.0', 'double', '1.0E0'), typed('1.00', 'double', '1.0E0')],
  },
  {
    between: '/',
    values: [text('true'), typed('true', 'boolean'), text('2.50'), typed('2.50', 'double', '2.5E0'), text('10'), typed('10', 'integer')],
  },
];
const IRIS = ['x', '', '/x', 'x/y', 'http://e/x', 'http://e/1', 'urn:x', 'x:/y', 'x%2Fy', 'é', '%C3%A9', 'http://e/é', '1:1'].map(text);
const LANGUAGES = ['en', 'de', 'en-GB'].map(text);

/** Constant text of templates; an empty one lets two values stand side by side. */
const BETWEEN = ['/', '/', '/x/', '-', ':', '%', '%2F', 'é', 'x', '', '//'];

const constant = (iri: string): Term => ({ value: { kind: 'constant', token: `<${iri}>` } });

/** A small generator with a seed, so that a failure can be repeated. */
function dice(seed: number) {
  let state = (seed * 2654435761) >>> 0 || 1;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return { below, pick, times: <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i)) };
}

/** @param rows at least; the more rows, the more values */
export function invent(seed: number, rows: number): RandomMapping {
  const { below, pick, times } = dice(seed);
  const chance = (percent: number): boolean => below(100) < percent;

  const alike = pick(ALIKE);
  const between = (): string => (chance(80) ? alike.between : pick(BETWEEN));

  const source = (): Source => {
    const format = pick<Format>(['csv', 'json', 'jsonl', 'xml']);
    const isJson = format.startsWith('json');
    // Few values, so that records often agree in one and differ in another.
    const values = [...alike.values, ...(chance(50) ? [pick(TEXTS)] : [])].filter(({ json }) => isJson || json.startsWith('"'));
    const any = (): Scalar => (below(rows) < 25 ? pick(values) : text(String(below(rows))));
    // CSV has every cell, and one value in each.
    const single = (make: () => Scalar): Scalar[] => (format !== 'csv' && chance(10) ? [] : [make()]);
    const several = (): Scalar[] => (format === 'csv' ? [any()] : times(below(4), any));
    const records = times(rows + below(25), () => ({
      a: single(any),
      b: single(any),
      iri: single(() => pick(IRIS)),
      lang: single(() => pick(LANGUAGES)),
      many: several(),
      nested: several(),
    }));
    return { format, records };
  };

  /** Those of the subject at hand, since what it tells is what planning looks for. Others with one value more often than with several. */
  let favourites: readonly Field[] = [];
  const field = (): Field =>
    favourites.length > 0 && chance(80) ? pick(favourites) : pick<Field>(['a', 'a', 'a', 'b', 'b', 'b', 'iri', 'lang', 'many', 'nested']);
  const template = (type: TermType): Template => {
    const fields = chance(40) ? (['a', 'b'] as const) : times(1 + below(3), field);
    // A field that stands twice is not rare.
    const parts = fields.flatMap((one, i) => [...(i === 0 ? [] : [between()]), { field: chance(10) ? (fields[0] as Field) : one }]);
    const start = chance(70) ? 'http://e/' : pick(BETWEEN);
    return { kind: 'template', type, parts: [start, ...parts, chance(20) ? pick(BETWEEN) : ''].filter((part) => part !== '') };
  };
  const reference = (type: TermType): Reference => ({
    kind: 'reference',
    type,
    // A strict IRI from data ends the run where it is none.
    field: type === 'IRI' || type === 'URI' ? 'iri' : field(),
  });
  const token = (): Constant => ({ kind: 'constant', token: `<http://e/${pick(['k0', 'k1', '1', 'x'])}>` });
  const IRI_TYPES = ['IRI', 'IRI', 'URI', 'UnsafeIRI', 'UnsafeIRI', 'UnsafeURI'] as const;
  const iri = (): Term => {
    const type = pick(IRI_TYPES);
    return { value: pick([...times(6, () => () => template(type)), () => reference(type), token])() };
  };
  const blank = (): Term => ({ value: chance(50) ? template('BlankNode') : reference('BlankNode') });
  const literal = (): Term => {
    const value = chance(60) ? reference('Literal') : template('Literal');
    return pick<() => Term>([
      () => ({ value }),
      () => ({ value }),
      () => ({ value, language: 'en' }),
      () => ({ value, language: { field: 'lang' } }),
      () => ({ value, datatype: 'http://e/d' }),
      () => ({ value, datatype: template('IRI') }),
    ])();
  };
  const resource = (): Term => (chance(80) ? iri() : blank());
  // Rules that can meet are watched closely: many have a separate predicate.
  const predicate = (): Term => (chance(92) ? constant(`http://p/${below(8)}`) : { value: template('IRI') });

  const sources = times(2, source);
  const count = 1 + below(4);
  const ofMaps = times(count, () => below(2));
  const rule = (source: number): Rule => {
    const graph = pick([undefined, undefined, undefined, constant('http://e/g'), iri()]);
    const parent = below(count);
    return pick<() => Rule>([
      () => ({ predicate: predicate(), object: literal(), graph }),
      () => ({ predicate: predicate(), object: literal(), graph }),
      () => ({ predicate: predicate(), object: literal(), graph }),
      () => ({ predicate: predicate(), object: resource(), graph }),
      () => ({ predicate: predicate(), object: resource(), graph }),
      () => ({
        predicate: predicate(),
        object: {
          parent,
          // Without a condition, both are of one record.
          on: times((ofMaps[parent] === source ? 0 : 1) + below(2), () => ({ child: field(), parent: field() })),
        },
        graph,
      }),
    ])();
  };
  const maps: RandomMap[] = [];
  for (const source of ofMaps) {
    favourites = [];
    // Triples maps that are much alike can make the same statement.
    const other = chance(25) ? maps.at(-1) : undefined;
    const subject = other === undefined ? resource() : retyped(other.subject, pick(IRI_TYPES));
    favourites = fieldsOf(subject);
    const copied = (other?.rules ?? []).filter(({ object }) => !('parent' in object));
    // What the subject seems to say, under a predicate that no other map has.
    const own = { predicate: constant(`http://p/own${maps.length}`), object: { value: reference('Literal') }, graph: undefined };
    maps.push({ source, subject, rules: [own, ...times(1 + below(4), () => rule(source)), ...copied] });
  }
  return { base: pick(['http://e/', 'x:/']), sources, maps };
}

/** The mapping with joins of records with themselves, mostly by all fields of one of the subjects. */
export function withSelfJoins(mapping: RandomMapping, seed: number): RandomMapping {
  const { below, pick, times } = dice(seed);
  const chance = (percent: number): boolean => below(100) < percent;
  const field = (): Field => pick<Field>(['a', 'a', 'b', 'b', 'iri', 'many']);
  const subject = ({ subject: of }: RandomMap): Term => {
    const parts = times(1 + below(2), field).flatMap((one, i) => [i === 0 ? 'http://e/' : '-', { field: one }]);
    return chance(30) ? of : { value: { kind: 'template', type: 'IRI', parts } };
  };
  const maps = mapping.maps.map((of) => ({ ...of, subject: subject(of) }));
  const joins = (of: RandomMap): readonly Rule[] =>
    times(3, () => {
      const parent = pick(maps.flatMap(({ source }, i) => (source === of.source ? [i] : [])));
      const fields = new Set(fieldsOf(pick([of, maps[parent] as RandomMap]).subject));
      if (chance(25)) fields.add(field());
      const on = [...fields].slice(chance(15) ? 1 : 0).map((child) => ({ child, parent: chance(10) ? field() : child }));
      return { predicate: constant(`http://p/${below(8)}`), object: { parent, on }, graph: pick([undefined, constant('http://e/g')]) };
    });
  return { ...mapping, maps: maps.map((of) => ({ ...of, rules: [...of.rules, ...joins(of)] })) };
}

/** The mapping with logical targets on some of its terms. */
export function withTargets(mapping: RandomMapping, seed: number): RandomMapping {
  const { below, pick, times } = dice(seed);
  const term = <T extends Term>(of: T): T => (below(100) < 75 ? of : { ...of, targets: times(1 + below(2), () => pick([1, 2, 3])) });
  const rule = ({ predicate, object, graph }: Rule): Rule => ({
    predicate: term(predicate),
    object: 'parent' in object ? object : term(object),
    graph: graph === undefined ? undefined : term(graph),
  });
  return { ...mapping, maps: mapping.maps.map((map) => ({ ...map, subject: term(map.subject), rules: map.rules.map(rule) })) };
}

/** Texts of which each is in the lexical spaces of some datatypes, and an IRI or not. */
const FORMS = [
  ...['1', '-0', '+7', '007', '256', '1.5', '.5', '1,5', '1e3', 'INF', 'Infinity', 'NaN', '10.0.0.37', 'true', 'TRUE', ' 1', '', '0'],
  ...['2024-02-29', '2023-02-29', '28/02/2024', '2024-02-28T10:00:00Z', '2024-02-28 10:00:00', '24:00:00', '12:60:00', '2024', 'P1D'],
  ...['1 day', '0FB7', '0FB', 'D7c=', 'a b', 'a\nb', 'en-GB', 'en_GB', 'x<y', 'http://e/ü z', 'http://e/x'],
].map(text);
const WRONG_IRIS = ['a b', 'x<y', 'http://e/{x}', 'http://e/ü z', 'é|', '^', 'x\ny'].map(text);
/** The last ones are language tags, and names of datatypes. */
const TAGS = [
  ...['en_GB', '', 'e n', 'languages', '-', 'en-', '1', 'ü', 'en\n', 'DE', 'i-x-1'],
  ...['date', 'integer', 'boolean', 'string', 'decimal', 'gYear'],
].map(text);
const OBJECT: Scalar = { written: '', json: '{"no":"text"}', literal: '', isObject: true };
const ROWS_WITH_FEW_FAULTS = 100;

/** The mapping with values that give no valid terms, terms that take any value, datatypes with a lexical space, and sources of legacy RML. */
export function withInvalid({ base, sources, maps }: RandomMapping, seed: number): RandomMapping {
  const { below, pick, times } = dice(seed);
  const chance = (percent: number): boolean => below(100) < percent;
  const share = (sources[0] as Source).records.length > ROWS_WITH_FEW_FAULTS ? 3 : pick([5, 15, 40]);
  const source = ({ format, records }: Source): Source => {
    const values = { iri: WRONG_IRIS, lang: TAGS } as Partial<Record<Field, readonly Scalar[]>>;
    const objects = format.startsWith('json') && chance(40) ? 4 : 0;
    const changed = (name: Field, of: readonly Scalar[]): readonly Scalar[] =>
      of.map((one) => (chance(objects) ? OBJECT : chance(share) ? pick(values[name] ?? FORMS) : one));
    const made = records.map((record) => Object.fromEntries(FIELDS.map((name) => [name, changed(name, record[name])])) as typeof record);
    // Equal rows of CSV may be read once.
    return {
      format,
      records: made.flatMap((record) => (chance(20) ? [record, record] : [record])),
      ...(chance(65) ? { isLegacy: true } : {}),
    };
  };
  const any = (types: readonly TermType[]): Reference => ({
    kind: 'reference',
    type: pick(types),
    field: pick(['iri', 'iri', 'iri', 'a', 'b', 'many', 'nested']),
  });
  const iri = (): Term => ({ value: any(['IRI', 'IRI', 'IRI', 'URI']) });
  const datatype = (): string | Template =>
    chance(20) ? { kind: 'template', type: 'IRI', parts: [XSD, { field: 'lang' }] } : XSD + pick(Object.keys(XSD_PATTERNS));
  const object = (of: Term): Term => {
    if (chance(15)) return iri();
    if (of.value.kind === 'constant' || of.value.type !== 'Literal' || of.language !== undefined || chance(40)) return of;
    return chance(25) ? { value: of.value, language: { field: 'lang' } } : { value: of.value, datatype: datatype() };
  };
  const rule = ({ predicate, object: made, graph }: Rule): Rule => ({
    predicate: chance(12) ? iri() : predicate,
    object: 'parent' in made ? made : object(made),
    graph: graph !== undefined && chance(25) ? iri() : graph,
  });
  const map = (of: RandomMap): RandomMap => ({
    source: of.source,
    subject: chance(15) ? iri() : of.subject,
    rules: [
      ...of.rules.map(rule),
      ...times(below(3), () => ({ ...(pick(of.rules) as Rule), object: object({ value: any(['Literal']) }) })),
    ],
  });
  return { base, sources: sources.map(source), maps: maps.map(map) };
}

/** The same template, as IRIs of another type. */
const retyped = (term: Term, type: TermType): Term =>
  term.value.kind === 'template' && term.value.type !== 'BlankNode' ? { ...term, value: { ...term.value, type } } : term;

function fieldsOf({ value }: Term): readonly Field[] {
  if (value.kind === 'constant') return [];
  return value.kind === 'reference' ? [value.field] : value.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field]));
}

// ---------------------------------------------------------------- as files

const JSON_REFERENCES = { many: '$.many[*]', nested: '$.nested[*][*]' } as const;
const XML_REFERENCES = { a: '@a', iri: '@iri', lang: '@lang', many: 'many', nested: 'group/nested' } as const;

function referenceTo(name: Field, { format }: Source): string {
  if (format === 'csv') return name;
  if (format === 'xml') return (XML_REFERENCES as Partial<Record<Field, string>>)[name] ?? name;
  return (JSON_REFERENCES as Partial<Record<Field, string>>)[name] ?? `$.${name}`;
}

/** The field that a reference names. */
export function fieldNamed(reference: string, source: Source): Field {
  const field = FIELDS.find((name) => referenceTo(name, source) === reference);
  if (field === undefined) throw new Error(`no field is referred to as ${reference}`);
  return field;
}

export const fileName = ({ format }: Source, index: number): string => `f${index}.${format}`;

/** Each term map has a line, which ends with its place as a comment: `# 0 1 object`, of a triples map and a rule. */
export function turtle({ sources, maps }: RandomMapping): string {
  const map = ({ source: index, subject, rules }: RandomMap, i: number): string => {
    const source = sources[index] as Source;
    const { format } = source;
    const expression = (value: Term['value']): string => {
      if (value.kind === 'constant') return `rml:constant ${value.token}`;
      const type = `rml:termType rml:${value.type}`;
      if (value.kind === 'reference') return `rml:reference "${referenceTo(value.field, source)}" ; ${type}`;
      const parts = value.parts.map((part) => (typeof part === 'string' ? part : `{${referenceTo(part.field, source)}}`));
      return `rml:template "${parts.join('')}" ; ${type}`;
    };
    const term = ({ value, language, datatype, targets = [] }: Term, place: string): string =>
      [
        `${expression(value)} # ${place}\n`,
        ...targets.map((target) => `; rml:logicalTarget <#t${target}>`),
        language === undefined
          ? ''
          : typeof language === 'string'
            ? `; rml:language "${language}"`
            : `; rml:languageMap [ rml:reference "${referenceTo(language.field, source)}" ] # ${place} language\n`,
        datatype === undefined
          ? ''
          : typeof datatype === 'string'
            ? `; rml:datatype <${datatype}>`
            : `; rml:datatypeMap [ ${expression(datatype)} ]`,
      ].join(' ');
    const object = (of: Rule['object'], place: string): string => {
      if (!('parent' in of)) return term(of, place);
      const parents = sources[(maps[of.parent] as RandomMap).source] as Source;
      const conditions = of.on.map(
        ({ child, parent }) =>
          `; rml:joinCondition [ rml:child "${referenceTo(child, source)}" ; rml:parent "${referenceTo(parent, parents)}" ]`,
      );
      return `rml:parentTriplesMap <#m${of.parent}> ${conditions.join(' ')}`;
    };
    const logicalSource = (path: string): string => {
      if (source.isLegacy)
        return `old:logicalSource [ old:source "${path}" ; old:referenceFormulation ql:${formulation} ${iterator.replace('rml:', 'old:')} ]`;
      const file = `[ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ]`;
      return `rml:logicalSource [ rml:source ${file} ; rml:referenceFormulation rml:${formulation} ${iterator} ]`;
    };
    const formulation = { csv: 'CSV', json: 'JSONPath', jsonl: 'JSONPath', xml: 'XPath' }[format];
    const iterator = { csv: '', json: '; rml:iterator "$[*]"', jsonl: '; rml:iterator "$[*]"', xml: '; rml:iterator "/r/x"' }[format];
    return [
      `<#m${i}> ${logicalSource(fileName(source, index))}`,
      `; rml:subjectMap [ ${term(subject, `${i} subject`)} ]`,
      ...rules.map(
        ({ predicate, object: made, graph }, at) =>
          `; rml:predicateObjectMap [ rml:predicateMap [ ${term(predicate, `${i} ${at} predicate`)} ] ; rml:objectMap [ ${object(made, `${i} ${at} object`)} ] ${graph === undefined ? '' : `; rml:graphMap [ ${term(graph, `${i} ${at} graph`)} ]`} ]`,
      ),
      '.',
    ].join('\n  ');
  };
  const targets = [1, 2, 3].map((target) => `<#t${target}> rml:target [ a rml:Target, rml:FilePath ; rml:path "t${target}.nq" ] .`);
  return `@prefix rml: <http://w3id.org/rml/> .\n@prefix old: <http://semweb.mmlab.be/ns/rml#> .\n@prefix ql: <http://semweb.mmlab.be/ns/ql#> .\n@base <http://e/> .\n${[...maps.map(map), ...targets].join('\n')}\n`;
}

export function document({ format, records }: Source): string {
  switch (format) {
    case 'csv': {
      const rows = [FIELDS, ...records.map((record) => FIELDS.map((name) => (record[name][0] as Scalar).written))];
      return `${rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n')}\n`;
    }
    case 'json':
      return `[${records.map(jsonOf).join(',\n')}]`;
    case 'jsonl':
      return `${records.map(jsonOf).join('\n')}\n`;
    case 'xml':
      return `<r>${records.map(xmlOf).join('\n')}</r>`;
  }
}

type Values = Source['records'][number];

/** What has no value is missing or null; nulls stand among several values, too. */
function jsonOf(record: Values, position: number): string {
  const one = (name: Field): string[] => {
    const [value] = record[name];
    return value !== undefined ? [`"${name}":${value.json}`] : position % 2 === 0 ? [] : [`"${name}":null`];
  };
  const many = record.many.map(({ json }) => json);
  const nested = record.nested.map(({ json }, i) => (i % 2 === 0 ? `[${json}]` : `[${json},null],[]`));
  const members = [...(['a', 'b', 'iri', 'lang'] as const).flatMap(one), `"many":[${many.join(',')}]`, `"nested":[${nested.join(',')}]`];
  return `{${members.join(',')}}`;
}

function xmlOf(record: Values): string {
  const safe = (value: string): string => value.replace(/[&<>"\n]/g, (c) => `&#${c.charCodeAt(0)};`);
  const elements = (name: Field): string => record[name].map(({ written }) => `<${name}>${safe(written)}</${name}>`).join('');
  const attributes = (['a', 'iri', 'lang'] as const).flatMap((name) => record[name].map(({ written }) => ` ${name}="${safe(written)}"`));
  return `<x${attributes.join('')}>${elements('b')}${elements('many')}<group>${elements('nested')}</group></x>`;
}
