/**
 * Term map → closure: everything is decided here, once; the closure only reads values and joins text.
 *
 * A term is N-Quads text in three pieces: `before` and `after` are the same for every record, `text` comes from the record. So a rule can
 * merge its own constant text with theirs, and a hash covers only the middle.
 */
import { excerpt, Fault } from '../core/fault.ts';
import {
  blankLabel,
  encodeIriPart,
  encodeUriPart,
  escapeLiteral,
  findNotInIri,
  fromBytes,
  guardUnsafeIri,
  hasScheme,
  iriToUri,
  toBytes,
} from '../core/text.ts';
import { type Accessor, type Value, type Values, XSD } from '../core/value.ts';
import type { Expression, RdfTerm, TermMap, TermType } from '../mapping/model/model.ts';
import { expressionText, formatOrigin } from '../mapping/model/model.ts';
import { schemeOf } from '../mapping/model/template.ts';

/** The one-byte texts of a term for one record: none, one, or several. */
export type Text = null | string | readonly string[];

/** `position` is the record's 0-based position in its iteration. Throws Fault record/term. */
export type TextOf = (record: unknown, position: number) => Text;

export interface CompiledTerm {
  readonly before: string;
  readonly after: string;
  readonly text: TextOf;
  /** The whole term if it is the same for every record; then `before` and `after` are empty. */
  readonly constant: string | undefined;
}

/** Access to the records of an iteration. */
export interface Accessors {
  readonly accessor: (reference: string) => Accessor;
  /** Whether accessors may return values with a natural datatype. */
  readonly typed: boolean;
  /** The natural datatype of all plain texts that the accessor returns, which are then canonical; undefined: not known beforehand. */
  readonly datatype: (reference: string) => string | undefined;
  /**
   * Part of the labels of per-record blank nodes. It keeps apart records with the same position: those of the run's slices (`s` and the
   * 0-based index of the slice) and of several documents of one source (`d` and the document's number). `s2`, `d1`, `s2d1`; empty: neither.
   */
  readonly slice: string;
}

/** The context for compiling the terms of one triples map. */
export interface TermContext extends Accessors {
  /** Base IRI for relative IRIs: that of the triples map, else that of the run. */
  readonly base: string;
  readonly runBase: string;
  /** Label prefix of the per-record blank nodes of this triples map. */
  readonly recordNodePrefix: string;
}

/** @throws Fault mapping/invalid, mapping/reference */
export function compileTerm(map: TermMap, context: TermContext): CompiledTerm {
  const { expression } = map;
  if (expression.kind === 'constant' && isFixed(map)) return constant(constantToken(map, expression.term, context));
  switch (map.termType) {
    case 'literal':
      return compileLiteral(map, context);
    case 'blank':
      return compileBlank(expression, context);
    default:
      return compileIri(map.termType, expression, context);
  }
}

/** Whether the language and datatype of a constant are the same for every record. */
const isFixed = ({ language, datatype }: TermMap): boolean =>
  [language, datatype?.expression].every((expression) => expression === undefined || expression.kind === 'constant');

const constant = (token: string): CompiledTerm => ({ before: '', after: '', text: () => token, constant: token });

/** The N-Quads text of a constant. A relative IRI is prefixed with the base, like one from data. */
function constantToken(map: TermMap, term: RdfTerm, context: TermContext): string {
  if (map.termType === 'blank') return `_:c${blankLabel(toBytes(term.value))}`;
  if (map.termType === 'literal') {
    const text = `"${escapeLiteral(toBytes(term.value))}"`;
    const language = map.language?.kind === 'constant' ? map.language.term.value : term.kind === 'literal' ? term.language : undefined;
    if (language !== undefined) return `${text}@${language}`;
    const declared = map.datatype?.expression;
    const datatype = declared?.kind === 'constant' ? declared.term.value : term.kind === 'literal' ? term.datatype : `${XSD}string`;
    return text + datatypeSuffix(absolute(toBytes(datatype), context));
  }
  return `<${checkedIri(absolute(toBytes(term.value), context), map.termType, map.expression)}>`;
}

/** @see https://www.w3.org/TR/r2rml/#dfn-term-generation-rules (the base is prepended to anything that is not an absolute IRI) */
const absolute = (iri: string, { base }: TermContext): string => (hasScheme(iri) ? iri : base + iri);

const datatypeSuffix = (iri: string): string => (iri === `${XSD}string` ? '' : `^^<${iri}>`);

// ---------------------------------------------------------------- text of an expression

/** The source knows the reference; only here it is known which mapping statement uses it. */
function accessorOf(reference: string, expression: Expression, context: TermContext): Accessor {
  try {
    return context.accessor(reference);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'mapping/reference') throw error;
    throw error.with({ place: { mapping: formatOrigin(expression.origin) } });
  }
}

/** Each value as written in the source, changed by `encode`; only literals with a natural datatype use the canonical form. */
function textOf(read: Accessor, encode: (text: string) => string): TextOf {
  const one = (value: Value): string => encode(typeof value === 'string' ? value : value.written);
  return (record) => {
    const values = read(record);
    if (values === null) return null;
    if (typeof values === 'string') return encode(values);
    return Array.isArray(values) ? several(values as readonly Value[], one) : one(values as Value);
  };
}

/** Without duplicates: products of the texts would repeat them all. */
function several(values: readonly Value[], one: (value: Value) => string): Text {
  if (values.length < 2) return values.length === 0 ? null : one(values[0] as Value);
  const texts = new Set<string>();
  for (const value of values) texts.add(one(value));
  return texts.size === 1 ? one(values[0] as Value) : [...texts];
}

export const identity = (text: string): string => text;

/** Applies `change` to each text. */
export function mapText(text: Text, change: (text: string) => string): Text {
  if (text === null) return null;
  return typeof text === 'string' ? change(text) : text.map(change);
}

/** Every combination of the texts of two expressions. */
function pairTexts(left: Text, right: Text, join: (left: string, right: string) => string): Text {
  if (left === null || right === null) return null;
  if (typeof left === 'string') return mapText(right, (r) => join(left, r));
  if (typeof right === 'string') return left.map((l) => join(l, right));
  return left.flatMap((l) => right.map((r) => join(l, r)));
}

interface Pieces {
  readonly before: string;
  readonly after: string;
  readonly text: TextOf;
}

/** An expression as text. The constant ends of a template are in `before` and `after`. Values pass through `encode`, constant parts do not. */
export function compileExpression(expression: Expression, context: TermContext, encode: (text: string) => string): Pieces {
  switch (expression.kind) {
    case 'constant':
      return { before: toBytes(expression.term.value), after: '', text: () => '' };
    case 'reference':
      return { before: '', after: '', text: textOf(accessorOf(expression.reference, expression, context), encode) };
    case 'fresh':
      return { before: '', after: '', text: (_, position) => `${context.recordNodePrefix}${position}` };
    case 'template':
      return compileTemplate(expression, context, encode);
  }
}

function compileTemplate(
  expression: Extract<Expression, { kind: 'template' }>,
  context: TermContext,
  encode: (text: string) => string,
): Pieces {
  // Alternates constant text and references: texts[0] ref[0] texts[1] ref[1] … texts[n].
  const texts: string[] = [''];
  const names: string[] = [];
  for (const part of expression.parts) {
    if (part.kind === 'text') texts[texts.length - 1] += toBytes(part.text);
    else {
      names.push(part.reference);
      texts.push('');
    }
  }
  const valuesOf = (name: string): TextOf => textOf(accessorOf(name, expression, context), encode);
  if (new Set(names).size < names.length) return repeatingTemplate(texts, names, valuesOf);
  const references = names.map(valuesOf);
  const before = texts[0] as string;
  const [first, ...others] = references;
  if (first === undefined) return { before, after: '', text: () => '' };
  const after = texts[texts.length - 1] as string;
  if (others.length === 0) return { before, after, text: first };
  if (others.length === 1) {
    const second = others[0] as TextOf;
    const middle = texts[1] as string;
    return {
      before,
      after,
      text: (record, position) => {
        const left = first(record, position);
        if (left === null) return null;
        const right = second(record, position);
        if (typeof left === 'string' && typeof right === 'string') return left + middle + right;
        return pairTexts(left, right, (l, r) => l + middle + r);
      },
    };
  }
  return {
    before,
    after,
    text: (record, position) => {
      let text = first(record, position);
      for (let i = 0; i < others.length && text !== null; i++) {
        const middle = texts[i + 1] as string;
        text = pairTexts(text, (others[i] as TextOf)(record, position), (l, r) => l + middle + r);
      }
      return text;
    },
  };
}

/**
 * A template in which a reference occurs more than once: it has the same value in all places.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/#template-rml-template (the product is over the set of reference expressions)
 */
function repeatingTemplate(texts: readonly string[], names: readonly string[], valuesOf: (name: string) => TextOf): Pieces {
  const distinct = [...new Set(names)];
  const readers = distinct.map(valuesOf);
  const slots = names.map((name) => distinct.indexOf(name));
  const fill = (values: readonly string[]): string => {
    let text = '';
    for (let i = 0; i < slots.length; i++) text += (i === 0 ? '' : (texts[i] as string)) + (values[slots[i] as number] as string);
    return text;
  };
  return {
    before: texts[0] as string,
    after: texts[texts.length - 1] as string,
    text: (record, position) => {
      let rows: readonly (readonly string[])[] = [[]];
      for (const read of readers) {
        const text = read(record, position);
        if (text === null) return null;
        rows = typeof text === 'string' ? rows.map((row) => [...row, text]) : rows.flatMap((row) => text.map((one) => [...row, one]));
      }
      return rows.length === 1 ? fill(rows[0] as readonly string[]) : rows.map(fill);
    },
  };
}

// ---------------------------------------------------------------- IRIs

function compileIri(termType: TermType, expression: Expression, context: TermContext): CompiledTerm {
  const isUnsafe = UNSAFE.has(termType);
  const isUri = termType === 'uri' || termType === 'unsafe-uri';
  const isSafe = expression.kind === 'template' && !isUnsafe;
  const encode = isSafe ? (isUri ? encodeUriPart : encodeIriPart) : isUri ? iriToUri : identity;
  const { before, after, text } = compileExpression(expression, context, encode);
  const scheme = isSafe ? schemeOf(expression.parts) : 'value';
  if (isSafe && scheme !== 'value') {
    // Values are encoded, and the template's constant text was checked when the mapping was read: only the base can be invalid.
    const start = scheme === 'template' ? before : context.base + before;
    checkIri(start, expression);
    return { before: `<${start}`, after: `${after}>`, text, constant: undefined };
  }
  const resolve = (inner: string): string => checkedIri(absolute(before + inner + after, context), termType, expression);
  return { before: '<', after: '>', text: (record, position) => mapText(text(record, position), resolve), constant: undefined };
}

const UNSAFE: ReadonlySet<TermType> = new Set<TermType>(['unsafe-iri', 'unsafe-uri']);

/** The IRI as written between angle brackets. @throws Fault record/term */
function checkedIri(iri: string, termType: TermType, expression: Expression): string {
  if (UNSAFE.has(termType)) return guardUnsafeIri(iri);
  checkIri(iri, expression);
  return iri;
}

function checkIri(iri: string, expression: Expression): void {
  const at = findNotInIri(iri);
  if (at < 0) return;
  const character = iri[at] as string;
  throw new Fault('record/term', `An IRI may not hold the character ${JSON.stringify(character)}`, {
    place: { mapping: formatOrigin(expression.origin), expression: expressionText(expression), value: excerpt(fromBytes(iri)) },
    hint: 'Use a template, which percent-encodes values, or clean the data.',
  });
}

// ---------------------------------------------------------------- blank nodes

function compileBlank(expression: Expression, context: TermContext): CompiledTerm {
  if (expression.kind === 'fresh')
    return { before: '_:', after: '', text: compileExpression(expression, context, identity).text, constant: undefined };
  const { before, after, text } = compileExpression(expression, context, identity);
  const label = (inner: string): string => blankLabel(before + inner + after);
  return { before: '_:b', after: '', text: (record, position) => mapText(text(record, position), label), constant: undefined };
}

// ---------------------------------------------------------------- literals

function compileLiteral(map: TermMap, context: TermContext): CompiledTerm {
  const { expression, language, datatype } = map;
  if (language !== undefined) {
    if (language.kind === 'constant') return literal(expression, context, `"@${language.term.value}`);
    const tag = compileExpression(language, context, identity);
    return tagged(expression, context, (record, position) =>
      mapText(tag.text(record, position), (inner) => {
        const text = tag.before + inner + tag.after;
        if (!/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(text)) throw invalidLanguage(text, language);
        return `"@${text}`;
      }),
    );
  }
  if (datatype !== undefined) {
    const type = compileTerm(datatype, context);
    if (type.constant !== undefined) return literal(expression, context, `"${datatypeSuffix(type.constant.slice(1, -1))}`);
    return tagged(expression, context, (record, position) =>
      mapText(type.text(record, position), (inner) => `"${datatypeSuffix((type.before + inner + type.after).slice(1, -1))}`),
    );
  }
  if (expression.kind !== 'reference') return literal(expression, context, '"');
  const read = accessorOf(expression.reference, expression, context);
  const natural = context.datatype(expression.reference);
  // Canonical forms contain nothing that needs an escape.
  if (natural !== undefined) return literal(expression, context, `"${datatypeSuffix(natural)}`, identity);
  if (!context.typed) return literal(expression, context, '"');
  return { before: '"', after: '', text: (record) => naturalText(read(record)), constant: undefined };
}

/** A literal whose text after the value, from the closing quote, is the same for every record. */
function literal(expression: Expression, context: TermContext, end: string, escape = escapeLiteral): CompiledTerm {
  const { before, after, text } = compileExpression(expression, context, escape);
  return { before: `"${escapeLiteral(before)}`, after: escapeLiteral(after) + end, text, constant: undefined };
}

/** A literal whose text after the value, from the closing quote, depends on the record. */
function tagged(expression: Expression, context: TermContext, end: TextOf): CompiledTerm {
  const { before, after, text } = compileExpression(expression, context, escapeLiteral);
  return {
    before: `"${escapeLiteral(before)}`,
    after: '',
    text: (record, position) => pairTexts(text(record, position), end(record, position), (l, r) => l + escapeLiteral(after) + r),
    constant: undefined,
  };
}

const naturalOne = (value: Value): string =>
  typeof value === 'string' ? `${escapeLiteral(value)}"` : `${escapeLiteral(value.text)}"${datatypeSuffix(value.datatype)}`;

function naturalText(values: Values): Text {
  if (values === null) return null;
  return Array.isArray(values) ? several(values as readonly Value[], naturalOne) : naturalOne(values as Value);
}

function invalidLanguage(tag: string, expression: Expression): Fault {
  return new Fault('record/term', 'A language tag is not well-formed', {
    place: { mapping: formatOrigin(expression.origin), expression: expressionText(expression), value: excerpt(fromBytes(tag)) },
    hint: 'Expected a BCP 47 tag such as "en" or "pt-BR".',
  });
}
