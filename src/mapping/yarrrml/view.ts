/**
 * Views: named fields of the records of a source, or of the rows of another view. An extension of ours: YARRRML has none.
 *
 * A view becomes an `rml:LogicalView`, and what reads it is today's RML, which alone has views.
 *
 * @see docs/yarrrml.md
 */
import { didYouMean } from '../../core/nearest.ts';
import type { Origin } from '../model/model.ts';
import { lookUpPart, reportUnknownName, type YarrrmlDocument } from './document.ts';
import { fieldsOf, itemsOf, type KeyOf, reportKind, textIn } from './keys.ts';
import { isShortSource, type LeadingTo, writeFormulation, writeSource } from './source.ts';
import { type Scope, withoutType, writeCall, writeJoin, writeValue } from './term.ts';
import type { Entry, Tree } from './tree.ts';
import { iri, literal, named, type Subject, TooManyStatements, type Writer } from './writer.ts';

const OF_VIEW = { document: 'rml:viewOn', table: 'rml:viewOn', view: 'rml:viewOn' } as const;

/** Type of a join → the property that leads to it. */
const JOINS: Readonly<Record<string, string>> = { left: 'rml:leftJoin', inner: 'rml:innerJoin' };

/** Type of an annotation → its class, without `Annotation`. */
export const ANNOTATIONS: Readonly<Record<string, string>> = {
  irisafe: 'IriSafe',
  notnull: 'NotNull',
  unique: 'Unique',
  primarykey: 'PrimaryKey',
  inclusion: 'Inclusion',
  foreignkey: 'ForeignKey',
};

/** No name of a mapping has a slash in its IRI. */
const viewIri = ({ base }: YarrrmlDocument, name: string): string => `${base}views/${encodeURIComponent(name)}`;

/** `data.csv~csv` and `[data.json~jsonpath, $]` are one source, `[people, projects]` are two. */
export const sourcesIn = (entry: Entry | undefined): readonly Tree[] =>
  entry !== undefined && isShortSource(entry.value) ? [entry.value] : itemsOf(entry?.value);

/** States what a triples map or a view reads: a source, or a view by its name. */
export function writeSourceOrView(
  { report, document, documents }: Scope,
  source: Tree,
  node: Subject,
  to: LeadingTo & { readonly view: string },
): void {
  if (source.kind !== 'text' || isShortSource(source)) {
    writeSource(report, source, node, source.origin, to);
    return;
  }
  const found = lookUpPart(['sources', 'views'], source.text, document, documents);
  if (found === undefined) reportUnknownName(report, ['sources', 'views'], source.text, source.origin, documents);
  else if (found.kind === 'views') node.set(to.view, iri(viewIri(found.home, source.text)), source.origin);
  else if (found.entry.value.kind === 'nothing') reportKind(report, found.entry.value, 'a source is a map or a list');
  else writeSource(report, found.entry.value, node, found.entry.keyOrigin, to);
}

/** The views of a document, each once, however many sources refer to it. */
export function writeViews(scope: Scope, writer: Writer): void {
  for (const [name, entry] of scope.document.views) {
    try {
      writeView(scope, entry, writer.subject(iri(viewIri(scope.document, name)), entry.keyOrigin));
    } catch (error) {
      if (!(error instanceof TooManyStatements)) throw error;
      const message = `with the view ${JSON.stringify(name)} the document means more than ${writer.statements.length} statements of RML`;
      scope.report.error('too-large', entry.keyOrigin, message, 'use several documents');
      return;
    }
  }
}

function writeView(scope: Scope, { keyOrigin, value }: Entry, node: Subject): void {
  const { report } = scope;
  const before = report.errors;
  node.set('rdf:type', named('rml:LogicalView'), keyOrigin);
  const fields = fieldsOf(report, value, 'view');
  if (fields === undefined) return;
  const [source, second] = sourcesIn(fields.get('source'));
  if (source === undefined)
    report.error('missing-logical-source', keyOrigin, 'a view has no source', 'add source: [people.json~jsonpath, "$.people[*]"]');
  else writeSourceOrView(scope, source, node, OF_VIEW);
  if (second !== undefined) report.error('too-many', second.origin, 'a view has one source', 'make a view of the other, and join it');
  writeFields(scope, fields.get('fields'), node);
  if (!fields.has('fields') && report.errors === before)
    report.error('missing-field-name', keyOrigin, 'a view has no fields', 'add fields: { name: $(name) }');
  for (const join of itemsOf(fields.get('joins')?.value)) writeViewJoin(scope, join, node);
  for (const annotation of itemsOf(fields.get('annotations')?.value)) writeAnnotation(scope, annotation, node);
}

// ---------------------------------------------------------------- fields

/** A map of their names. */
function writeFields(scope: Scope, entry: Entry | undefined, node: Subject): void {
  if (entry === undefined) return;
  if (entry.value.kind !== 'map') {
    reportKind(scope.report, entry.value, 'fields are a map of their names', 'write fields: { name: $(name) }');
    return;
  }
  for (const { key, keyOrigin, value } of entry.value.entries) {
    const field = node.lead('rml:field', keyOrigin);
    field.set('rml:fieldName', literal(key), keyOrigin);
    writeField(scope, value, field);
  }
}

/** A value, or a map of a value, a function or an iterator. */
function writeField(scope: Scope, tree: Tree, node: Subject): void {
  const { report } = scope;
  if (tree.kind === 'text') {
    writeFieldValue(scope, tree.text, tree.origin, node);
    return;
  }
  const fields = fieldsOf(report, tree, 'field');
  if (fields === undefined) return;
  const value = textIn(report, fields.get('value'));
  const given = (['value', 'function', 'iterator'] as const).filter((key) => fields.has(key));
  const isIterable = fields.has('iterator') || fields.has('referenceFormulation');
  if (given.length > 1) {
    const hint = fields.has('iterator') ? 'put the field with the iterator into the fields of the other' : undefined;
    report.error('too-many', tree.origin, `${given.join(' and ')} in one field, which has one of them`, hint);
  } else if (value !== undefined) writeFieldValue(scope, value, fields.get('value')?.value.origin as Origin, node);
  else if (fields.has('function') || fields.has('parameters')) writeCall(scope, node, fields);
  else if (!isIterable && !fields.has('value'))
    report.error('missing-expression', tree.origin, 'a field without a value', 'add value: $(name), function: …, or iterator: …');
  if (isIterable) {
    node.set('rdf:type', named('rml:IterableField'), node.origin);
    const formulation = textIn(report, fields.get('referenceFormulation'));
    if (formulation !== undefined) writeFormulation(report, node, formulation, fields.get('referenceFormulation')?.value.origin as Origin);
    const iterator = textIn(report, fields.get('iterator'));
    if (iterator !== undefined) node.set('rml:iterator', literal(iterator), fields.get('iterator')?.value.origin as Origin);
  }
  writeFields(scope, fields.get('fields'), node);
}

function writeFieldValue(scope: Scope, written: string, origin: Origin, node: Subject): void {
  const [text, isIri] = withoutType(written);
  writeValue(scope, node, text, origin, isIri ? 'iri' : 'literal');
}

// ---------------------------------------------------------------- joins and annotations

function writeViewJoin(scope: Scope, tree: Tree, view: Subject): void {
  const { report } = scope;
  const fields = fieldsOf(report, tree, 'view join');
  if (fields === undefined) return;
  const property = oneOf(scope, JOINS, fields.get('type'), tree.origin, 'type of a join');
  // What else is wrong is reported, too.
  const node = view.lead(property ?? 'rml:leftJoin', tree.origin);
  if (fields.has('view')) writeViewName(scope, fields.get('view'), node, 'rml:parentLogicalView');
  else report.error('missing-parent-view', tree.origin, 'a join without the key view', 'add view: with the name of the view to join');
  if (!fields.has('conditions')) {
    const hint = 'add condition: { function: equal, parameters: [[str1, $(…), s], [str2, $(…), o]] }: s is this view, o the joined one';
    report.error('incomplete-join', tree.origin, 'a join without a condition', hint);
  }
  for (const condition of itemsOf(fields.get('conditions')?.value)) writeJoin(scope, node, condition);
  writeFields(scope, fields.get('fields'), node);
}

function writeAnnotation(scope: Scope, tree: Tree, view: Subject): void {
  const { report } = scope;
  const fields = fieldsOf(report, tree, 'annotation');
  if (fields === undefined) return;
  const node = view.lead('rml:structuralAnnotation', tree.origin);
  const types = itemsOf(fields.get('type')?.value);
  if (types.length === 0) oneOf(scope, ANNOTATIONS, undefined, tree.origin, 'type of an annotation');
  for (const type of types) {
    const entry = { ...(fields.get('type') as Entry), value: type };
    const name = oneOf(scope, ANNOTATIONS, entry, type.origin, 'type of an annotation');
    if (name !== undefined) node.set('rdf:type', named(`rml:${name}Annotation`), type.origin);
  }
  const hasTarget = types.some((type) => type.kind === 'text' && /^(?:inclusion|foreignkey)$/i.test(type.text));
  for (const key of ['fields', ...(hasTarget ? (['targetView', 'targetFields'] as const) : [])] as const)
    if (itemsOf(fields.get(key)?.value).length === 0)
      report.error('incomplete-annotation', fields.get(key)?.value.origin ?? tree.origin, `an annotation without ${key}`, HINTS[key]);
  writeNames(scope, fields, 'fields', node, 'rml:onFields');
  writeViewName(scope, fields.get('targetView'), node, 'rml:targetView');
  writeNames(scope, fields, 'targetFields', node, 'rml:targetFields');
}

const HINTS = {
  fields: 'name the fields that it speaks of: fields: [id]',
  targetView: 'name the view that has the values: targetView: people',
  targetFields: 'name as many fields of that view: targetFields: [id]',
} as const;

function writeViewName({ report, document, documents }: Scope, entry: Entry | undefined, node: Subject, property: string): void {
  const name = textIn(report, entry);
  if (entry === undefined || name === undefined) return;
  const found = lookUpPart(['views'], name, document, documents);
  if (found === undefined) reportUnknownName(report, ['views'], name, entry.value.origin, documents);
  else node.set(property, iri(viewIri(found.home, name)), entry.value.origin);
}

/** A list of names of fields, or one name. */
function writeNames(
  { report }: Scope,
  fields: ReadonlyMap<KeyOf<'annotation'>, Entry>,
  key: 'fields' | 'targetFields',
  node: Subject,
  property: string,
): void {
  const entry = fields.get(key);
  if (entry === undefined) return;
  const names: { readonly text: string; readonly origin: Origin }[] = [];
  for (const item of itemsOf(entry.value)) {
    if (item.kind === 'text') names.push(item);
    else reportKind(report, item, `${entry.key} takes names of fields`);
  }
  let [at, next] = [node, property];
  for (const { text, origin } of names) {
    at = at.lead(next, origin);
    at.set('rdf:first', literal(text), origin);
    next = 'rdf:rest';
  }
  at.set(next, named('rdf:nil'), entry.value.origin);
}

/** What a word stands for; undefined, with a diagnostic, for another one or none. */
function oneOf(
  { report }: Scope,
  known: Readonly<Record<string, string>>,
  entry: Entry | undefined,
  origin: Origin,
  what: string,
): string | undefined {
  const words = Object.keys(known);
  const hint = `it is ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  if (entry === undefined) {
    report.error('wrong-value', origin, `the ${what} is not said`, `add the key type: ${hint}`);
    return undefined;
  }
  const text = textIn(report, entry);
  if (text === undefined) return undefined;
  const word = text.toLowerCase();
  if (Object.hasOwn(known, word)) return known[word];
  report.error('wrong-value', entry.value.origin, `there is no ${what} ${JSON.stringify(text)}`, didYouMean(word, words) ?? hint);
  return undefined;
}
