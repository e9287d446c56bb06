/** Translates errors of the Turtle parser: what was found, what was expected and where. */
import { didYouMean } from '../../core/nearest.ts';
import type { Origin } from '../model/model.ts';
import { USUAL_PREFIXES } from '../vocabulary/namespaces.ts';

/** A token of n3. `line` is 1-based, `start` and `end` are 0-based columns; `end` of a multi-line text is on `endLine`. */
export interface Token {
  readonly type: string;
  readonly value: string;
  readonly prefix: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly endLine?: number;
}

interface Finding {
  readonly message: string;
  readonly hint: string | undefined;
}

/** Pattern of the parser's message → what was expected, and what to do. */
const EXPECTATIONS: readonly (readonly [RegExp, string, string?])[] = [
  [/^Expected punctuation to follow/, '`;`, `,`, `.` or `]`', 'the statement before it may lack its `;`'],
  [/^Expected dot to follow/, '`.`'],
  [/^Expected declaration to end with a dot/, '`.` after the declaration'],
  [/^Expected prefix to follow/, 'a prefix such as `rml:` after @prefix'],
  [/^Expected IRI to follow prefix/, 'an IRI such as <http://w3id.org/rml/>'],
  [/^Expected valid IRI to follow base/, 'an IRI after @base'],
  [/^Expected predicate but got/, 'a property'],
  [/^(Expected entity but got|Unexpected literal|Unexpected [.;\]})]|Unexpected eof)/, 'an IRI, a prefixed name or a blank node'],
  [/^Disallowed blank node as predicate/, 'a property, which is never a blank node'],
  [/^Invalid IRI/, 'an IRI that can be resolved'],
  [/^Unexpected graph/, 'a statement; Turtle has no graphs in braces'],
];

/** Slips that have one cause each: the text in front of the place on its line, the text from there on, and what to do. */
const SLIPS: readonly (readonly [before: RegExp, rest: RegExp, hint: (found: RegExpExecArray) => string])[] = [
  [/prefix\s+$/i, /^([^\s:<>"'=]*)\s*=/, ([, name]) => `a declaration has no =: ${name}: <…>`],
  [/prefix\s+\S*:\s*$|base\s+$/i, /^=/, () => 'a declaration has no =: the IRI follows at once'],
  [/prefix\s+$/i, /^([^\s:<>"']+)\s*</, ([, name]) => `a colon ends a prefix: ${name}: <…>`],
  [/prefix\s+\S*:\s*$|base\s+$/i, /^["']([^"'\s]*)["']/, ([, iri]) => `write <${iri}>: it is no text`],
  [/(?:)/, /^([a-z][a-z\d+.-]*:\/\/[^\s<>"{}|\\^`]*?)[;,.]*(?=\s|$)/i, ([, iri]) => `an IRI stands in angle brackets: <${iri}>`],
  [/(?:)/, /^[‹«〈⟨＜]([^\s›»〉⟩＞]+)[›»〉⟩＞]/, ([, iri]) => `an IRI stands in < and >: <${iri}>`],
  [/(?:)/, /^[“”„‟‘’‚‛«»″′]/, () => 'texts stand in straight quotes: "…"'],
  [/^\s*@(?:prefix\s+\S*:|base)\s*<[^<>]*>\s*$/i, /^[;,]/, () => 'a declaration ends with a full stop: write . in its place'],
  [/^\s*@prefix:\s*$/i, /^([^\s:<>"'#]+):?\s*</, ([, name]) => `the colon stands behind the prefix: @prefix ${name}: <…> .`],
  [/@prefix\s*$/i, /^:\s*([^\s:<>"'#]+?):?\s*</, ([, name]) => `the colon stands behind the prefix: @prefix ${name}: <…> .`],
  [/(?:)/, /^\/[/*]/, () => 'a comment begins with #'],
  [/^\s*$/, /^@(?:prefix|base)\b/, () => 'the statement in front of it has no full stop: write . behind it'],
  [/(?:)/, /^@(prefix|base)\b/i, ([, word]) => `write it in small letters: @${word?.toLowerCase()}`],
  [
    /(?:^|\s)(PREFIX|BASE)\s[^@]*>\s*$/i,
    /^\./,
    ([, word]) => `${word?.toUpperCase()} has no full stop behind it: leave it out, or write @${word?.toLowerCase()}`,
  ],
];

/** What to do about a place where parsing stopped, if its text shows the cause. */
function slipAt(text: string, line: number, column: number): string | undefined {
  const content = lineOf(text, line) ?? '';
  const [before, rest] = [content.slice(0, column), content.slice(column)];
  for (const [inFront, from, hint] of SLIPS) {
    const [first, second] = [inFront.exec(before), from.exec(rest)];
    if (first !== null && second !== null) return hint(second.length > 1 ? second : first);
  }
  return undefined;
}

/** A position on the line of a property with a secret text, or on the next line: the text there may be part of the secret. */
const SECRET = /(?:password|jdbcDSN)>?\s(?:\s*|[^\n]*)$/i;
/** Tokens without text. */
const BARE = /^(?:eof|[.;,[\](){}])$/;
const SECRET_HINT = 'write it in quotes, with \\" for a quote and \\\\ for a backslash in it, and a `;` behind it';

/** Converts an `error` thrown by n3 for `text` to a finding for the author of the document. Other errors are rethrown. */
export function syntaxFinding(error: unknown, document: string, text: string): Finding & { readonly origin: Origin } {
  const context =
    error instanceof Error ? (error as { context?: { token?: Token; line: number; previousToken?: Token } }).context : undefined;
  if (!(error instanceof Error) || context === undefined) throw error;
  const message = error.message.replace(/ on line \d+\.$/, '');
  const place = context.token === undefined ? afterToken(text, context.previousToken) : { ...context.token, column: context.token.start };
  if (!BARE.test(context.token?.type ?? '') && SECRET.test(textBefore(text, place))) {
    const origin = { document, line: place.line, column: place.column + 1 };
    return { origin, message: 'what follows a password or a JDBC URL is not Turtle', hint: SECRET_HINT };
  }
  if (context.token !== undefined) {
    const { line, start, type } = context.token;
    const found = type === 'eof' ? 'the end of the document' : excerptAt(text, line, start, context.token);
    const finding = grammarFinding(message, found, context.token, text);
    return { origin: { document, line, column: start + 1 }, ...finding, hint: slipAt(text, line, start) ?? finding.hint };
  }
  const { line, column } = place;
  const finding = lexicalFinding(text, line, column);
  return { origin: { document, line, column: column + 1 }, ...finding, hint: finding.hint ?? slipAt(text, line, column) };
}

function grammarFinding(message: string, found: string, token: Token, text: string): Finding {
  const undeclared = /^Undefined prefix "(.*):"/.exec(message);
  if (undeclared !== null) {
    const prefix = undeclared[1] as string;
    const usual = Object.hasOwn(USUAL_PREFIXES, prefix) ? USUAL_PREFIXES[prefix] : undefined;
    const declared = [...text.matchAll(/^[ \t]*@?prefix[ \t]+([^\s:]*):/gim)].map((match) => `${match[1]}:`);
    return {
      message: `the prefix ${prefix}: is not declared`,
      hint: didYouMean(`${prefix}:`, declared) ?? (usual === undefined ? undefined : `add @prefix ${prefix}: <${usual}> .`),
    };
  }
  const known = EXPECTATIONS.find(([pattern]) => pattern.test(message));
  if (known === undefined) return { message: `found ${found}: ${message}`, hint: undefined };
  const ends = token.type === 'eof' || token.type === '.';
  const bracket = ends ? unclosed(textBefore(text, { line: token.line, column: token.start })) : undefined;
  const usual = token.type === 'eof' ? 'the last statement lacks its `.`' : known[2];
  return { message: `found ${found}, expected ${known[1]}`, hint: bracket ?? usual };
}

/** For a text without escaped backslashes. */
const BAD_ESCAPE =
  /\\(?!["'nrtfb]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U(?!0000[dD][89a-fA-F])[0-9a-fA-F]{8})(?:u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|.)/;

function lexicalFinding(text: string, line: number, column: number): Finding {
  const rest = (lineOf(text, line) ?? '').slice(column);
  const quote = rest[0];
  if (quote === '"' || quote === "'") {
    const badEscape = BAD_ESCAPE.exec(rest.replaceAll('\\\\', '  '))?.[0];
    if (badEscape !== undefined) {
      const hint = /^\\u/i.test(badEscape)
        ? 'four hexadecimal digits follow \\u, eight follow \\U, and halves of surrogate pairs are no characters; write a backslash itself as \\\\'
        : 'write a backslash itself as \\\\';
      return { message: `a text holds ${badEscape}, which is no escape of Turtle`, hint };
    }
    const typographic = /[“”„‟‘’‚‛«»]/.exec(rest)?.[0];
    if (typographic !== undefined)
      return { message: 'a text does not end on its line', hint: `close it with ${quote}: ${typographic} is another character` };
    return { message: 'a text does not end on its line', hint: `close it with ${quote}, or use ${quote.repeat(3)} for several lines` };
  }
  if (quote === '<') {
    return { message: `found ${JSON.stringify(firstWord(rest))}, which is not an IRI`, hint: 'an IRI has no spaces and ends with >' };
  }
  if (rest === '') return { message: 'the document ends in the middle of a statement', hint: undefined };
  return { message: `found ${JSON.stringify(firstWord(rest))}, which is not Turtle`, hint: undefined };
}

const firstWord = (rest: string): string => (/^\S{1,40}/.exec(rest) ?? [''])[0];

/** For a statement or document that ends too early: the bracket that is still open, ignoring brackets in texts and comments. */
function unclosed(text: string): string | undefined {
  const bare = text.replace(/"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|<[^<>"{}|^`\\\s]*>|#.*/g, (hit) =>
    hit.replace(/\S/g, ' '),
  );
  const open: { bracket: string; line: number }[] = [];
  bare.split('\n').forEach((content, i) => {
    for (const character of content) {
      if (character === '[' || character === '(') open.push({ bracket: character, line: i + 1 });
      else if (character === ']' || character === ')') open.pop();
    }
  });
  const last = open.at(-1);
  return last === undefined ? undefined : `the \`${last.bracket}\` of line ${last.line} is not closed`;
}

function excerptAt(text: string, line: number, start: number, token: Token): string {
  const source = lineOf(text, line) ?? '';
  const end = token.endLine === undefined ? token.end : source.length;
  const found = source.slice(start, Math.max(end, start + 1));
  return `\`${found.length > 40 ? `${found.slice(0, 40)}…` : found}\``;
}

const textBefore = (text: string, { line, column }: { readonly line: number; readonly column: number }): string => {
  const lines = text.split(/\r\n|\r|\n/).slice(0, line);
  lines[line - 1] = (lines[line - 1] ?? '').slice(0, column);
  return lines.join('\n');
};

const lineOf = (text: string, line: number): string | undefined => text.split(/\r\n|\r|\n/)[line - 1];

/** Position of the next token after `token`, past blanks and comments: where the lexer stopped. */
function afterToken(text: string, token: Token | undefined): { line: number; column: number } {
  const lines = text.split(/\r\n|\r|\n/);
  let line = token === undefined ? 1 : (token.endLine ?? token.line);
  let column = token === undefined ? 0 : token.end;
  for (; line <= lines.length; line++, column = 0) {
    const rest = (lines[line - 1] as string).slice(column);
    const blank = /^\s*(?:#.*)?/.exec(rest) as RegExpExecArray;
    if (blank[0].length < rest.length) return { line, column: column + blank[0].length };
  }
  return { line: lines.length, column: (lines.at(-1) as string).length };
}
