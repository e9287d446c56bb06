/** Values, functions and conditions: expressions of term maps. */
import { didYouMean, nearest } from '../../core/nearest.ts';
import { findNotInIri, hasScheme } from '../../core/text.ts';
import { loadedFunctions } from '../../functions/library.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Origin, RdfTerm, TemplatePart } from '../model/model.ts';
import type { YarrrmlDocument } from './document.ts';
import { fieldsOf, itemsOf, type KeyOf, reportKind, textIn } from './keys.ts';
import { headOf, usualNamespace, usualPrefixes } from './prefixes.ts';
import type { Entry, Tree } from './tree.ts';
import { endOfReference, parseValue } from './value.ts';
import { iri, literal, named, type Subject } from './writer.ts';

/** What reading the values of a document needs. */
export interface Scope {
  readonly report: Report;
  readonly document: YarrrmlDocument;
  /** All of the mapping: names of parts may be those of other documents. */
  readonly documents: readonly YarrrmlDocument[];
}

export type TermType = 'iri' | 'blank' | 'literal';

export const TERM_TYPES: Readonly<Record<TermType, string>> = { iri: 'rml:IRI', blank: 'rml:BlankNode', literal: 'rml:Literal' };

/** Reads `type: iri`; `otherwise` where there is none. */
export function termTypeIn(report: Report, entry: Entry | undefined, otherwise: TermType): TermType {
  const text = textIn(report, entry);
  if (entry === undefined || text === undefined) return otherwise;
  if (Object.hasOwn(TERM_TYPES, text)) return text as TermType;
  report.error('wrong-value', entry.value.origin, `a type is iri, blank or literal, found ${JSON.stringify(text)}`, typeHint(text));
  return otherwise;
}

/** What a text that is no type may be meant as. */
function typeHint(text: string): string | undefined {
  if (text.endsWith('~lang')) return `a language is written language: ${text.slice(0, -5)}`;
  if (text.includes(':')) return `a datatype is written datatype: ${text}`;
  if (OF_XSD.has(text)) return `a datatype is written datatype: xsd:${text}`;
  if (/^u?ri$/i.test(text)) return 'write type: iri';
  return didYouMean(text, Object.keys(TERM_TYPES));
}

/** The datatypes of XML Schema that mappings mostly use. */
const OF_XSD: ReadonlySet<string> = new Set(
  'anyURI boolean date dateTime decimal double float gYear int integer long nonNegativeInteger string time'.split(' '),
);

/** `en-lang`, `en~lng`: nearly the suffix of a language. A prefixed name has a colon. */
const NEARLY_LANGUAGE = /^([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*?)(?:[-_@]lang|~(?!iri$)[A-Za-z]*)$/;

/** For a text that is no datatype. */
function datatypeHint(text: string): string | undefined {
  const language = NEARLY_LANGUAGE.exec(text)?.[1];
  if (language !== undefined) return `a language ends with ~lang: ${language}~lang`;
  if (Object.hasOwn(TERM_TYPES, text)) return `a type is written type: ${text}${text === 'iri' ? ', or with the value: $(…)~iri' : ''}`;
  return OF_XSD.has(text) ? `write xsd:${text}` : undefined;
}

/** `$(id)~iri` → its value, and whether it says that it is an IRI. */
export function withoutType(text: string): readonly [value: string, isIri: boolean] {
  return text.endsWith('~iri') ? [text.slice(0, -4), true] : [text, false];
}

/** The parts of a value, prefix expanded; undefined, with a diagnostic, if it is not valid. */
function templateParts({ report, document }: Scope, text: string, origin: Origin, isIri: boolean): readonly TemplatePart[] | undefined {
  const head = headOf(text, document.prefixes);
  if (head.kind === 'undeclared' && isIri) {
    reportPrefix(report, head.prefix, document.prefixes, origin);
    return undefined;
  }
  const parsed = parseValue(head.kind === 'prefix' ? head.rest : text, document.external);
  if (parsed.kind === 'fault') {
    report.error('malformed-template', origin, parsed.message, parsed.hint);
    return undefined;
  }
  if (parsed.stray !== undefined)
    report.warning(
      'malformed-template',
      origin,
      `a ) stands behind the reference $(${parsed.stray}), which it does not close: it is text`,
      'write \\) for a ) within a reference, and in text, too',
    );
  if (head.kind !== 'prefix') return parsed.parts;
  const [first, ...rest] = parsed.parts;
  if (first?.kind === 'text') return [{ kind: 'text', text: head.namespace + first.text }, ...rest];
  return [{ kind: 'text', text: head.namespace }, ...parsed.parts];
}

function reportPrefix(report: Report, prefix: string, declared: ReadonlyMap<string, string>, origin: Origin): void {
  const usual = usualNamespace(prefix);
  // Nearly every name of two letters is near to another one.
  const [near] = prefix.length < 3 ? [] : nearest(prefix, [...declared.keys(), ...usualPrefixes], 1);
  const hint =
    usual === undefined
      ? near === undefined
        ? 'declare it with the key prefixes, or write \\: for a colon'
        : `did you mean ${near}:?`
      : `add to prefixes: "${prefix}: ${usual}"`;
  report.error('unknown-prefix', origin, `the prefix ${prefix}: is not declared`, hint);
}

/** The IRI that a text names, with no references; undefined, with a diagnostic, for any other text. */
export function iriIn(scope: Scope, text: string, origin: Origin, what: string): string | undefined {
  const parts = templateParts(scope, text, origin, true);
  if (parts === undefined) return undefined;
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text' && hasScheme(only.text)) {
    return checkIri(scope.report, only.text, origin) ? only.text : undefined;
  }
  const hint = what === 'a datatype' ? datatypeHint(text) : undefined;
  scope.report.error('wrong-value', origin, `${what} is an absolute IRI or a prefixed name, found ${JSON.stringify(text)}`, hint);
  return undefined;
}

/** States a text as constant, reference or template. */
export function writeValue(scope: Scope, node: Subject, text: string, origin: Origin, type: TermType): void {
  const parts = templateParts(scope, text, origin, type === 'iri');
  if (parts === undefined) return;
  const [first] = parts;
  if (parts.length === 1 && first?.kind === 'reference') node.set('rml:reference', literal(first.reference), origin);
  else if (parts.every((part) => part.kind === 'text')) {
    const constant = first?.kind === 'text' ? first.text : '';
    // Relative IRIs stay texts, which are resolved like those of a template.
    const isIri = type === 'iri' && hasScheme(constant);
    if (isIri && !checkIri(scope.report, constant, origin)) return;
    const meant = referenceMeant(constant, isIri);
    if (meant !== undefined)
      scope.report.warning(
        'text-for-reference',
        origin,
        `${constant} is a text, the same for every record`,
        `a reference is written $(${meant})`,
      );
    node.set('rml:constant', isIri ? iri(constant) : literal(constant), origin);
  } else node.set('rml:template', literal(templateOf(parts)), origin);
}

/** Of the texts that begin so, hardly one is meant as it stands. */
const JSON_PATH = /^\$(?:\.[\p{L}_*.['"@]|\[)/u;
/** References of shells, scripts and RML: all of a text, or a step of an IRI. */
const FOREIGN = /^(?:\$([\p{L}_][\p{L}\p{N}_]*)|\$?\{([^{}\s]+)\}|%\(([^()\s]+)\))$/u;
const FOREIGN_IN_IRI = /[/:#=](?:\$([\p{L}_][\p{L}\p{N}_]*)|%\(([^()\s]+)\))/u;

/** The reference that a constant seems to mean, in the syntax of another language. */
function referenceMeant(text: string, isIri: boolean): string | undefined {
  if (JSON_PATH.test(text)) return text;
  return (isIri ? FOREIGN_IN_IRI : FOREIGN)
    .exec(text)
    ?.slice(1)
    .find((name) => name !== undefined);
}

function checkIri(report: Report, text: string, origin: Origin): boolean {
  const at = findNotInIri(text);
  if (at < 0) return true;
  const character = text[at] as string;
  const hint = character === '{' ? 'a reference is written $(name)' : `write ${encodeURIComponent(character)} instead`;
  report.error('malformed-iri', origin, `the IRI ${JSON.stringify(text)} holds ${JSON.stringify(character)}, which no IRI may hold`, hint);
  return false;
}

const templateOf = (parts: readonly TemplatePart[]): string =>
  parts.map((part) => (part.kind === 'text' ? escaped(part.text) : `{${escaped(part.reference)}}`)).join('');

const escaped = (text: string): string => text.replace(/[\\{}]/g, '\\$&');

// ---------------------------------------------------------------- functions

const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
const IDLAB = 'https://w3id.org/imec/idlab/function#';
const EQUAL = `${IDLAB}equal`;

/** Where the value of an argument comes from, in the condition of a join. */
type Side = 'child' | 'parent';

interface Argument {
  readonly parameter: string;
  readonly origin: Origin;
  /** A text or a function. */
  readonly value: Tree;
  readonly type: TermType;
  /** undefined: not said. */
  readonly side: Side | undefined;
}

interface Call {
  readonly origin: Origin;
  readonly function: string;
  readonly arguments: readonly Argument[];
}

/** For the name of a function without a prefix. */
function functionHint(name: string): string {
  const near = loadedFunctions()?.suggestFunctions(name) ?? [];
  return near.length === 0 ? 'write it with a prefix: grel:toUpperCase' : `did you mean ${near.join(' or ')}?`;
}

/** The fields of whatever may be a call. */
export interface CallFields {
  get(key: KeyOf<'function'>): Entry | undefined;
}

/** States the call of a function as the expression of a term map. */
export function writeCall(scope: Scope, node: Subject, fields: CallFields): void {
  const call = callOf(scope, fields);
  if (call !== undefined) writeExecution(scope, node, call);
}

function writeExecution(scope: Scope, node: Subject, call: Call): void {
  const execution = node.lead('rml:functionExecution', call.origin);
  execution.set('rml:function', iri(call.function), call.origin);
  for (const argument of call.arguments) {
    const input = execution.lead('rml:input', argument.origin);
    input.set('rml:parameter', iri(argument.parameter), argument.origin);
    writeArgument(scope, input.lead('rml:inputValueMap', argument.value.origin), argument);
  }
}

function writeArgument(scope: Scope, node: Subject, { value, type }: Argument): void {
  if (value.kind === 'text') writeValue(scope, node, value.text, value.origin, type);
  else {
    const fields = fieldsOf(scope.report, value, 'function');
    if (fields !== undefined) writeCall(scope, node, fields);
  }
}

/** States a condition: values of the term map are left out where it is not true. */
export function writeCondition(scope: Scope, node: Subject, condition: Tree): void {
  const fields = conditionIn(scope, condition);
  if (fields !== undefined) writeCall(scope, node.lead('rml:condition', condition.origin), fields);
}

function conditionIn({ report }: Scope, condition: Tree): CallFields | undefined {
  const fields = fieldsOf(report, condition, 'condition');
  if (fields === undefined || fields.has('function')) return fields;
  report.error('missing-function', condition.origin, 'a condition without a function', 'add function: …');
  return undefined;
}

/** States the condition of a join: equality of a value of the child and a value of the parent. */
export function writeJoin(scope: Scope, node: Subject, condition: Tree): void {
  const { report } = scope;
  const fields = conditionIn(scope, condition);
  const call = fields === undefined ? undefined : callOf(scope, fields);
  if (call === undefined) return;
  if (call.function !== EQUAL) {
    const message = `the function <${call.function}> as the condition of a join is not supported yet by this version`;
    report.error('not-supported', call.origin, message, 'equal is, with values of the subject (s) and of the object (o)');
    return;
  }
  const sides = call.arguments.map((argument) => sideOf(scope, argument));
  const child = call.arguments[sides.indexOf('child')];
  const parent = call.arguments[sides.indexOf('parent')];
  if (call.arguments.length !== 2 || child === undefined || parent === undefined) {
    const hint = 'write parameters: [[str1, $(…), s], [str2, $(…), o]]';
    report.error('incomplete-join', call.origin, 'the condition of a join compares a value of the subject with one of the object', hint);
    return;
  }
  const join = node.lead('rml:joinCondition', condition.origin);
  writeArgument(scope, join.lead('rml:childMap', child.value.origin), child);
  writeArgument(scope, join.lead('rml:parentMap', parent.value.origin), parent);
}

/** As the argument says itself, or all arguments within it; `str2` is of the parent otherwise. */
function sideOf(scope: Scope, argument: Argument): Side {
  if (argument.side !== undefined) return argument.side;
  const otherwise = argument.parameter === `${GREL}valueParameter2` ? 'parent' : 'child';
  if (argument.value.kind !== 'map') return otherwise;
  const fields = fieldsOf(scope.report, argument.value, 'function');
  const said = (fields === undefined ? undefined : callOf(scope, fields))?.arguments.map(
    (one) => one.side ?? (one.value.kind === 'map' ? sideOf(scope, one) : undefined),
  );
  const known = new Set(said?.filter((side) => side !== undefined));
  if (known.size > 1) {
    const message = 'a function in the condition of a join takes values of the subject and of the object';
    scope.report.error('not-supported', argument.origin, message, 'take all values of one function from one of them');
  }
  return [...known][0] ?? otherwise;
}

function callOf(scope: Scope, fields: CallFields): Call | undefined {
  const { report } = scope;
  const entry = fields.get('function');
  const text = textIn(report, entry);
  if (entry === undefined) {
    const parameters = fields.get('parameters');
    if (parameters !== undefined)
      report.error('missing-function', parameters.keyOrigin, 'there are parameters, and no function', 'add function: …');
    return undefined;
  }
  if (text === undefined) return undefined;
  const { origin } = entry.value;
  const short = /^([^()]*)\((.*)\)\s*$/s.exec(text);
  const name = (short?.[1] ?? text).trim();
  const isEqual = name === 'equal';
  const iriOfName = (written: string, what: string, at: Origin): string | undefined => {
    if (isEqual && what === 'a parameter' && written === 'str1') return `${GREL}valueParameter`;
    if (isEqual && what === 'a parameter' && written === 'str2') return `${GREL}valueParameter2`;
    if (/:/.test(written)) return iriIn(scope, written, at, what);
    report.error(
      'wrong-value',
      at,
      `${what} is an IRI or a prefixed name, found ${JSON.stringify(written)}`,
      what === 'a function' ? functionHint(written) : 'write it with a prefix: grel:valueParameter',
    );
    return undefined;
  };
  const iriOfFunction = isEqual ? EQUAL : iriOfName(name, 'a function', origin);
  const before = report.errors;
  const named = (written: string, at: Origin) => iriOfName(written, 'a parameter', at);
  const given =
    short === null
      ? itemsOf(fields.get('parameters')?.value).map((item) => argumentOf(scope, item, named))
      : shortArguments(report, short[2] as string, origin, name, named);
  const beside = short === null ? undefined : fields.get('parameters');
  if (beside !== undefined) {
    report.error('too-many', beside.keyOrigin, 'parameters beside a function that has them in brackets');
  }
  if (iriOfFunction === undefined || report.errors > before) return undefined;
  return { origin, function: iriOfFunction, arguments: given.filter((one) => one !== undefined) };
}

type NameReader = (written: string, at: Origin) => string | undefined;

/** `[grel:valueParameter, $(name)]`, or a map of both. */
function argumentOf({ report }: Scope, tree: Tree, nameOf: NameReader): Argument | undefined {
  if (tree.kind === 'list') {
    const [name, value, side, ...others] = tree.items;
    if (name?.kind !== 'text' || value === undefined || others.length > 0) {
      reportKind(report, tree, 'a parameter is a map, or a list of its name and its value', 'write [grel:valueParameter, $(name)]');
      return undefined;
    }
    return made(report, nameOf(name.text, name.origin), tree.origin, value, undefined, side);
  }
  const fields = fieldsOf(report, tree, 'parameter');
  if (fields === undefined) return undefined;
  const name = textIn(report, fields.get('parameter'));
  const value = fields.get('value')?.value;
  if (!fields.has('parameter'))
    report.error('incomplete-input', tree.origin, 'a parameter without its name', 'add parameter: grel:valueParameter');
  if (value === undefined) report.error('incomplete-input', tree.origin, 'a parameter without a value', 'add value: $(name)');
  if (name === undefined || value === undefined) return undefined;
  return made(report, nameOf(name, fields.get('parameter')?.value.origin as Origin), tree.origin, value, fields.get('type'), undefined);
}

function made(
  report: Report,
  parameter: string | undefined,
  origin: Origin,
  value: Tree,
  typeEntry: Entry | undefined,
  from: Tree | undefined,
): Argument | undefined {
  const side = from === undefined ? undefined : sideNamed(report, from);
  if (value.kind === 'list' || value.kind === 'nothing') {
    reportKind(report, value, 'the value of a parameter is a text or a function', 'repeat the parameter for several values');
    return undefined;
  }
  if (parameter === undefined) return undefined;
  const [text, isIri] = value.kind === 'text' ? withoutType(value.text) : ['', false];
  const type = termTypeIn(report, typeEntry, isIri ? 'iri' : 'literal');
  return { parameter, origin, value: value.kind === 'text' ? { ...value, text } : value, type, side };
}

function sideNamed(report: Report, tree: Tree): Side | undefined {
  const text = tree.kind === 'text' ? tree.text : '';
  if (text === 's' || text === 'subject') return 'child';
  if (text === 'o' || text === 'object') return 'parent';
  reportKind(report, tree, 'a value comes from the subject (s) or the object (o)');
  return undefined;
}

/** The arguments of `ex:f(a = $(x), b = "y")`. A name without a prefix gets that of the function. */
function shortArguments(report: Report, text: string, origin: Origin, functionName: string, nameOf: NameReader): (Argument | undefined)[] {
  const prefix = /^[^:]*:/.exec(functionName)?.[0] ?? '';
  return split(text).map((part) => {
    const [, name, written] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    if (name === undefined || written === undefined) {
      const message = `${JSON.stringify(part.trim())} is no parameter with its value`;
      report.error('wrong-value', origin, message, 'write ex:function(ex:parameter = $(reference), ex:other = "text")');
      return undefined;
    }
    const value = /^".*"$/s.test(written) ? written.slice(1, -1) : written;
    const isShort = !name.includes(':') && !/^str[12]$/.test(name);
    return made(
      report,
      nameOf(isShort ? prefix + name : name, origin),
      origin,
      { kind: 'text', origin, text: value },
      undefined,
      undefined,
    );
  });
}

/** Cuts at commas that stand neither in quotes nor in references. */
function split(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const closing = text[i] === '"' ? text.indexOf('"', i + 1) : text.startsWith('$(', i) ? endOfReference(text, i + 2) : -1;
    if (text[i] === '\\') i++;
    else if (closing > 0) i = closing;
    else if (text[i] === ',') {
      if (i > from) parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return from < text.length ? [...parts, text.slice(from)] : parts;
}

/** The constant of a name such as a datatype, or undefined with a diagnostic. */
export const constantIri = (scope: Scope, text: string, origin: Origin, what: string): RdfTerm | undefined => {
  const found = iriIn(scope, text, origin, what);
  return found === undefined ? undefined : iri(found);
};

export const typeOf = (type: TermType): RdfTerm => named(TERM_TYPES[type]);
