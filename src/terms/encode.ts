/**
 * Term → closure over rows that writes N-Quads text.
 *
 * A term is text in three pieces: `before` and `after` are the same for every record, `text` comes from the record. So a rule can merge its
 * own constant text with theirs, and a hash covers only the middle.
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
import { type Value, type Values, XSD } from '../core/value.ts';
import type { TermType } from '../mapping/model/model.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Expression, QuotedTerm, QuotedTriple, RowTerm, Term } from '../plan/algebra.ts';
import { expressionText, unconditional } from '../plan/expressions.ts';
import { schemeOf } from '../plan/written.ts';
import {
  type Accessors,
  compileExpression,
  compileValues,
  identity,
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
      const token = constantToken(term);
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

function compileQuoted({ triples }: QuotedTerm, rows: Accessors): CompiledTerm {
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
function constantToken({ term, type, base, origin }: Constant): string {
  const value = toBytes(term.value);
  if (type === 'blank') return `_:c${blankLabel(value)}`;
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
  const resolve = (inner: string): string => {
    const iri = before + inner + after;
    return checkedIri(hasScheme(iri) ? iri : base + iri, type, value);
  };
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
  return { before: '_:b', after: '', text: (record, position) => mapText(text(record, position), label), constant: undefined };
}

// ---------------------------------------------------------------- literals

function compileLiteral({ value: expression, language, datatype }: Literal, rows: Accessors): CompiledTerm {
  if (language !== undefined) {
    if (language.kind === 'constant') return literal(expression, rows, `"@${language.text}`);
    const tag = compileExpression(language, rows, identity);
    return tagged(expression, rows, (record, position) =>
      mapText(tag.text(record, position), (inner) => {
        const text = tag.before + inner + tag.after;
        if (!/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(text)) throw invalidLanguage(text, language);
        return `"@${text}`;
      }),
    );
  }
  if (datatype !== undefined) {
    const type = compileTerm(datatype, rows);
    if (type.constant !== undefined) return literal(expression, rows, `"${datatypeSuffix(type.constant.slice(1, -1))}`);
    return tagged(expression, rows, (record, position) =>
      mapText(type.text(record, position), (inner) => `"${datatypeSuffix((type.before + inner + type.after).slice(1, -1))}`),
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

/** A literal whose text after the value, from the closing quote, is the same for every record. */
function literal(expression: Expression, rows: Accessors, end: string, escape = escapeLiteral): CompiledTerm {
  const { before, after, text } = compileExpression(expression, rows, escape);
  return { before: `"${escapeLiteral(before)}`, after: escapeLiteral(after) + end, text, constant: undefined };
}

/** A literal whose text after the value, from the closing quote, depends on the record. */
function tagged(expression: Expression, rows: Accessors, end: TextOf): CompiledTerm {
  const { before, after, text } = compileExpression(expression, rows, escapeLiteral);
  return {
    before: `"${escapeLiteral(before)}`,
    after: '',
    text: (record, position) => pairTexts(text(record, position), end(record, position), (l, r) => l + escapeLiteral(after) + r),
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
