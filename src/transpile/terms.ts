/**
 * Terms of a plan → SQL that writes their N-Quads text, or null where the term has no value.
 *
 * It does what `src/terms/encode.ts` does, for mappings whose error policy is `strict`: a value that gives no valid term ends the job.
 */
import { blankLabel, escapeLiteral, findNotInIri, fromBytes, guardUnsafeIri, hasScheme, toBytes } from '../core/text.ts';
import { XSD } from '../core/value.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Collection, Member, RowTerm, Term } from '../plan/algebra.ts';
import { expressionsOf, leavesOfTerm, unconditional } from '../plan/expressions.ts';
import { schemeOf } from '../plan/written.ts';
import { lexicalPattern } from './dialects/lexical.ts';
import { evaluate, textSql } from './expressions.ts';
import { type Row, refused } from './row.ts';
import { any, apply, type Condition, concat, every, failWhen, isNull, matches, not, type Sql, text, when } from './sql.ts';

/** The text of a term, as ordinary text. Refuses what cannot be written, and gives null for it. */
export function termSql(term: Term, row: Row): Sql {
  switch (term.kind) {
    case 'constant':
      return text(constantTerm(term, row));
    case 'iri':
      return iriSql(term, row);
    case 'blank': {
      const made = textSql(term.value, row);
      if (unconditional(term.value).kind === 'row') return concat(text('_:'), made);
      return concat(text(`_:${row.labels}b`), apply('label', made));
    }
    case 'literal':
      return literalSql(term, row);
    case 'encoded':
      if (row.joined !== undefined) return row.joined;
      return refused(row, term.origin, 'a term of several rows: a quoted triple or a view with a join');
    case 'quoted':
      return refused(row, term.origin, 'quoted triples');
    case 'head':
      return headSql(term.collection, row);
  }
}

// ---------------------------------------------------------------- IRIs

/** What must not stand in an IRI: `src/core/text.ts`. */
const NOT_IN_IRI = '[\\x00-\\x20<>"{}|^`\\\\]';
const SCHEME = '^[A-Za-z][A-Za-z0-9+.-]*:';

const absolute = (iri: string, base: string): string => (hasScheme(iri) ? iri : base + iri);

function constantTerm({ term, type, base, origin }: Extract<RowTerm, { kind: 'constant' }>, row: Row): string {
  if (type === 'blank') return `_:${row.labels}c${blankLabel(toBytes(term.value))}`;
  if (type === 'literal') {
    const { language, datatype } = term as Extract<typeof term, { kind: 'literal' }>;
    const escaped = `"${fromBytes(escapeLiteral(toBytes(term.value)))}"`;
    return language === undefined ? escaped + suffixOf(absolute(datatype, base)) : `${escaped}@${language}`;
  }
  const iri = absolute(term.value, base);
  if (type === 'unsafe-iri' || type === 'unsafe-uri') return `<${guardUnsafeIri(iri)}>`;
  if (findNotInIri(iri) >= 0)
    row.refusals.add(origin, `the constant ${JSON.stringify(iri)} is no valid IRI: every record would be rejected`);
  return `<${iri}>`;
}

const suffixOf = (datatype: string): string => (datatype === `${XSD}string` ? '' : `^^<${datatype}>`);

function iriSql({ type, value, base }: Extract<RowTerm, { kind: 'iri' }>, row: Row): Sql {
  const isUnsafe = type === 'unsafe-iri' || type === 'unsafe-uri';
  const isUri = type === 'uri' || type === 'unsafe-uri';
  const then = unconditional(value);
  const isSafe = then.kind === 'template' && !isUnsafe;
  // Either changes what the other keeps; a function of Spark takes no result of one that looks at each character.
  const guarded = (one: Sql): Sql => (isUnsafe ? apply('unsafe_iri', one) : one);
  const encode = (one: Sql): Sql => {
    if (isSafe) return apply(isUri ? 'uri_part' : 'iri_part', one);
    return isUri ? apply('iri_to_uri', guarded(one)) : guarded(one);
  };
  const made = textSql(value, row, encode, isUnsafe ? guardUnsafeIri : undefined);
  const scheme = isSafe ? schemeOf(then.parts) : 'value';
  if (isSafe && scheme !== 'value') {
    const start = (scheme === 'template' ? '' : base) + (typeof then.parts[0] === 'string' ? then.parts[0] : '');
    if (findNotInIri(start) >= 0) row.refusals.add(value.origin, `${JSON.stringify(start)} is no beginning of an IRI`);
    return concat(text(scheme === 'template' ? '<' : `<${base}`), made, text('>'));
  }
  const whole = when(matches(made, SCHEME), made, concat(text(isUnsafe ? guardUnsafeIri(base) : base), made));
  if (isUnsafe) return concat(text('<'), whole, text('>'));
  const message = `quadmill: record/term: an IRI holds a character that none may hold (${formatOrigin(value.origin)})`;
  return failWhen(matches(whole, NOT_IN_IRI), message, made, concat(text('<'), whole, text('>')));
}

// ---------------------------------------------------------------- collections

export const NIL = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>';

/** The node that has the members of a collection; null where a condition does not hold. */
export const nodeSql = ({ number, row: of }: Collection, row: Row): Sql => concat(text('_:'), textSql(of, row), text(`g${number}`));

/** What stands for a collection in statements; null where it has no members, unless it may be empty. */
export function headSql(collection: Collection, row: Row): Sql {
  const { origin, as, head, strategy, allowEmpty, members } = collection;
  const refuse = (reason: string): Sql => refused(row, origin, `a collection ${reason}`);
  if (head !== undefined) return refuse('with a name: its members are those of all its records in their order, and rows of SQL have none');
  if (strategy === 'product') return refuse('for each combination of its members (rml:cartesianProduct)');
  const node = nodeSql(collection, row.beside('r'));
  const isThere = any(...members.map((member, at) => isMember(member, at, row)));
  if (!allowEmpty) return when(isThere, node);
  return as === 'list' ? when(isThere, node, when(not(isNull(node)), text(NIL))) : node;
}

/** A member for a row, and the array of which each value gives one; undefined: there is one at most. */
export interface MemberSql {
  readonly item: Sql;
  readonly each: { readonly element: string; readonly array: string } | undefined;
}

/** @param at the number of the member */
export function memberSql(member: Member, at: number, row: Row): MemberSql {
  if (member.kind === 'gather') return { item: headSql(member.collection, row.beside(`m${at}`)), each: undefined };
  if (member.kind === 'joined')
    return { item: refused(row, member.join.origin, 'members of a collection that a join finds'), each: undefined };
  const apart = row.apart(`m${at}`);
  const item = termSql(member.term, apart);
  const [each, other] = apart.several;
  if (each === undefined) return { item, each };
  const isPlain = expressionsOf(member.term).every(({ kind }) => kind === 'read' || kind === 'template' || kind === 'constant');
  if (other !== undefined || !isPlain)
    refused(
      row,
      member.term.origin,
      'members of a collection of several references with several values, or of a function or condition over them',
    );
  return { item, each: { element: each[0], array: each[1] } };
}

function isMember(member: Member, at: number, row: Row): Condition {
  const { item, each } = memberSql(member, at, row);
  if (each === undefined || member.kind !== 'term') return not(isNull(item));
  const values = leavesOfTerm(member.term).flatMap((leaf) => row.apart(`m${at}`).read(leaf) ?? []);
  return every(
    { kind: 'has-value', array: each.array },
    ...values.filter(({ isSeveral }) => !isSeveral).map(({ written }) => not(isNull(written))),
  );
}

// ---------------------------------------------------------------- literals

function literalSql(term: Extract<RowTerm, { kind: 'literal' }>, row: Row): Sql {
  const { value, language, datatype, origin } = term;
  const written = textSql(value, row);
  if (language?.kind === 'constant') return concat(text('"'), apply('literal', written), text(`"@${language.text}`));
  if (language !== undefined) {
    const tag = textSql(language, row.beside('l'));
    const made = concat(text('"'), apply('literal', written), text('"@'), tag);
    const message = `quadmill: record/term: a language tag is not well-formed (${formatOrigin(language.origin)})`;
    return failWhen(not(matches(tag, '^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*\\z')), message, tag, made);
  }
  if (datatype !== undefined) {
    if (datatype.kind !== 'constant') return refused(row, datatype.origin, 'a datatype that depends on the record');
    const iri = absolute(datatype.term.value, datatype.base);
    const made = concat(text('"'), apply('literal', written), text(`"${suffixOf(iri)}`));
    const pattern = lexicalPattern(iri);
    // Reading the mapping has checked a constant.
    if (pattern === undefined || unconditional(value).kind === 'constant') return made;
    if (pattern === null) return refused(row, datatype.origin, `the check of values of ${iri}: no pattern of SQL has its lexical space`);
    const message = `quadmill: record/term: a value is not in the lexical space of ${iri} (${formatOrigin(origin)})`;
    return failWhen(not(matches(written, pattern)), message, written, made);
  }
  const { literal } = evaluate(value, row);
  if (literal !== undefined) return literal;
  return concat(text('"'), apply('literal', written), text('"'));
}
