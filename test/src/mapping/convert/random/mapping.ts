/**
 * Random mappings of today's RML for conversions: names, constants and templates with the characters that Turtle, JSONPath, templates and YARRRML
 * give a meaning to. Every record gives valid terms, and every value is a text that is there, which all languages read alike.
 */
import type { Random } from '../../../../support/random.ts';

type Format = 'csv' | 'json' | 'xml';

/** Columns that all formats have, and those with odd names. */
const PLAIN = ['id', 'k', 'iri', 'lang'] as const;
const ODD = [
  'a (b)',
  'c:d',
  'e~iri',
  'f\\g',
  'h{i}',
  'j$(k)',
  'l"m',
  "n'o",
  'p q',
  'ü',
  'r]s',
  't,u',
  '#v',
  '- w',
  'x: y',
  'true',
  '12',
  '@z',
  '%41',
  '$',
  '}',
] as const;

const TEXTS = [
  'null',
  '1.0',
  'true',
  '',
  '- x',
  '# c',
  'a # c',
  '{x}',
  '[',
  ']',
  'time:12',
  'ex:x',
  'foaf:name',
  'a: b',
  '$(id)',
  '\\$(id)',
  '$\\(id\\)',
  'a\\b',
  'a\\\\',
  '\n',
  'a\nb',
  'x~iri',
  'x~en~lang',
  '~',
  '~iri',
  '$',
  '"q"',
  "'s'",
  '@y',
  '&a',
  '*b',
  '!t',
  '%d',
  '|',
  '>',
  'é',
  '😀',
  ' lead',
  'trail ',
  '2024-01-01',
  '0x1F',
  '1_000',
  'yes',
  '=',
  '<<',
  'a\tb',
  ',',
  'a, b',
  '?',
  'x(y)',
  ')',
  '{',
  '}',
  '}{',
  '\\',
  '\\{',
  'http://e/x',
  '_:b',
  '<x>',
  '`',
  '\r',
  '.5',
  '1e3',
  'NaN',
  '...',
  '---',
] as const;

const IRIS = [
  'http://e/x',
  'http://e/a(b)',
  "http://e/a'b",
  'http://e/$(id)',
  'http://e/x~iri',
  'urn:x:y',
  'http://e/a,b',
  'http://e/#f',
  'http://e/é',
  'http://e/n#a/b',
  'http://e/',
  'http://xmlns.com/foaf/0.1/name',
  'http://www.w3.org/2000/01/rdf-schema#label',
  'http://example.com/ns#p',
  'http://example.com/ns#p.q',
  'http://e/x~en~lang',
  'tag:a:b~iri',
] as const;

/** Some values are in the lexical spaces of those of XML Schema, most are not. */
const DATATYPES = [
  'http://www.w3.org/2001/XMLSchema#token',
  'http://www.w3.org/2001/XMLSchema#language',
  'http://www.w3.org/2001/XMLSchema#integer',
  'http://e/d',
  'http://example.com/ns#d',
] as const;

/** As Turtle writes it. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u0085', '\\u0085');
const iriOf = (iri: string): string => `<${iri}>`;
/** A constant part of a template, or a reference in one. */
const inTemplate = (text: string): string => text.replace(/[\\{}]/g, '\\$&');

export interface RandomMapping {
  readonly text: string;
  readonly files: Readonly<Record<string, string>>;
}

interface Table {
  readonly name: string;
  readonly format: Format;
  readonly columns: readonly string[];
  readonly source: string;
  reference(column: string): string;
}

const call = (name: string, ...inputs: readonly (readonly [parameter: string, value: string])[]): string =>
  `rml:functionExecution [ rml:function grel:${name} ; ${inputs.map(([parameter, value]) => `rml:input [ rml:parameter grel:${parameter} ; rml:inputValueMap [ ${value} ] ]`).join(' ; ')} ]`;

export function inventMapping(random: Random): RandomMapping {
  const files: Record<string, string> = {};
  const tables = ['one', 'two'].map((name) => tableOf(random, name, files));
  const views = random.chance(0.2) ? [viewOf(random, tables)] : [];
  const sources = [...tables, ...views.map(({ table }) => table)];
  const usesTargets = random.chance(0.2);
  const ofMaps = Array.from({ length: random.between(1, 3) }, () => random.pick(sources));
  const maps = ofMaps.map((table, i) => new MapWriter(random, table, ofMaps, usesTargets).map(i));
  const targets = [1, 2].map(
    (target) =>
      `<#t${target}> a rml:LogicalTarget ; rml:target [ a rml:Target, rml:FilePath ; rml:path "t${target}.nq" ] ; rml:serialization formats:N-Quads .\n`,
  );
  const text = `@prefix rml: <http://w3id.org/rml/> .
@prefix formats: <http://www.w3.org/ns/formats/> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
@prefix ex: <http://example.com/ns#> .
@prefix a: <http://example.com/a-prefix-that-is-a-keyword/> .
@base <http://example.com/map> .
${views.map((view) => view.text).join('')}${maps.join('')}${usesTargets ? targets.join('') : ''}`;
  return { text, files };
}

function tableOf(random: Random, name: string, files: Record<string, string>): Table {
  const format = random.pick<Format>(['csv', 'csv', 'json', 'json', 'xml']);
  const columns = [...PLAIN, ...(format === 'xml' ? [] : random.shuffle(ODD).slice(0, 4))];
  const rows = Array.from({ length: random.between(1, 4) }, (_, i) =>
    columns.map((column) => {
      if (column === 'id') return String(i + 1);
      if (column === 'iri') return `http://e/${random.pick(['x', 'y', 'é', 'a(b)'])}${i}`;
      if (column === 'lang') return random.pick(['en', 'de', 'en-GB']);
      return random.pick(['x', 'x', 'y', 'a b', '$(id)', 'ü', '1', 'q"', '{k}']);
    }),
  );
  const path = `${name}${random.pick(['', ' file', '~x', "'s"])}.${format}`;
  const file = (more: string): string =>
    `[ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path ${quoted(path)}${random.chance(0.05) ? ` ; rml:null ${quoted(random.pick(['NA', '$(x)', '"']))}` : ''} ] ; ${more} ]`;
  if (format === 'csv') {
    files[path] = `${[columns, ...rows].map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n')}\n`;
    return { name, format, columns, source: file('rml:referenceFormulation rml:CSV'), reference: (column) => column };
  }
  if (format === 'json') {
    files[path] = JSON.stringify({ 'all rows': rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i], cell]))) });
    const iterator = random.pick([
      "$['all rows'][*]",
      '$["all rows"][*]',
      "$['all rows'][?@.id != '9']",
      "$['all rows'][?@['k'] != '$(x)']",
    ]);
    const bracketed = (column: string): string => `$['${column.replace(/['\\]/g, '\\$&')}']`;
    return {
      name,
      format,
      columns,
      source: file(`rml:referenceFormulation rml:JSONPath ; rml:iterator ${quoted(iterator)}`),
      reference: (column) => (/^[a-z]+$/.test(column) && random.chance(0.7) ? random.pick([column, `$.${column}`]) : bracketed(column)),
    };
  }
  const safe = (value: string): string => value.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const [, ...others] = columns;
  files[path] =
    `<r>${rows.map(([id, ...row]) => `<x id="${safe(id as string)}">${row.map((cell, i) => `<${others[i]}>${safe(cell)}</${others[i]}>`).join('')}</x>`).join('')}</r>`;
  return {
    name,
    format,
    columns,
    source: file(`rml:referenceFormulation rml:XPath ; rml:iterator ${quoted(random.pick(['/r/x', "/r/x[@id != '9']"]))}`),
    reference: (column) => (column === 'id' ? '@id' : column),
  };
}

/** A view on one of the tables, perhaps joined with the other. */
function viewOf(random: Random, tables: readonly Table[]): { readonly table: Table; readonly text: string } {
  const table = random.pick(tables);
  const field = (name: string, expression: string): string => `rml:field [ rml:fieldName ${quoted(name)} ; ${expression} ]`;
  const name = (): string => random.pick(table.columns);
  const parent = random.pick(tables);
  const joined = random.chance(0.4);
  const text = [
    `<#view> rml:viewOn ${table.source}`,
    ...PLAIN.map((column) => field(column, `rml:reference ${quoted(table.reference(column))}`)),
    field(
      'made',
      random.pick([
        `rml:template ${quoted(`${inTemplate(random.pick(TEXTS))}{${inTemplate(table.reference(name()))}}`)}`,
        `rml:constant ${quoted(random.pick(TEXTS.filter((one) => one !== '')))}`,
        call('toUpperCase', ['valueParam', `rml:reference ${quoted(table.reference(name()))}`]),
      ]),
    ),
    ...(joined
      ? [
          `rml:${random.pick(['leftJoin', 'innerJoin'])} [ rml:parentLogicalView <#parent> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ; ${field('other', 'rml:reference "id"')} ]`,
        ]
      : []),
  ].join(' ;\n  ');
  const parentText = `<#parent> rml:viewOn ${parent.source} ; ${['id', 'k'].map((column) => field(column, `rml:reference ${quoted(parent.reference(column))}`)).join(' ; ')} .\n`;
  const columns = [...PLAIN, 'made'];
  return {
    table: { name: 'view', format: table.format, columns, source: '<#view>', reference: (column) => column },
    text: `${joined ? parentText : ''}${text} .\n`,
  };
}

class MapWriter {
  readonly #random: Random;
  readonly #table: Table;
  readonly #others: readonly Table[];
  readonly #usesTargets: boolean;

  constructor(random: Random, table: Table, others: readonly Table[], usesTargets: boolean) {
    this.#random = random;
    this.#table = table;
    this.#others = others;
    this.#usesTargets = usesTargets;
  }

  map(number: number): string {
    const random = this.#random;
    const rules = Array.from({ length: random.between(1, 4) }, () => this.#rule());
    const classes = random.chance(0.3) ? ` ; rml:class ${iriOf(random.pick(IRIS))}` : '';
    const subject = random.pick([() => this.#iri(), () => this.#iri(), () => this.#iri(), () => this.#blank()])();
    return `<#m${number}> a rml:TriplesMap ; rml:logicalSource ${this.#table.source} ;\n  rml:subjectMap [ ${subject}${this.#condition(0.1)}${this.#target()}${classes}${this.#graphs(0.2)} ]${rules.join('')} .\n`;
  }

  #name(): string {
    return this.#random.pick(this.#table.columns);
  }

  #reference(column = this.#name(), table = this.#table): string {
    return quoted(table.reference(column));
  }

  #hole(): string {
    return `{${inTemplate(this.#table.reference(this.#name()))}}`;
  }

  #target(): string {
    const random = this.#random;
    return this.#usesTargets && random.chance(0.2) ? ` ; rml:logicalTarget <#t${random.between(1, 2)}>` : '';
  }

  #template(start: string): string {
    const random = this.#random;
    const between = random.pick(['', '/', '-', '%', '(', ')', '$(', "'", ':', '~', ',', '~iri', start.includes(':') ? '$$' : '\\$']);
    const end = random.pick(['', '', '~iri', ')', '/', '~en~lang']);
    return `rml:template ${quoted(`${inTemplate(start)}${this.#hole()}${inTemplate(between)}${random.chance(0.5) ? this.#hole() : ''}${inTemplate(end)}`)}`;
  }

  #iri(): string {
    const random = this.#random;
    return random.pick([
      () => this.#template(random.pick(['http://e/', 'http://example.com/ns#', 'urn:x:'])),
      () =>
        this.#template('http://e/') +
        (random.chance(0.1) ? random.pick([' ; rml:termType rml:UnsafeIRI', ' ; rml:termType rml:URI']) : ' ; rml:termType rml:IRI'),
      () => `rml:constant ${iriOf(random.pick(IRIS))}`,
      () => `rml:reference ${this.#reference('iri')} ; rml:termType rml:IRI`,
      () => `${call('toUpperCase', ['valueParam', `rml:reference ${this.#reference('iri')}`])} ; rml:termType rml:IRI`,
    ])();
  }

  #blank(): string {
    return this.#random.pick([
      () => `${this.#template('b')} ; rml:termType rml:BlankNode`,
      () => `rml:reference ${this.#reference('id')} ; rml:termType rml:BlankNode`,
      () => 'rml:termType rml:BlankNode',
    ])();
  }

  #constant(): string {
    const random = this.#random;
    const text = quoted(random.pick(TEXTS));
    return `rml:constant ${text}${random.pick(['', '', '', '@en', '@de-AT', `^^${iriOf(random.pick(DATATYPES))}`])}`;
  }

  #call(): string {
    const random = this.#random;
    const value = (): string =>
      random.pick([
        () => `rml:reference ${this.#reference()}`,
        () => `rml:constant ${quoted(random.pick(TEXTS.filter((one) => one !== '')))}`,
        () => this.#template(random.pick(TEXTS)),
        () => call('toLowerCase', ['valueParam', `rml:reference ${this.#reference()}`]),
      ])();
    return random.pick([
      () => call('toUpperCase', ['valueParam', value()]),
      () =>
        call(
          'string_replace',
          ['valueParam', value()],
          ['param_find', `rml:constant ${quoted(random.pick(['x', '$(id)', '\\']))}`],
          ['param_replace', `rml:constant ${quoted(random.pick(['y', '~iri', '"']))}`],
        ),
    ])();
  }

  #condition(probability: number): string {
    const random = this.#random;
    if (!random.chance(probability)) return '';
    const value = `rml:reference ${this.#reference()}`;
    const sub = `rml:constant ${quoted(random.pick(['x', '$(', '"', '1', '~lang']))}`;
    const contains = call('string_contains', ['valueParam', value], ['string_sub', sub]);
    return ` ; rml:condition [ ${random.pick([contains, call('boolean_not', ['bool_b', contains])])} ]`;
  }

  #literal(): string {
    const random = this.#random;
    const value = random.pick([
      () => `rml:reference ${this.#reference()}`,
      () => `rml:reference ${this.#reference()}`,
      () => `${this.#template(random.pick(TEXTS))} ; rml:termType rml:Literal`,
      () => this.#call(),
    ])();
    const kind = random.pick([
      () => '',
      () => '',
      () => ` ; rml:language ${quoted(random.pick(['en', 'de-AT']))}`,
      () => ` ; rml:languageMap [ rml:reference ${this.#reference('lang')}${this.#target()} ]`,
      () => ` ; rml:datatype ${iriOf(random.pick(DATATYPES))}`,
      () => ` ; rml:datatype ${iriOf(random.pick(DATATYPES))}`,
      ...(random.chance(0.4)
        ? [
            () => ` ; rml:datatypeMap [ ${this.#template('http://e/')}${this.#target()} ]`,
            () => ` ; rml:datatypeMap [ rml:reference ${this.#reference('iri')} ]`,
          ]
        : []),
    ])();
    return value + kind;
  }

  #parent(): string {
    const random = this.#random;
    const number = random.between(0, this.#others.length - 1);
    const other = this.#others[number] as Table;
    const count = other === this.#table && random.chance(0.4) ? 0 : random.pick([1, 1, 2]);
    const conditions = Array.from({ length: count }, () => {
      const [child, parent] = random.pick([
        ['k', 'k'],
        ['id', 'id'],
        ['k', 'id'],
        [this.#name(), random.pick(other.columns)],
      ] as const);
      if (random.chance(0.2))
        return ` ; rml:joinCondition [ rml:childMap [ ${call('toUpperCase', ['valueParam', `rml:reference ${this.#reference(child)}`])} ] ; rml:parentMap [ rml:template ${quoted(`{${inTemplate(other.reference(parent))}}`)} ] ]`;
      return ` ; rml:joinCondition [ rml:child ${this.#reference(child)} ; rml:parent ${this.#reference(parent, other)} ]`;
    });
    return `rml:parentTriplesMap <#m${number}>${conditions.join('')}`;
  }

  #graphs(probability: number): string {
    const random = this.#random;
    if (!random.chance(probability)) return '';
    return random.pick([
      () => ` ; rml:graph ${iriOf(random.pick(IRIS))}`,
      () => ' ; rml:graph rml:defaultGraph',
      () => ` ; rml:graphMap [ ${this.#iri()}${this.#condition(0.1)}${this.#target()} ]`,
      () => ` ; rml:graph ${iriOf(random.pick(IRIS))} ; rml:graphMap [ ${this.#template('http://e/g')} ]`,
    ])();
  }

  #rule(): string {
    const random = this.#random;
    const predicate = random.chance(0.8)
      ? `rml:predicate ${Array.from({ length: random.pick([1, 1, 1, 2]) }, () => iriOf(random.pick(IRIS))).join(' , ')}`
      : `rml:predicateMap [ ${this.#template('http://e/p')}${this.#target()} ]`;
    const object = (): string =>
      random.pick([
        () => `rml:objectMap [ ${this.#literal()}${this.#condition(0.15)}${this.#target()} ]`,
        () => `rml:objectMap [ ${this.#literal()}${this.#condition(0.15)}${this.#target()} ]`,
        () => `rml:objectMap [ ${this.#constant()}${this.#condition(0.15)}${this.#target()} ]`,
        () => `rml:object ${iriOf(random.pick(IRIS))}`,
        () => `rml:objectMap [ ${this.#iri()}${this.#condition(0.15)}${this.#target()} ]`,
        () => `rml:objectMap [ ${this.#blank()} ]`,
        () => `rml:objectMap [ ${this.#parent()} ]`,
      ])();
    const objects = Array.from({ length: random.pick([1, 1, 2]) }, object);
    return ` ;\n  rml:predicateObjectMap [ ${predicate} ; ${objects.join(' ; ')}${this.#graphs(0.2)} ]`;
  }
}
