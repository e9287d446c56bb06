/**
 * Term → closure over rows that writes N-Quads text.
 *
 * A term is text in three pieces: `before` and `after` are the same for every record, `text` comes from the record. So a rule can merge its
 * own constant text with theirs, and a hash covers only the middle.
 */
import { excerpt, Fault } from '../core/fault.ts';
import { isWithin, type LexicalSpace, lexicalSpace } from '../core/input/lexical-form.ts';
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
import { type TypedValue, type Value, type Values, XSD } from '../core/value.ts';
import type { TermType } from '../mapping/model/model.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Expression, QuotedTerm, QuotedTriple, RowTerm, Term } from '../plan/algebra.ts';
import { expressionText, unconditional } from '../plan/expressions.ts';
import { schemeOf } from '../plan/written.ts';
import {
  type Accessors,
  compileExpression,
  compileValues,
  type Encode,
  identity,
  leavingOut,
  mapText,
  pairTexts,
  several,
  type Text,
  type TextOf,
} from './evaluate.ts';

export interface CompiledTerm {
  readonly before: string;
  readonly after: string;
  readonly text: TextOf;
  /** The whole term if it is the same for every record; then `before` and `after` are empty. */
  readonly constant: string | undefined;
}

/** @throws Fault mapping/invalid, mapping/reference */
export function compileTerm(term: Term, rows: Accessors): CompiledTerm {
  switch (term.kind) {
    case 'constant': {
      const token = constantToken(term, rows);
      return { before: '', after: '', text: () => token, constant: token };
    }
    case 'iri':
      return compileIri(term, rows);
    case 'blank':
      return compileBlank(term.value, rows);
    case 'literal':
      return compileLiteral(term, rows);
    case 'quoted':
      return compileQuoted(term, rows);
    case 'encoded':
      return { before: '', after: '', text: rows.encoded(term.column), constant: undefined };
    case 'head':
      return { before: '', after: '', text: rows.heads(term.collection), constant: undefined };
  }
}

/** The whole texts of a term. @throws Fault as `compileTerm` */
export function compileWhole(term: Term, rows: Accessors): TextOf {
  const { before, after, text } = compileTerm(term, rows);
  return before === '' && after === '' ? text : (row, position) => mapText(text(row, position), (inner) => before + inner + after);
}

// ---------------------------------------------------------------- quoted triples

function compileQuoted({ triples }: QuotedTerm, given: Accessors): CompiledTerm {
  const rows = { ...given, leaveOut: undefined };
  const compiled = triples.map((triple) => compileTriple(triple, rows));
  const [only] = compiled;
  if (only !== undefined && compiled.length === 1) return only;
  const text: TextOf = (row, position) => {
    const found = new Set<string>();
    for (const triple of compiled) {
      const texts = triple.text(row, position);
      if (texts === null) continue;
      for (const one of typeof texts === 'string' ? [texts] : texts) found.add(triple.before + one + triple.after);
    }
    return found.size === 0 ? null : [...found];
  };
  return { before: '', after: '', text, constant: undefined };
}

/** As in the statement of the quoted triples map, predicate and object of a row without a subject are not made. */
function compileTriple({ subject, predicate, object }: QuotedTriple, rows: Accessors): CompiledTerm {
  const [s, p, o] = [compileTerm(subject, rows), compileTerm(predicate, rows), compileTerm(object, rows)];
  const [first, second] = [`${s.after} ${p.before}`, `${p.after} ${o.before}`];
  const text: TextOf = (row, position) => {
    const subjects = s.text(row, position);
    if (subjects === null) return null;
    const starts = pairTexts(subjects, p.text(row, position), (l, r) => l + first + r);
    return pairTexts(starts, o.text(row, position), (l, r) => l + second + r);
  };
  return { before: `<< ${s.before}`, after: `${o.after} >>`, text, constant: undefined };
}

type Constant = Extract<RowTerm, { kind: 'constant' }>;
type Iri = Extract<RowTerm, { kind: 'iri' }>;
type Literal = Extract<RowTerm, { kind: 'literal' }>;

/** The N-Quads text of a constant. A relative IRI is prefixed with the base, like one from data. */
function constantToken({ term, type, base, origin }: Constant, { labels }: Accessors): string {
  const value = toBytes(term.value);
  if (type === 'blank') return `_:${labels.values}c${blankLabel(value)}`;
  if (type !== 'literal') return `<${checkedIri(absolute(value, base), type, { kind: 'constant', origin, text: term.value })}>`;
  const { language, datatype } = term as Extract<Constant['term'], { kind: 'literal' }>;
  const text = `"${escapeLiteral(value)}"`;
  return language === undefined ? text + datatypeSuffix(absolute(toBytes(datatype), base)) : `${text}@${language}`;
}

/** @see https://www.w3.org/TR/r2rml/#dfn-term-generation-rules (the base is prepended to anything that is not an absolute IRI) */
const absolute = (iri: string, base: string): string => (hasScheme(iri) ? iri : toBytes(base) + iri);

const datatypeSuffix = (iri: string): string => (iri === `${XSD}string` ? '' : `^^<${iri}>`);

// ---------------------------------------------------------------- IRIs

function compileIri({ type, value, base: baseText }: Iri, rows: Accessors): CompiledTerm {
  const isUnsafe = UNSAFE.has(type);
  const isUri = type === 'uri' || type === 'unsafe-uri';
  const then = unconditional(value);
  const isSafe = then.kind === 'template' && !isUnsafe;
  const encode = isSafe ? (isUri ? encodeUriPart : encodeIriPart) : isUri ? iriToUri : identity;
  const { before, after, text } = compileExpression(value, rows, encode);
  const base = toBytes(baseText);
  const scheme = isSafe ? schemeOf(then.parts) : 'value';
  if (isSafe && scheme !== 'value') {
    // Values are encoded, and the template's constant text was checked when the mapping was read: only the base can be invalid.
    const start = scheme === 'template' ? before : base + before;
    checkIri(start, value);
    return { before: `<${start}`, after: `${after}>`, text, constant: undefined };
  }
  const resolve = leavingOut(rows, (inner: string): string => {
    const iri = before + inner + after;
    return checkedIri(hasScheme(iri) ? iri : base + iri, type, value);
  });
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

function compileBlank(expression: Expression, rows: Accessors): CompiledTerm {
  if (unconditional(expression).kind === 'row')
    return { before: '_:', after: '', text: compileExpression(expression, rows, identity).text, constant: undefined };
  const { before, after, text } = compileExpression(expression, rows, identity);
  const label = (inner: string): string => blankLabel(before + inner + after);
  return {
    before: `_:${rows.labels.values}b`,
    after: '',
    text: (record, position) => mapText(text(record, position), label),
    constant: undefined,
  };
}

// ---------------------------------------------------------------- literals

function compileLiteral({ value: expression, language, datatype }: Literal, rows: Accessors): CompiledTerm {
  if (language !== undefined) {
    if (language.kind === 'constant') return literal(expression, rows, `"@${language.text}`);
    const tag = compileExpression(language, rows, identity);
    return tagged(expression, rows, mapped(tag.text, identity), (text, inner) => {
      const name = tag.before + inner + tag.after;
      if (!/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(name)) throw invalidLanguage(name, language);
      return `${escapeLiteral(text)}"@${name}`;
    });
  }
  if (datatype !== undefined) {
    const type = compileTerm(datatype, { ...rows, leaveOut: undefined });
    if (type.constant !== undefined) return typedLiteral(expression, rows, type.constant.slice(1, -1));
    const check = checkOfAny(expression, rows);
    return tagged(
      expression,
      rows,
      mapped(type.text, (inner) => (type.before + inner + type.after).slice(1, -1)),
      (text, iri) => {
        check?.(text, iri);
        return `${escapeLiteral(text)}"${datatypeSuffix(iri)}`;
      },
    );
  }
  const then = unconditional(expression);
  if (then.kind === 'read' || then.kind === 'cell') {
    const natural = rows.datatype(then);
    // Canonical forms contain nothing that needs an escape.
    if (typeof natural === 'string') return literal(expression, rows, `"${datatypeSuffix(natural)}`, identity);
    if (natural === null || !rows.typed) return literal(expression, rows, '"');
  } else if (then.kind !== 'call') return literal(expression, rows, '"');
  const values = compileValues(expression, rows);
  return { before: '"', after: '', text: (record, position) => naturalText(values(record, position), rows), constant: undefined };
}

/** A literal of a datatype that is the same for every record. */
function typedLiteral(expression: Expression, rows: Accessors, datatype: string): CompiledTerm {
  const end = `"${datatypeSuffix(datatype)}`;
  const space = lexicalSpace(datatype);
  if (space === undefined || rows.illTyped === undefined) return literal(expression, rows, end);
  const then = unconditional(expression);
  const natural = then.kind === 'read' || then.kind === 'cell' ? rows.datatype(then) : undefined;
  if (typeof natural === 'string' && isWithin(natural, datatype)) return literal(expression, rows, end, identity);
  const noteIllTyped = rows.illTyped((value) => illTyped(value, space, expression));
  const written = (text: string): string => {
    noteIllTyped(text);
    return escapeLiteral(text);
  };
  const escape = space.isPlain ? identity : escapeLiteral;
  if (then.kind === 'template' || then.kind === 'row') {
    const { before, after, text } = compileExpression(expression, rows, identity);
    const whole = leavingOut(rows, (inner: string): string => {
      const made = before + inner + after;
      return space.has(made) ? escape(made) : written(made);
    });
    return { before: '"', after: end, text: mapped(text, whole), constant: undefined };
  }
  if (then.kind === 'constant') return literal(expression, rows, end);
  if (natural !== undefined && natural !== null && isMisread(natural, datatype))
    return { before: '"', after: end, text: compileExpression(expression, rows, leavingOut(rows, written)).text, constant: undefined };
  const { has } = space;
  const others = leavingOut(rows, (text: string, typed?: TypedValue): string => {
    if (has(text) && (typed === undefined || !isMisread(typed.datatype, datatype))) return escape(text);
    // The text of the source is not always a lexical form of the natural datatype, and its canonical form is: `Infinity` of a database.
    if (typed !== undefined && typed.text !== text && has(typed.text)) return typed.text;
    return written(text);
  });
  // Most values are texts that are as they should be.
  const encode: Encode = space.isPlain && datatype !== BASE64 ? Object.assign(others, { accepts: has }) : others;
  return { before: '"', after: end, text: compileExpression(expression, rows, encode).text, constant: undefined };
}

const BASE64 = `${XSD}base64Binary`;

/** Whether forms of the natural datatype may be lexical forms of the other, which stand for other values: hexadecimal digits for bytes in Base64. */
const isMisread = (natural: string, datatype: string): boolean => natural === `${XSD}hexBinary` && datatype === BASE64;

/** Checks the text of a literal whose datatype depends on the record; undefined: nothing is checked. */
function checkOfAny(expression: Expression, rows: Accessors): ((text: string, datatype: string) => void) | undefined {
  const { illTyped: noteOf } = rows;
  if (noteOf === undefined) return undefined;
  const notes = new Map<LexicalSpace, (value: string) => void>();
  return (text, datatype) => {
    const space = lexicalSpace(datatype);
    if (space === undefined || space.has(text)) return;
    const note = notes.get(space) ?? noteOf((value) => illTyped(value, space, expression));
    notes.set(space, note);
    note(text);
  };
}

const mapped =
  (text: TextOf, change: (text: string) => string): TextOf =>
  (record, position) =>
    mapText(text(record, position), change);

/** A literal whose text after the value, from the closing quote, is the same for every record. */
function literal(expression: Expression, rows: Accessors, end: string, escape = escapeLiteral): CompiledTerm {
  const { before, after, text } = compileExpression(expression, rows, escape, escapeLiteral);
  return { before: `"${before}`, after: after + end, text, constant: undefined };
}

/**
 * A literal whose text after the value, from the closing quote, depends on the record.
 *
 * @param make the text behind the opening quote, of a value and a tag
 */
function tagged(expression: Expression, rows: Accessors, tag: TextOf, make: (text: string, tag: string) => string): CompiledTerm {
  const { before, after, text } = compileExpression(expression, rows, identity);
  const one = leavingOut(rows, (inner: string, of: string): string => make(before + inner + after, of));
  return {
    before: '"',
    after: '',
    text: (record, position) => pairTexts(text(record, position), tag(record, position), one),
    constant: undefined,
  };
}

const naturalOne = (value: Value): string =>
  typeof value === 'string' ? `${escapeLiteral(value)}"` : `${escapeLiteral(value.text)}"${datatypeSuffix(value.datatype)}`;

function naturalText(values: Values, { repeats }: Accessors): Text {
  if (values === null) return null;
  return Array.isArray(values) ? several(values as readonly Value[], naturalOne, repeats) : naturalOne(values as Value);
}

function invalidLanguage(tag: string, expression: Expression): Fault {
  return new Fault('record/term', 'A language tag is not well-formed', {
    place: { mapping: formatOrigin(expression.origin), expression: expressionText(expression), value: excerpt(fromBytes(tag)) },
    hint: 'Expected a BCP 47 tag such as "en" or "pt-BR".',
  });
}

function illTyped(text: string, { name, example }: LexicalSpace, expression: Expression): Fault {
  return new Fault('record/term', `A value is no ${name}, which is written like ${example}`, {
    place: { mapping: formatOrigin(expression.origin), expression: expressionText(expression), value: excerpt(fromBytes(text)) },
    hint: 'Convert it with a function, give it another datatype, or write it as it is: DATATYPE_CHECK=warn (--datatype-check warn)',
  });
}
