/** What is wrong with an XPath expression, found without a document: the library (fontoxpath) reads it but evaluates nothing. */
import fontoxpath from 'fontoxpath';
import { excerpt } from '../../core/fault.ts';
import type { PathProblem } from '../problem.ts';

/** Resolves a prefix; undefined: not declared. */
export type ResolvePrefix = (prefix: string) => string | undefined;

/** Prefixes that XPath declares. */
const STANDARD = /^(?:xml|xs|fn|math|map|array|err)$/;

/** For expressions that are checked before their document is known, which may declare any prefix. */
export const anyPrefix =
  (namespaces: Readonly<Record<string, string>>): ResolvePrefix =>
  (prefix) =>
    namespaces[prefix] ?? (prefix === '' ? '' : STANDARD.test(prefix) ? undefined : 'urn:any');

/** A syntax error, an undeclared prefix or variable, an unknown function; undefined: the expression is valid. */
export function findXPathProblem(expression: string, resolve: ResolvePrefix): PathProblem | undefined {
  try {
    // The parser reads the expression alone first, so that its end is the end of the branch.
    fontoxpath.parseScript(expression, { language: fontoxpath.Language.XPATH_3_1_LANGUAGE }, NODES, WRITER);
    fontoxpath.evaluateXPath(`if (false()) then (${expression}\n) else ()`, null, null, null, fontoxpath.ReturnType.ALL_RESULTS, {
      namespaceResolver: (prefix) => resolve(prefix) ?? null,
    });
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return { message: 'It is nested too deeply', position: undefined, hint: undefined };
    const message = libraryMessage(error);
    if (!CODED.test(message)) throw error;
    return STATIC.test(message) ? problemOf(error, expression, message) : undefined;
  }
}

const CODED = /\b(?:XP|XQ|FO)/;
/** Codes of errors that are found without a document. */
const STATIC = /\b(?:XPST|XQST)/;

// The parser needs these to make a syntax tree, which is not used.
const node = (): never => ({}) as never;
const NODES = {
  createAttributeNS: node,
  createElementNS: node,
  createTextNode: node,
  createComment: node,
  createCDATASection: node,
  createProcessingInstruction: node,
};
const nothing = (): void => undefined;
const WRITER = { insertBefore: nothing, removeAttributeNS: nothing, removeChild: nothing, setAttributeNS: nothing, setData: nothing };

/** The library lists everything that could follow at the position of an error; the position says more. */
function problemOf(error: unknown, expression: string, message: string): PathProblem {
  const { position } = error as { position?: { readonly start?: { readonly offset?: number } } };
  const offset = position?.start?.offset;
  if (/XPST0003/.test(message) && offset !== undefined) {
    const found = offset < expression.length ? excerpt(expression.slice(offset), 20) : 'its end';
    const hint = /^\s*\$[.[]/.test(expression)
      ? 'It begins like a JSONPath: XPath writes people/person, and @id for an attribute'
      : undefined;
    return { message: `It cannot be understood from ${found} on`, position: offset, hint };
  }
  const [, name, arity] = /Function Q\{[^}]*\}(\S+) with arity of (\d+) not registered/.exec(message) ?? [];
  if (name !== undefined) {
    const message = `There is no function ${name} with ${arity} ${arity === '1' ? 'argument' : 'arguments'}`;
    return { message, position: nameIn(expression, name), hint: READING.test(name) ? READS_NOTHING : undefined };
  }
  const variable = /variable (\S+) is not in scope/i.exec(message)?.[1];
  if (variable !== undefined) {
    return { message: `There is no variable $${variable}`, position: nameIn(expression, `$${variable}`), hint: undefined };
  }
  if (!/XPST0081/.test(message)) return { message, position: undefined, hint: undefined };
  const prefix = /prefix (\S+)/i.exec(message)?.[1];
  return {
    message,
    position: prefix === undefined ? undefined : nameIn(expression, `${prefix}:`),
    hint: `Declare the prefix ${prefix ?? ''} in the mapping (rml:namespace), or on the document's root element`.replace('  ', ' '),
  };
}

/** Functions that read something else than the record. */
const READING =
  /^(?:unparsed-text(?:-lines|-available)?|doc(?:ument|-available)?|(?:uri-)?collection|json-doc|environment-variable|available-environment-variables|load-xquery-module|transform)$/;
const READS_NOTHING =
  'Expressions read the record alone, no files, no URLs and no environment: name the other document as a logical source, and join it';

function nameIn(expression: string, name: string): number | undefined {
  const at = expression.indexOf(name);
  return at < 0 ? undefined : at;
}

/** The library's messages print the expression over several lines; others say what is wrong. */
export const libraryMessage = (error: unknown): string =>
  String(error instanceof Error ? error.message : error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /XP|FO|XQ|Error:/.test(line))
    .join(' ')
    .slice(0, 300) || String(error).slice(0, 300);
