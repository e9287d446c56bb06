/**
 * Mappings: a triples map for each pair of a source and a subject.
 *
 * @see https://rml.io/yarrrml/spec/#mappings
 */
import { Report } from '../model/diagnostics.ts';
import type { Origin, RdfTerm } from '../model/model.ts';
import { lookUpPart, reportUnknownName, type YarrrmlDocument } from './document.ts';
import { fieldsOf, itemsOf, type KeyOf, reportKind, textIn } from './keys.ts';
import { writeTargets } from './target.ts';
import {
  constantIri,
  type Scope,
  type TermType,
  termTypeIn,
  typeOf,
  withoutType,
  writeCall,
  writeCondition,
  writeJoin,
  writeValue,
} from './term.ts';
import type { Entry, Tree } from './tree.ts';
import { sourcesIn, writeSourceOrView, writeViews } from './view.ts';
import { iri, literal, named, type Subject, TooManyStatements, type Writer } from './writer.ts';

type Fields = ReadonlyMap<KeyOf<'mapping'>, Entry>;
type PairFields = ReadonlyMap<KeyOf<'predicate object'>, Entry>;

/** Mappings of views are today's RML, which alone has views. */
const OF_MAPPING = { document: 'old:logicalSource', table: 'rr:logicalTable', view: 'rml:logicalSource' } as const;

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** The triples maps that the mappings of all documents become. */
export class MappingWriter {
  readonly #report: Report;
  readonly #documents: readonly YarrrmlDocument[];
  readonly #document: YarrrmlDocument;
  readonly #writer: Writer;
  readonly #scope: Scope;

  constructor(report: Report, documents: readonly YarrrmlDocument[], document: YarrrmlDocument, writer: Writer) {
    this.#report = report;
    this.#documents = documents;
    this.#document = document;
    this.#writer = writer;
    this.#scope = { report, document, documents };
  }

  writeAll(): void {
    writeViews(this.#scope, this.#writer);
    for (const [name, entry] of this.#document.mappings) {
      try {
        this.#writeMapping(name, entry);
      } catch (error) {
        if (!(error instanceof TooManyStatements)) throw error;
        this.#reportTooLarge(name, entry);
        return;
      }
    }
  }

  /** Every further finding would be the same. */
  #reportTooLarge(name: string, { keyOrigin, value }: Entry): void {
    const fields = fieldsOf(this.#report, value, 'mapping') as Fields;
    const [sources, subjects] = [sourcesOf(fields).length, subjectsOf(fields).length];
    const most = this.#writer.statements.length;
    const message = `with the mapping ${JSON.stringify(name)} the document means more than ${most} statements of RML`;
    const [why, hint] =
      sources * subjects > 1
        ? [
            `: each pair of its ${sources} sources and ${subjects} subjects is a triples map`,
            'use several documents, or give the mapping fewer sources and subjects',
          ]
        : ['', 'use several documents; named sources, targets and conditions are repeated wherever they are used'];
    this.#report.error('too-large', keyOrigin, message + why, hint);
  }

  #writeMapping(name: string, { keyOrigin, value }: Entry): void {
    if (value.kind === 'nothing') {
      this.#report.warning('unused-term', keyOrigin, `the mapping ${JSON.stringify(name)} has no rules, so it makes nothing`, 'remove it');
      return;
    }
    const fields = fieldsOf(this.#report, value, 'mapping');
    if (fields === undefined) return;
    const sources = sourcesOf(fields);
    if (sources.length === 0) {
      const hint = 'add sources: [[people.csv~csv]]';
      this.#report.error('missing-logical-source', keyOrigin, `the mapping ${JSON.stringify(name)} has no source`, hint);
    }
    const ids = idsOf(name, this.#document, fields);
    for (const source of sources) {
      for (const subject of subjectsOf(fields)) {
        const map = this.#writer.subject(iri(ids.next().value as string), keyOrigin);
        map.set('rdf:type', named('rml:TriplesMap'), keyOrigin);
        writeSourceOrView(this.#scope, source, map, OF_MAPPING);
        this.#writeSubject(fields, subject, map.lead('rml:subjectMap', subject?.origin ?? keyOrigin));
        for (const pair of itemsOfPairs(fields)) this.#writePair(pair, map, source, subject, fields);
      }
    }
  }

  #writeTargets(entry: Entry | undefined, node: Subject): void {
    writeTargets(this.#report, entry, node, (name, origin) => {
      const found = lookUpPart(['targets'], name, this.#document, this.#documents);
      if (found === undefined) reportUnknownName(this.#report, ['targets'], name, origin, this.#documents);
      return found?.entry.value;
    });
  }

  #writeSubject(fields: Fields, subject: Tree | undefined, node: Subject): void {
    this.#writeTerm(node, subject, 'subject');
    this.#writeTargets(fields.get('targets'), node);
    this.#writeConditions(fields.get('conditions'), node);
    this.#writeGraphs(fields.get('graphs'), node);
  }

  #writeGraphs(entry: Entry | undefined, node: Subject): void {
    for (const graph of itemsOf(entry?.value)) this.#writeTerm(node.lead('rml:graphMap', graph.origin), graph, 'graph');
  }

  /** Each value has one condition; several must all hold, which one function has to say. */
  #writeConditions(entry: Entry | undefined, node: Subject): void {
    const [condition, second] = itemsOf(entry?.value);
    if (second !== undefined) {
      const hint = 'join them with a function: grel:boolean_and, with a parameter for each';
      this.#report.error('too-many', second.origin, 'a second condition in one place, which has one', hint);
    }
    if (condition !== undefined) writeCondition(this.#scope, node, condition);
  }

  /** A subject, predicate, graph or language: a text, or a map of its value or function. No tree: a blank node for each record. */
  #writeTerm(node: Subject, tree: Tree | undefined, place: 'subject' | 'predicate' | 'graph'): void {
    if (tree === undefined || tree.kind === 'nothing') {
      node.set('rml:termType', named('rml:BlankNode'), node.origin);
      return;
    }
    if (tree.kind === 'text') {
      const [text] = withoutType(tree.text);
      const isType = place === 'predicate' && text === 'a';
      if (isType) node.set('rml:constant', iri(RDF_TYPE), tree.origin);
      else writeValue(this.#scope, node, text, tree.origin, 'iri');
      node.set('rml:termType', named('rml:IRI'), tree.origin);
      return;
    }
    const fields = fieldsOf(this.#report, tree, place);
    if (fields === undefined) return;
    const value = textIn(this.#report, fields.get('value'));
    const type = termTypeIn(this.#report, fields.get('type'), 'iri');
    const isType = place === 'predicate' && value === 'a';
    this.#checkOneExpression(tree.origin, fields);
    if (isType) node.set('rml:constant', iri(RDF_TYPE), tree.origin);
    else if (value !== undefined) writeValue(this.#scope, node, withoutType(value)[0], fields.get('value')?.value.origin as Origin, type);
    else if (fields.has('function') || fields.has('parameters')) writeCall(this.#scope, node, fields);
    else if (type !== 'blank' && !fields.has('value'))
      this.#report.error('missing-expression', tree.origin, `a ${place} without a value`, 'add value: …, or function: …');
    node.set('rml:termType', typeOf(type), fields.get('type')?.value.origin ?? tree.origin);
    this.#writeTargets(fields.get('targets'), node);
  }

  #checkOneExpression(origin: Origin, fields: ReadonlyMap<string, Entry>): void {
    const given = ['value', 'function', 'mapping'].filter((key) => fields.has(key));
    if (given.length > 1) this.#report.error('too-many', origin, `${given.join(' and ')} in one place, which has one of them`);
  }

  // ---------------------------------------------------------------- predicates and objects

  #writePair(tree: Tree, map: Subject, source: Tree, subject: Tree | undefined, mapping: Fields): void {
    const pair = pairOf(this.#report, tree);
    if (pair === undefined) return;
    const { fields, predicates, objects } = pair;
    if (predicates.length === 0)
      this.#report.error('missing-predicate', tree.origin, 'a predicate object without a predicate', 'add predicates: …');
    if (objects.length === 0) this.#report.error('missing-object', tree.origin, 'a predicate object without an object', 'add objects: …');
    const node = map.lead('rml:predicateObjectMap', tree.origin);
    for (const predicate of predicates) this.#writeTerm(node.lead('rml:predicateMap', predicate.origin), predicate, 'predicate');
    const isType = predicates.some((one) => this.#isType(one));
    for (const object of objects) {
      const described = this.#describe(object, pair, isType);
      if (described === undefined) continue;
      this.#writeObject(described, node);
      this.#writeInverse(described, source, subject, mapping, fields);
    }
    this.#writeGraphs(fields?.get('graphs'), node);
  }

  #isType(tree: Tree): boolean {
    if (tree.kind !== 'text') return false;
    const text = withoutType(tree.text)[0];
    return text === 'a' || text === RDF_TYPE || (text === 'rdf:type' && this.#document.prefixes.get('rdf') === RDF_TYPE.slice(0, -4));
  }

  /** An object with what its predicate object says of all objects. */
  #describe(tree: Tree, pair: Pair, isType: boolean): DescribedObject | undefined {
    const report = this.#report;
    const shared = { datatype: pair.datatype, language: pair.language, conditions: pair.fields?.get('conditions') };
    const inverse = pair.fields?.get('inversepredicates');
    const general = termTypeIn(report, pair.fields?.get('type'), isType ? 'iri' : 'literal');
    if (tree.kind === 'text') {
      const [text, isIri] = withoutType(tree.text);
      return { ...shared, origin: tree.origin, value: [text, tree.origin], fields: undefined, type: isIri ? 'iri' : general, inverse };
    }
    if (tree.kind === 'list') {
      const [value, mark, ...others] = tree.items;
      if (value?.kind !== 'text' || (mark !== undefined && mark.kind !== 'text') || others.length > 0) {
        reportKind(
          report,
          tree,
          'an object is a text, a map, or a list of a value and its datatype or language',
          'write [$(age), xsd:integer]',
        );
        return undefined;
      }
      const [text, isIri] = withoutType(value.text);
      const marked = mark === undefined ? {} : markOf(mark.text, mark.origin);
      return {
        ...shared,
        ...marked,
        origin: tree.origin,
        value: [text, value.origin],
        fields: undefined,
        type: isIri ? 'iri' : general,
        inverse,
      };
    }
    const fields = fieldsOf(report, tree, 'object');
    if (fields === undefined) return undefined;
    this.#checkOneExpression(tree.origin, fields);
    const entry = fields.get('value');
    const written = textIn(report, entry);
    const [text, isIri] = written === undefined ? [undefined, false] : withoutType(written);
    const own = markedIn(report, fields);
    const conditions = [fields.get('conditions'), shared.conditions].filter((one) => one !== undefined);
    const [condition, second] = conditions;
    if (second !== undefined && !fields.has('mapping')) {
      const hint = 'join them with a function: grel:boolean_and, with a parameter for each';
      report.error('too-many', condition?.keyOrigin as Origin, 'a condition of an object beside one of its predicate object', hint);
    }
    return {
      origin: tree.origin,
      datatype: own.datatype ?? (own.language === undefined ? shared.datatype : undefined),
      language: own.language ?? (own.datatype === undefined ? shared.language : undefined),
      conditions: fields.has('mapping') ? fields.get('conditions') : condition,
      ofPair: fields.has('mapping') ? shared.conditions : undefined,
      value: text === undefined || entry === undefined ? undefined : [text, entry.value.origin],
      fields,
      type: termTypeIn(report, fields.get('type'), isIri ? 'iri' : general),
      inverse: fields.get('inversepredicates') ?? inverse,
    };
  }

  #writeObject(object: DescribedObject, pair: Subject): void {
    if (object.fields?.has('mapping')) this.#writeReferences(object, object.fields, pair);
    else this.#writeObjectTerm(object, pair.lead('rml:objectMap', object.origin));
  }

  #writeObjectTerm({ origin, value, fields, type, datatype, language, conditions }: DescribedObject, node: Subject): void {
    if (value !== undefined) writeValue(this.#scope, node, value[0], value[1], type);
    else if (fields?.has('function') || fields?.has('parameters')) writeCall(this.#scope, node, fields);
    else if (type !== 'blank' && !fields?.has('value'))
      this.#report.error('missing-expression', origin, 'an object without a value', 'add value: …, function: …, or mapping: …');
    node.set('rml:termType', typeOf(type), origin);
    if (datatype !== undefined) this.#writeDatatype(datatype, node);
    if (language !== undefined) this.#writeLanguage(language, node);
    this.#writeTargets(fields?.get('targets'), node);
    this.#writeConditions(conditions, node);
  }

  #writeDatatype([text, origin]: readonly [string, Origin], node: Subject): void {
    if (text.includes('$(')) {
      writeValue(this.#scope, node.lead('rml:datatypeMap', origin), text, origin, 'iri');
      return;
    }
    const datatype = constantIri(this.#scope, text, origin, 'a datatype');
    if (datatype !== undefined) node.set('rml:datatype', datatype, origin);
  }

  #writeLanguage([text, origin]: Language, node: Subject): void {
    if (typeof text === 'string' && !text.includes('$(')) {
      node.set('rr:language', literal(text), origin);
      return;
    }
    const map = node.lead('rml:languageMap', origin);
    if (typeof text === 'string') {
      writeValue(this.#scope, map, text, origin, 'literal');
      return;
    }
    const fields = fieldsOf(this.#report, text, 'language');
    if (fields === undefined) return;
    const value = textIn(this.#report, fields.get('value'));
    if (value !== undefined) writeValue(this.#scope, map, value, fields.get('value')?.value.origin as Origin, 'literal');
    else if (fields.has('function')) writeCall(this.#scope, map, fields);
    else if (!fields.has('value')) this.#report.error('missing-expression', origin, 'a language without a value', 'add value: en');
    this.#writeTargets(fields.get('targets'), map);
  }

  /** Objects that are subjects of other mappings. */
  #writeReferences({ conditions, ofPair }: DescribedObject, fields: ObjectFields, pair: Subject): void {
    if (ofPair !== undefined) {
      const message = 'a condition of a predicate object whose object is a mapping is not supported yet by this version';
      this.#report.error('not-supported', ofPair.keyOrigin, message, 'write the condition of the join into the object');
    }
    for (const key of ['targets', 'datatype', 'language', 'type'] as const) {
      const entry = fields.get(key);
      if (entry !== undefined)
        this.#report.error('misplaced-term', entry.keyOrigin, `${entry.key} has no meaning for a mapping`, 'remove it');
    }
    for (const item of itemsOf(fields.get('mapping')?.value)) {
      if (item.kind !== 'text') {
        reportKind(this.#report, item, 'mapping takes the name of a mapping');
        continue;
      }
      const found = lookUpPart(['mappings'], item.text, this.#document, this.#documents);
      if (found === undefined) {
        reportUnknownName(this.#report, ['mappings'], item.text, item.origin, this.#documents);
        continue;
      }
      for (const parent of parentsOf(item.text, found.home, found.entry)) {
        const node = pair.lead('rml:objectMap', item.origin);
        node.set('rml:parentTriplesMap', parent, item.origin);
        for (const condition of itemsOf(conditions?.value)) writeJoin(this.#scope, node, condition);
      }
    }
  }

  // ---------------------------------------------------------------- inverse predicates

  /** RML has no inverse predicates: a separate triples map has the object as its subject, and the subject as its object. */
  #writeInverse(object: DescribedObject, source: Tree, subject: Tree | undefined, mapping: Fields, pair: PairFields | undefined): void {
    const { inverse, fields } = object;
    if (inverse === undefined) return;
    const { keyOrigin } = inverse;
    if (fields?.has('mapping') || subject === undefined || subject.kind === 'nothing' || mapping.has('conditions')) {
      const what = fields?.has('mapping')
        ? 'to a mapping'
        : mapping.has('conditions')
          ? 'in a mapping with a condition'
          : 'to a blank node';
      const message = `an inverse predicate ${what} is not supported yet by this version`;
      this.#report.error('not-supported', keyOrigin, message, 'write a separate mapping for the inverse statements');
      return;
    }
    if (object.type === 'literal') {
      this.#report.error(
        'wrong-term-type',
        keyOrigin,
        'an inverse predicate needs an object that is an IRI',
        'write $(reference)~iri, or type: iri',
      );
      return;
    }
    const map = this.#writer.blank(object.origin);
    map.set('rdf:type', named('rml:TriplesMap'), object.origin);
    writeSourceOrView(this.#scope, source, map, OF_MAPPING);
    this.#writeObjectTerm(object, map.lead('rml:subjectMap', object.origin));
    const node = map.lead('rml:predicateObjectMap', keyOrigin);
    for (const predicate of itemsOf(inverse.value))
      this.#writeTerm(node.lead('rml:predicateMap', predicate.origin), predicate, 'predicate');
    this.#writeTerm(node.lead('rml:objectMap', subject.origin), subject, 'subject');
    this.#writeGraphs(mapping.get('graphs'), node);
    this.#writeGraphs(pair?.get('graphs'), node);
  }
}

const sourcesOf = (fields: Fields): readonly Tree[] => sourcesIn(fields.get('sources'));

/** No subject, or nothing: one that is a blank node. */
function subjectsOf(fields: Fields): readonly (Tree | undefined)[] {
  const subjects = itemsOf(fields.get('subjects')?.value);
  return subjects.length === 0 ? [undefined] : subjects;
}

/** `[foaf:name, $(name)]` alone is a pair, too. */
function itemsOfPairs(fields: Fields): readonly Tree[] {
  const value = fields.get('predicateobjects')?.value;
  return value?.kind === 'list' && value.items[0]?.kind === 'text' ? [value] : itemsOf(value);
}

/** The IRIs of the triples maps of a mapping: that of the second has `,2` behind it, which no name has. */
function* idsOf(name: string, { base }: YarrrmlDocument, fields: Fields): Generator<string> {
  const first = base + encodeURIComponent(name);
  const count = sourcesOf(fields).length * subjectsOf(fields).length;
  for (let i = 0; i < count; i++) yield i === 0 ? first : `${first},${i + 1}`;
}

function* parentsOf(name: string, home: YarrrmlDocument, { value }: Entry): Generator<RdfTerm> {
  if (value.kind !== 'map') return;
  // What is wrong with it is reported where it is read.
  const fields = fieldsOf(new Report(), value, 'mapping');
  if (fields === undefined) return;
  for (const id of idsOf(name, home, fields)) yield iri(id);
}

type ObjectFields = ReadonlyMap<KeyOf<'object'>, Entry>;

/** A language is a text, or a map. */
type Language = readonly [text: string | Tree, origin: Origin];

interface Marks {
  readonly datatype?: readonly [text: string, origin: Origin] | undefined;
  readonly language?: Language | undefined;
}

interface DescribedObject extends Marks {
  readonly origin: Origin;
  readonly value: readonly [text: string, origin: Origin] | undefined;
  /** Of an object that is written as a map. */
  readonly fields: ObjectFields | undefined;
  readonly type: TermType;
  readonly conditions: Entry | undefined;
  /** The condition of its predicate object, for an object that is a mapping. */
  readonly ofPair?: Entry | undefined;
  readonly inverse: Entry | undefined;
}

interface Pair extends Marks {
  readonly predicates: readonly Tree[];
  readonly objects: readonly Tree[];
  /** Of a pair that is written as a map. */
  readonly fields: PairFields | undefined;
}

/** `[predicates, objects, datatype]`, or a map. */
function pairOf(report: Report, tree: Tree): Pair | undefined {
  if (tree.kind === 'list') {
    const [predicates, objects, mark, ...others] = tree.items;
    if (others.length > 0 || (mark !== undefined && mark.kind !== 'text')) {
      const hint = 'write [foaf:age, $(age), xsd:integer], or a map with predicates and objects';
      reportKind(report, tree, 'a predicate object is a map, or a list of predicates, objects, and a datatype or language', hint);
      return undefined;
    }
    const marks = mark === undefined ? {} : markOf(mark.text, mark.origin);
    return { predicates: itemsOf(predicates), objects: itemsOf(objects), fields: undefined, ...marks };
  }
  const fields = fieldsOf(report, tree, 'predicate object');
  if (fields === undefined) return undefined;
  const marks = markedIn(report, fields);
  return { predicates: itemsOf(fields.get('predicates')?.value), objects: itemsOf(fields.get('objects')?.value), fields, ...marks };
}

/** `en~lang` or `xsd:integer`. */
const markOf = (text: string, origin: Origin): Marks =>
  text.endsWith('~lang')
    ? { language: [text.slice(0, -5), origin], datatype: undefined }
    : { datatype: [text, origin], language: undefined };

function markedIn(report: Report, fields: ReadonlyMap<string, Entry>): Marks {
  const datatype = fields.get('datatype');
  const language = fields.get('language')?.value;
  const text = textIn(report, datatype);
  return {
    datatype: text === undefined ? undefined : [text, (datatype as Entry).value.origin],
    language:
      language === undefined ? undefined : [language.kind === 'text' ? language.text.replace(/~lang$/, '') : language, language.origin],
  };
}
