/**
 * Texts of Turtle that mean what it does not say.
 *
 * Prefixed names where it replaces no prefix, in quotes and in angle brackets: `"ex:A"` and `<ex:A>` are an IRI of the scheme `ex`, which is
 * hardly what the author of `@prefix ex:` means. References as other languages write them: `$(id)` of YARRRML, `${id}` of shells and scripts,
 * `{id}` in a constant,
 * `%(id)` of format strings, and `$id`, `%id%`, `[id]` and `:id` in a template without references.
 */

import type { Report } from '../model/diagnostics.ts';
import { expressionText } from '../model/expressions.ts';
import type { Graph } from '../model/graph.ts';
import type { Expression, Origin, RdfTerm } from '../model/model.ts';
import { USUAL_PREFIXES } from '../vocabulary/namespaces.ts';
import type { Prefixes } from '../vocabulary/near-namespaces.ts';

/** What the checks need of the reading of a mapping. */
interface Context {
  readonly graph: Graph;
  readonly report: Report;
  readonly prefixes: Prefixes;
}

interface PrefixedName {
  readonly prefix: string;
  readonly namespace: string;
  readonly rest: string;
  readonly isDeclared: boolean;
}

/** Schemes of IRIs that stand in data, which a document may also declare as prefixes. */
const SCHEMES = /^(?:https?|ftps?|file|urn|mailto|tel|data|did|tag|geo|info|doi|wss?|news|cid|jar|s3|oci|ark|hdl)$/i;

/** The name that a text of a document has the form of; undefined if its scheme is no prefix, or the namespace begins with it as well. */
function prefixedName({ prefixes }: Context, text: string, { document }: Origin): PrefixedName | undefined {
  const declared = prefixes.get(document);
  const [, prefix, rest] = /^([\p{L}\p{N}_.-]*):(?!\/\/)(.*)$/su.exec(text) ?? [];
  if (declared === undefined || prefix === undefined || rest === undefined) return undefined;
  const own = declared.get(prefix)?.iri;
  const namespace = own ?? (Object.hasOwn(USUAL_PREFIXES, prefix) ? USUAL_PREFIXES[prefix] : undefined);
  if (namespace === undefined || text.startsWith(namespace)) return undefined;
  return { prefix, namespace, rest, isDeclared: own !== undefined };
}

/** Names without braces, brackets and blanks can be written as they are. */
const isName = (rest: string): boolean => /^[\p{L}\p{N}_.-]*$/u.test(rest) && !rest.endsWith('.');

/** How to write what the text means. */
const hintFor = ({ prefix, namespace, rest, isDeclared }: PrefixedName): string => {
  if (!isName(rest)) return `write the namespace: ${JSON.stringify(namespace + rest)}`;
  const declare = isDeclared ? '' : `add @prefix ${prefix}: <${namespace}> . and `;
  return `${declare}write ${prefix}:${rest} without quotes, or <${namespace}${rest}>`;
};

/** A hint for a text where an IRI is expected, if it is a prefixed name. */
export function unquoted(context: Context, term: RdfTerm | undefined, origin: Origin): string | undefined {
  const name = term?.kind === 'literal' ? prefixedName(context, term.value, origin) : undefined;
  return name === undefined ? undefined : hintFor(name);
}

/**
 * Reports a text that becomes an IRI, or the beginning of one, and has a prefix for its scheme. What a declared prefix makes is certainly
 * wrong, unless it is also the name of a scheme.
 */
export function checkPrefix(context: Context, text: string, origin: Origin): 'right' | 'warned' | 'wrong' {
  const name = prefixedName(context, text, origin);
  if (name === undefined) return 'right';
  const { prefix, namespace, isDeclared } = name;
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const what = isDeclared ? `the prefix ${prefix}: of this document` : `the usual prefix ${prefix}:`;
  const message = `${shown} is in quotes, where ${what} is not replaced by ${`<${namespace}>`}`;
  if (isDeclared && !SCHEMES.test(prefix)) {
    context.report.error('prefix-in-text', origin, message, hintFor(name));
    return 'wrong';
  }
  context.report.warning('prefix-in-text', origin, `${message}: the scheme of the IRI is ${prefix}`, hintFor(name));
  return 'warned';
}

/** Warns of a text that is an object as it stands, and has the form of a prefixed name. */
export function checkLiteralName(context: Context, { value }: RdfTerm, origin: Origin): void {
  const name = prefixedName(context, value, origin);
  if (name === undefined || !name.isDeclared || name.rest === '' || !isName(name.rest) || SCHEMES.test(name.prefix)) return;
  const message = `the object ${JSON.stringify(value)} is a text, in which the prefix ${name.prefix}: is not replaced`;
  const hint = `${hintFor(name)}; where the text is meant, add rml:termType rml:Literal`;
  context.report.warning('prefix-in-text', origin, message, hint);
}

/** Warns of IRIs in angle brackets whose scheme is a prefix. Nodes that are described under such an IRI are named alike everywhere. */
export function checkBrackets(context: Context): void {
  const { graph, report } = context;
  const check = (iri: string, origin: Origin): void => {
    const name = prefixedName(context, iri, origin);
    if (name === undefined || SCHEMES.test(name.prefix) || graph.has(iri)) return;
    const { prefix, namespace, rest, isDeclared } = name;
    const declare = isDeclared ? '' : `add @prefix ${prefix}: <${namespace}> . and `;
    const message = `in <${iri}> the prefix ${prefix}: is not replaced: the scheme of the IRI is ${prefix}`;
    const hint = `${declare}write ${isName(rest) ? `${prefix}:${rest} without < and >, or ` : ''}<${namespace}${rest}>`;
    report.warning('prefix-in-text', origin, message, hint);
  };
  for (const { statements } of graph.values()) {
    for (const { property, propertyOrigin, object, origin } of statements) {
      check(property, propertyOrigin);
      if (object.kind === 'iri') check(object.value, origin);
    }
  }
}

// ---------------------------------------------------------------- references of other languages

const NAME = '([\\p{L}_][\\p{L}\\p{N}_-]*)';
/** `$id`, `%id%`, `[id]`, and `:id` at the beginning of a segment. */
const FOREIGN = new RegExp(`\\$${NAME}|%${NAME}%|\\[${NAME}\\]|(?<=[/#=]):${NAME}`, 'u');

type Constant = Extract<Expression, { kind: 'constant' }>;
type Template = Extract<Expression, { kind: 'template' }>;

/**
 * Reports them in an expression of a term map. A template for IRIs that refers to nothing else is an error: every record would have the same
 * term. Elsewhere such a text may be meant as it stands.
 *
 * @param isIri whether the term is an IRI
 */
export function checkForeignReferences({ report }: Context, expression: Constant | Template, isIri: boolean): void {
  const { origin } = expression;
  // A value of YARRRML writes such a text with a backslash.
  if (origin.key !== undefined) return;
  const isTemplate = expression.kind === 'template';
  const text = isTemplate ? expressionText(expression) : expression.term.value;
  const shown = `the ${expression.kind} ${JSON.stringify(text)}`;
  const [found, ofYarrrml, ofFormat] = /\$\(([^()]+)\)|(?<!\d\s*)%\(([\p{L}_][\p{L}\p{N}_]*)\)/u.exec(text) ?? [];
  if (found !== undefined) {
    const name = ofYarrrml ?? ofFormat;
    const refers = isTemplate && expression.parts.some(({ kind }) => kind === 'reference');
    if (!isIri && refers) return;
    const message = `${shown} holds ${found}, ${ofYarrrml === undefined ? '' : 'a reference of YARRRML, '}which is a text in RML: every record gets it as it stands`;
    const hint = `write ${isTemplate ? '' : 'a template, with '}{${name}}${isTemplate ? '' : ' as the reference'}`;
    if (isIri && isTemplate && !refers) report.error('text-for-reference', origin, message, hint);
    else report.warning('text-for-reference', origin, message, hint);
    return;
  }
  if (isTemplate) {
    const foreign = isIri && !expression.parts.some(({ kind }) => kind === 'reference') ? FOREIGN.exec(text) : null;
    if (foreign !== null) {
      const message = `${shown} has no reference, and holds ${foreign[0]}: every record gets the same IRI`;
      const hint = `write {${foreign.slice(1).find((one) => one !== undefined)}}; where the text is meant, write it in <…> as a constant`;
      report.warning('text-for-reference', origin, message, hint);
      return;
    }
    const at = expression.parts.findIndex(({ kind }, i) => kind === 'reference' && textAt(expression, i - 1).endsWith('$'));
    if (!isIri || at < 0) return;
    const reference = `{${(expression.parts[at] as { reference: string }).reference}}`;
    const message = `${shown} has a $ in front of ${reference}, which every IRI gets as it stands`;
    report.warning('text-for-reference', origin, message, `write ${reference} without the $`);
  } else if (!isIri && /^\$?\{[^{}\s]+\}$/.test(text)) {
    const message = `${shown} is a text, the same for every record`;
    report.warning('text-for-reference', origin, message, 'a constant has no references: write rml:reference or rml:template');
  }
}

function textAt({ parts }: Template, i: number): string {
  const part = parts[i];
  return part?.kind === 'text' ? part.text : '';
}
