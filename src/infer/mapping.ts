/** Entities and their links → a mapping in Turtle, with comments that say why each part is as it is. */
import { FORMULATIONS, isOfProject, SOURCE_NAMESPACE } from '../core/input/formats.ts';
import { XSD } from '../core/value.ts';
import { type Node, writeTurtle } from '../mapping/convert/turtle.ts';
import type { RdfTerm } from '../mapping/model/model.ts';
import type { Entity, Field, KeyPart } from './describe.ts';
import { datatypeOf } from './kinds.ts';
import { findLinks, type Link } from './links.ts';
import { classNameOf, localNameOf, UniqueNames, withoutKey } from './names.ts';
import { PATHS } from './paths.ts';
import type { SampledSource } from './sample.ts';

const RML = 'http://w3id.org/rml/';
const CSVW = 'http://www.w3.org/ns/csvw#';
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

export interface MappingOptions {
  /** IRIs of the graph begin with it. */
  readonly base: string;
  /** Today's RML reads natural datatypes, and can say which texts are null. YARRRML, which is legacy RML, cannot. */
  readonly language: 'rml' | 'yarrrml';
  /** Lines of comment in front of the mapping. */
  readonly heading: readonly string[];
}

/** @returns undefined: there is nothing to map */
export function writeMapping(entities: readonly Entity[], options: MappingOptions): string | undefined {
  if (entities.length === 0) return undefined;
  return new MappingWriter(entities, options).text();
}

type Property = readonly [property: string, object: RdfTerm];

class MappingWriter {
  readonly #entities: readonly Entity[];
  readonly #options: MappingOptions;
  readonly #links: readonly Link[];
  readonly #nodes: Node[] = [];
  readonly #names = new Map<Entity, string>();
  #blanks = 0;

  constructor(entities: readonly Entity[], options: MappingOptions) {
    this.#entities = entities;
    this.#options = options;
    this.#links = findLinks(entities);
    const names = new UniqueNames();
    for (const entity of entities) {
      const within = entity.parent === undefined ? [] : [classNameOf([...entity.parent.entity.words, ...entity.words])];
      this.#names.set(entity, names.of(classNameOf(entity.words), ...within));
    }
  }

  text(): string {
    const { base, heading } = this.#options;
    for (const entity of this.#entities) this.#triplesMap(entity);
    const prefixes = new Map([
      ['rml', RML],
      ['csvw', CSVW],
      ['qms', SOURCE_NAMESPACE],
      ['xsd', XSD],
      ['ex', `${base}ns#`],
    ]);
    return writeTurtle(this.#nodes, prefixes, { heading: heading.map(inComment), base: undefined });
  }

  #triplesMap(entity: Entity): void {
    const links = this.#links.filter(({ from }) => from === entity);
    const children = this.#entities.filter(({ parent }) => parent?.entity === entity);
    const at = this.#nodes.length;
    const statements: Property[] = [
      [`${RML}logicalSource`, this.#logicalSource(entity)],
      [`${RML}subjectMap`, this.#subjectMap(entity)],
    ];
    const names = new UniqueNames();
    const pair = (predicate: string, object: readonly Property[]): void => {
      const pairs: Property[] = [
        [`${RML}predicate`, iri(`${this.#options.base}ns#${predicate}`)],
        [`${RML}objectMap`, this.#blank(object)],
      ];
      statements.push([`${RML}predicateObjectMap`, this.#blank(pairs)]);
    };
    for (const field of entity.fields) {
      const datatype = this.#datatype(entity, field);
      const datatypes: Property[] = datatype === undefined ? [] : [[`${RML}datatype`, iri(datatype)]];
      pair(names.of(predicateOf(field.names)), [[`${RML}reference`, literal(field.reference)], ...datatypes]);
    }
    for (const child of children) {
      if (entity.key.length === 0 || child.parent === undefined) continue;
      const { levels, name } = child.parent;
      const conditions = entity.key.map((part): [string, string] => [
        this.#reference(entity, part, 0),
        this.#reference(child, part, levels),
      ]);
      pair(names.of(predicateOf([name])), this.#join(child, conditions));
    }
    for (const { field, to } of links) {
      const wanted = withoutKey(field.names.at(-1) ?? '');
      const name = names.of(localNameOf(wanted), to.words.join('_'), `${predicateOf(field.names)}_link`);
      pair(name, this.#join(to, [[field.reference, (to.keyField as Field).reference]]));
    }
    const comments = this.#comments(entity, links).map(inComment);
    this.#nodes.splice(at, 0, {
      term: this.#id(entity),
      statements: statements.map(([property, object]) => ({ property, object })),
      comments,
    });
  }

  #id(entity: Entity): RdfTerm {
    return iri(`#${this.#names.get(entity)}`);
  }

  #blank(properties: readonly Property[]): RdfTerm {
    const term: RdfTerm = { kind: 'blank', value: `b${this.#blanks++}` };
    this.#nodes.push({ term, statements: properties.map(([property, object]) => ({ property, object })), comments: [] });
    return term;
  }

  #join(parent: Entity, conditions: readonly (readonly [child: string, parent: string])[]): readonly Property[] {
    return [
      [`${RML}parentTriplesMap`, this.#id(parent)],
      ...conditions.map(
        ([child, key]): Property => [
          `${RML}joinCondition`,
          this.#blank([
            [`${RML}child`, literal(child)],
            [`${RML}parent`, literal(key)],
          ]),
        ],
      ),
    ];
  }

  #logicalSource({ source, iterator }: Entity): RdfTerm {
    return this.#blank([
      [`${RML}source`, this.#blank(this.#source(source))],
      [`${RML}referenceFormulation`, this.#formulation(source)],
      ...(iterator === undefined ? [] : [[`${RML}iterator`, literal(iterator)] as const]),
    ]);
  }

  #source({ path, formulation, delimiter, quote, encoding }: SampledSource): readonly Property[] {
    const nulls: Property[] = formulation === 'csv' && this.#options.language === 'rml' ? [[`${RML}null`, literal('')]] : [];
    if (formulation !== 'csv' || (delimiter === undefined && quote === undefined && encoding === undefined)) {
      const encoded: Property[] = encoding === undefined ? [] : [[`${RML}encoding`, literal(encoding)]];
      const file: Property[] = [
        [RDF_TYPE, iri(`${RML}FilePath`)],
        [`${RML}root`, iri(`${RML}MappingDirectory`)],
        [`${RML}path`, literal(path)],
      ];
      return [...file, ...encoded, ...nulls];
    }
    const dialect: Property[] = [
      ...(delimiter === undefined ? [] : [[`${CSVW}delimiter`, literal(delimiter)] as const]),
      ...(quote === undefined ? [] : [[`${CSVW}quoteChar`, literal(quote)] as const]),
      ...(encoding === undefined ? [] : [[`${CSVW}encoding`, literal(encoding)] as const]),
    ];
    return [[RDF_TYPE, iri(`${CSVW}Table`)], [`${CSVW}url`, literal(path)], [`${CSVW}dialect`, this.#blank(dialect)], ...nulls];
  }

  #formulation({ formulation, namespaces }: SampledSource): RdfTerm {
    if (namespaces.size === 0) return iri(`${isOfProject(formulation) ? SOURCE_NAMESPACE : RML}${FORMULATIONS[formulation].name}`);
    const all = [...namespaces].map(
      ([prefix, namespace]): Property => [
        `${RML}namespace`,
        this.#blank([
          [RDF_TYPE, iri(`${RML}Namespace`)],
          [`${RML}namespacePrefix`, literal(prefix)],
          [`${RML}namespaceURL`, literal(namespace)],
        ]),
      ],
    );
    return this.#blank([[RDF_TYPE, iri(`${RML}XPathReferenceFormulation`)], ...all]);
  }

  #subjectMap(entity: Entity): RdfTerm {
    const { base } = this.#options;
    const subject: Property =
      entity.key.length === 0
        ? [`${RML}termType`, iri(`${RML}BlankNode`)]
        : [`${RML}template`, literal(this.#template(entity, 0, entity.source))];
    return this.#blank([subject, [`${RML}class`, iri(`${base}ns#${this.#names.get(entity)}`)]]);
  }

  /** The template of a subject, as a record sees it that stands so many levels below. */
  #template(entity: Entity, ups: number, source: SampledSource): string {
    const { parent, keyField, key } = entity;
    const own = keyField === undefined ? '' : `/{${inTemplate(PATHS[source.formulation].reference(ups, keyField.steps))}}`;
    const isBelow = parent !== undefined && (keyField === undefined || key.length > 1);
    const before = isBelow ? `${this.#template(parent.entity, ups + parent.levels, source)}/` : this.#options.base;
    return `${before}${segmentOf(this.#names.get(entity) as string)}${own}`;
  }

  #reference({ source }: Entity, { ups, steps }: KeyPart, levels: number): string {
    return PATHS[source.formulation].reference(ups + levels, steps);
  }

  #datatype({ source }: Entity, { kind, isNatural }: Field): string | undefined {
    if (kind === 'text') return undefined;
    const isRead = isNatural && (source.isWorkbook || this.#options.language === 'rml');
    return isRead ? undefined : datatypeOf(kind);
  }

  // ---------------------------------------------------------------- comments

  #comments(entity: Entity, links: readonly Link[]): readonly string[] {
    const { source, iterator, records, isWhole, key, keyField, fields, notes, parent } = entity;
    const shown = fields.map((field) => [nameShown(field.reference), this.#told(entity, field, links)] as const);
    const width = Math.min(32, Math.max(0, ...shown.map(([name]) => name.length)));
    const keyless =
      key.length > 0 ? [] : ['No field is unique in each record and has a name like id, key or code: the records are blank nodes.'];
    const unlinked =
      parent !== undefined && parent.entity.key.length === 0
        ? [`Not linked to ${this.#names.get(parent.entity)}, whose records have no key.`]
        : [];
    const only = key.length > 0 && keyField === undefined ? ['One for each record around it, so it takes the key of that.'] : [];
    return [
      `${nameShown(source.path)}${iterator === undefined ? '' : ` ${nameShown(iterator)}`}, ${recordsTold(records, isWhole)}`,
      ...shown.map(([name, told]) => `  ${name.padEnd(width)}  ${told}`.trimEnd()),
      ...[...keyless, ...only, ...unlinked, ...notes].map((line) => `  ${line}`),
    ];
  }

  #told({ keyField, key, records }: Entity, field: Field, links: readonly Link[]): string {
    const { kind, isMany, missing, distinct } = field;
    const link = links.find((one) => one.field === field);
    const parts = [
      field.values === 0 ? 'no value yet' : kind,
      ...(isMany ? ['several in a record'] : []),
      ...(missing > 0 && field.values > 0 ? [`missing in ${missing} of ${records}`] : []),
      ...(field === keyField ? [key.length > 1 ? 'the key, unique within the record around it' : 'the key, unique in what was read'] : []),
      ...(link === undefined
        ? []
        : [
            `${link.matched} of ${distinct.size} values found as ${nameShown((link.to.keyField as Field).reference)} of ${this.#names.get(link.to)}: a join`,
          ]),
    ];
    return parts.join('; ');
  }
}

const iri = (value: string): RdfTerm => ({ kind: 'iri', value });
const literal = (value: string): RdfTerm => ({ kind: 'literal', value, datatype: `${XSD}string`, language: undefined });

const predicateOf = (names: readonly string[]): string =>
  names
    .map(localNameOf)
    .filter((name) => name !== '')
    .join('_');

/** `OrderLine` → `order-line`: different names stay different, since they differ in more than capitals. */
const segmentOf = (name: string): string => name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1-$2').toLowerCase();

const inTemplate = (reference: string): string => reference.replace(/[{}\\]/g, '\\$&');

/** Names with spaces or anything unusual stand in quotes. */
const nameShown = (name: string): string => (/^[\p{L}\p{N}_.$@*[\]'/:^#!-]+$/u.test(name) ? name : JSON.stringify(name));

/** A comment ends with its line. */
const inComment = (line: string): string =>
  ` ${line.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}`;

function recordsTold(records: number, isWhole: boolean): string {
  if (records === 0) return 'no record yet';
  if (isWhole) return records === 1 ? 'its only record' : `all of its ${records} records`;
  return records === 1 ? 'the first record' : `the first ${records} records`;
}
