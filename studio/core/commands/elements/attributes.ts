/** Attributes: made, their values, and what kind of terms elements are. */
import { isLanguageTag } from '../../../../src/mapping/vocabulary/language-tag.ts';
import { connectionOf } from '../../connect/may-connect.ts';
import type { Attribute, Entity, Expression, FieldRef, Id, StudioDocument, TermType } from '../../document.ts';
import { nameOf } from '../../elements/names.ts';
import { fieldName } from '../../elements/path-text.ts';
import { recordsOf, withRecords } from '../../elements/records.ts';
import { holds, type Schema, valuesOf } from '../../elements/schema.ts';
import { fitsTogether } from '../../rules/expression.ts';
import { isValue } from '../../rules/structure.ts';
import { absolute, isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { addedIn, type Command, changedIn, required, selected } from '../command.ts';
import { connected } from '../edges/connect.ts';
import { newAttribute } from '../making.ts';
import { settled } from '../settle.ts';

const oneAttribute = selected('Select an attribute first.', ['attribute']);

/** A field, for the entity of its parent object (rule R4); or a value that stays loose until an edge leads to it. */
export type AttributeSource =
  | { readonly schema: Schema; readonly at: FieldRef; readonly predicates?: readonly string[] }
  | { readonly value: Expression };

export const addAttribute: Command<AttributeSource> = {
  name: 'add-attribute',
  label: () => 'Make an attribute',
  keys: 'A',
  role: 'operator',
  enabled: selected('Select a field first.', [], true),
  perform(document, source) {
    if ('value' in source) {
      return fitsTogether(document, source.value) ?? withRecords(document, [newAttribute(document, source.value)]);
    }
    const { schema, predicates = [] } = source;
    const at = valuesOf(schema, source.at);
    const kind = holds(schema, at);
    if (kind !== 'value') return isValue({ kind, name: fieldName(at.path), ref: at }, schema) as Refusal;
    const connection = connectionOf(document, schema, { kind: 'field', ref: at }, { kind: 'canvas' }, { as: 'attribute', predicates });
    return isRefusal(connection) ? connection : connected(document, connection, predicates);
  },
  said(before, after) {
    const added = addedIn(before, after);
    const attribute = added.find(({ kind }) => kind === 'attribute');
    const edge = added.find((record) => record.kind === 'edge');
    const name = attribute === undefined ? '' : nameOf(after, attribute.id);
    return edge?.kind === 'edge'
      ? `Made ${name} an attribute of ${nameOf(after, edge.from)}`
      : `Made the attribute ${name}. No entity has it yet: connect one to it`;
  },
  recorded: true,
};

/** What makes the value of an attribute. */
export const setExpression: Command<{ readonly id: Id; readonly value: Expression }> = {
  name: 'set-expression',
  label: (document, { id }) => `Change the value of ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneAttribute,
  perform(document, { id, value }) {
    const attribute = required(document, 'attribute', id);
    return isRefusal(attribute) ? attribute : valued(document, attribute, value);
  },
  said: said('Changed the value of'),
  merges: (last, next) => last.id === next.id,
  recorded: true,
};

/** The document with another value of an attribute, if the rules allow it. */
export function valued(document: StudioDocument, attribute: Attribute, value: Expression): StudioDocument | Refusal {
  const apart = fitsTogether(document, value);
  if (apart !== undefined) return apart;
  const next = value.kind === 'fresh' ? { ...ofType(attribute, 'blank'), value } : { ...attribute, value };
  return settled(document, withRecords(document, [next]));
}

/** Whether an element is an IRI, a blank node or a literal. */
export const setTermType: Command<{ readonly id: Id; readonly termType: TermType }> = {
  name: 'set-term-type',
  label: (document, { id }) => `Change the kind of term of ${nameOf(document, id)}`,
  role: 'operator',
  enabled: selected('Select an entity or an attribute first.', ['entity', 'attribute']),
  perform(document, { id, termType }) {
    const record = document.records.get(id);
    if (record?.kind !== 'entity' && record?.kind !== 'attribute') return refuse('I1', 'This element is not in the model any more.', []);
    const name = nameOf(document, id);
    if (termType === 'literal' && (record.kind === 'entity' || recordsOf(document, 'edge').some(({ from }) => from === id))) {
      return refuse('R2', 'A literal cannot be the subject of a statement.', [name]);
    }
    const value = record.kind === 'entity' ? record.identifier : record.value;
    if (value.kind === 'fresh' && termType !== 'blank') return refuse('I2', `${name} is a blank node until it has an identifier.`, [name]);
    return record.termType === termType ? document : withRecords(document, [ofType(record, termType)]);
  },
  said: said('Changed the kind of term of'),
  recorded: true,
};

/** Only literals keep a datatype or a language (I6). */
function ofType<E extends Entity | Attribute>(record: E, termType: TermType): E {
  if (record.kind === 'entity' || termType === 'literal') return { ...record, termType };
  const { datatype: _, language: __, ...rest } = record;
  return { ...rest, termType } as E;
}

export const setDatatype: Command<{ readonly id: Id; readonly datatype: string | undefined }> = {
  name: 'set-datatype',
  label: (document, { id }) => `Change the datatype of ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneAttribute,
  perform(document, { id, datatype }) {
    const attribute = literal(document, id, 'datatype');
    if (isRefusal(attribute)) return attribute;
    const wrong = datatype === undefined ? undefined : absolute([datatype]);
    if (wrong !== undefined) return wrong;
    if (attribute.datatype === datatype && attribute.language === undefined) return document;
    const { datatype: _, language, ...rest } = attribute;
    if (datatype === undefined) return withRecords(document, [{ ...rest, ...(language !== undefined && { language }) }]);
    return withRecords(document, [{ ...rest, datatype }]);
  },
  said: said('Changed the datatype of'),
  recorded: true,
};

export const setLanguage: Command<{ readonly id: Id; readonly language: string | undefined }> = {
  name: 'set-language',
  label: (document, { id }) => `Change the language of ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneAttribute,
  perform(document, { id, language }) {
    const attribute = literal(document, id, 'language');
    if (isRefusal(attribute)) return attribute;
    if (language !== undefined && !isLanguageTag(language)) return refuse('I6', `${language} is no language tag.`, [language]);
    if (attribute.language === language && attribute.datatype === undefined) return document;
    const { datatype, language: _, ...rest } = attribute;
    if (language === undefined) return withRecords(document, [{ ...rest, ...(datatype !== undefined && { datatype }) }]);
    return withRecords(document, [{ ...rest, language }]);
  },
  said: said('Changed the language of'),
  merges: (last, next) => last.id === next.id,
  recorded: true,
};

function literal(document: StudioDocument, id: Id, what: 'datatype' | 'language'): Attribute | Refusal {
  const attribute = required(document, 'attribute', id);
  if (isRefusal(attribute) || attribute.termType === 'literal') return attribute;
  const name = nameOf(document, id);
  return refuse('I6', `${name} is no literal: only literals have a ${what}.`, [name]);
}

function said(how: string): Command<never>['said'] {
  return (before, after) => {
    const [record] = changedIn(before, after);
    return record === undefined ? 'Nothing changed' : `${how} ${nameOf(after, record.id)}`;
  };
}
