/** The syntax of iterators and references of JSON and XML sources. Names of CSV columns and of SQL are known to their sources alone. */

import { looksLikeMessagePart, MESSAGE_REFERENCES, messagePartOf } from '../../../core/input/message-reference.ts';
import { variableOf } from '../../../core/input/sparql-variable.ts';
import { didYouMean } from '../../../core/nearest.ts';
import type { Query } from '../../../paths/json/model.ts';
import { fromRecord, type Leniency, parseJsonPath, parseReference, withoutPoints } from '../../../paths/json/parse.ts';
import { asksArray, findJsonPathProblem, findReferenceProblem, invalidRegExps } from '../../../paths/json/problem.ts';
import type { PathProblem } from '../../../paths/problem.ts';
import { parsePath, withAnyNamespace } from '../../../paths/xml/path.ts';
import type { Report } from '../../model/diagnostics.ts';
import { expressionsOf, type PlacedReference, referencesOf } from '../../model/expressions.ts';
import type {
  Dialect,
  Field,
  FileSource,
  JoinCondition,
  LogicalSource,
  LogicalView,
  Origin,
  TermMaps,
  TriplesMap,
} from '../../model/model.ts';
import type { Context } from '../node.ts';
import { reportPath } from './report-path.ts';

/** What expressions are evaluated on. */
interface Scope {
  readonly formulation: FileSource['formulation'];
  readonly leniency: Leniency;
  readonly namespaces: FileSource['namespaces'];
  /** Records are results of a SPARQL query: its variables are references, too. */
  readonly variables: boolean;
  /** Records are those of messages, and their parts are references, too. `text`: nothing else is. `row`: they are none. */
  readonly messages: 'document' | 'text' | 'row' | undefined;
  /** JSON: the iterator of the records, whose references may lead to parents; undefined: of items, or not valid. */
  readonly iterator: Query | undefined;
}

/** Checks the expressions of a triples map, and those of its source or view. */
export function checkPaths(context: Context, source: LogicalSource | LogicalView, dialect: Dialect, expressions: TermMaps): void {
  checkSource(context, source, dialect);
  checkAll(context, scopeOf(source, dialect), [...expressionsOf(expressions)].flatMap(referencesOf));
}

/** Checks the sides of join conditions that refer to the parent. */
export function checkParentPaths(context: Context, { source, dialect }: TriplesMap, conditions: readonly JoinCondition[]): void {
  const references = conditions.flatMap(({ parent }) => referencesOf(parent));
  checkAll(context, scopeOf(source, dialect), references);
}

/** undefined: references are names of columns or fields. */
function scopeOf(source: LogicalSource | LogicalView, dialect: Dialect): Scope | undefined {
  if (source.kind !== 'file') return undefined;
  const { formulation, namespaces, iterator = '$', request } = source;
  const leniency: Leniency = dialect === 'legacy' ? 'loose' : 'short';
  const isIterator = formulation === 'json' && findJsonPathProblem(iterator, leniency) === undefined;
  const variables = request?.kind === 'select';
  const messages = request?.kind === 'topic' ? (request.changes === 'debezium' ? 'row' : request.content) : undefined;
  return { formulation, leniency, namespaces, variables, messages, iterator: isIterator ? parseJsonPath(iterator, leniency) : undefined };
}

function checkSource(context: Context, source: LogicalSource | LogicalView, dialect: Dialect): void {
  if (context.checked.has(source)) return;
  context.checked.add(source);
  const scope = scopeOf(source, dialect);
  if (source.kind === 'file' && source.iterator !== undefined)
    check(context, scope && { ...scope, iterator: undefined }, {
      reference: source.iterator,
      origin: source.iteratorOrigin ?? source.origin,
    });
  const paging = source.kind === 'file' && source.request?.kind === 'get' ? source.request.paging : undefined;
  if (paging !== undefined) {
    const { origin, reference, items, pageCount, recordCount } = paging;
    const expressions = [reference, items, pageCount, recordCount].filter((expression) => expression !== undefined);
    checkAll(
      context,
      scope && { ...scope, iterator: undefined },
      expressions.map((expression) => ({ reference: expression, origin })),
    );
  }
  if (source.kind !== 'view') return;
  checkSource(context, source.on, dialect);
  for (const { parent } of source.joins) checkSource(context, parent, dialect);
  const { on } = source;
  // A document within a value has the namespaces of the source that the value comes from.
  const namespaces = baseOf(on).namespaces;
  checkFields(context, source.fields, scopeOf(on, dialect), namespaces);
}

/** The file that the rows of a view begin with. */
function baseOf(source: LogicalSource | LogicalView): Pick<FileSource, 'namespaces'> {
  if (source.kind === 'view') return baseOf(source.on);
  return source.kind === 'file' ? source : { namespaces: {} };
}

function checkFields(context: Context, fields: readonly Field[], scope: Scope | undefined, namespaces: FileSource['namespaces']): void {
  for (const field of fields) {
    if (field.kind === 'expression') {
      checkAll(context, scope, referencesOf(field.expression));
      checkFields(context, field.fields, undefined, namespaces);
      continue;
    }
    const { formulation, iterator, origin } = field;
    const own: Scope | undefined =
      formulation === undefined
        ? scope && { ...scope, iterator: undefined }
        : { formulation, leniency: 'short', namespaces, variables: false, messages: undefined, iterator: undefined };
    if (iterator !== undefined) check(context, own, { reference: iterator, origin });
    checkFields(context, field.fields, own, namespaces);
  }
}

function checkAll(context: Context, scope: Scope | undefined, references: readonly PlacedReference[]): void {
  for (const reference of references) check(context, scope, reference);
}

function check(context: Context, scope: Scope | undefined, { reference, origin }: PlacedReference): void {
  const { report, xpaths } = context;
  if (scope?.messages !== undefined && !checkMessagePart(report, reference, origin, scope.messages)) return;
  if (scope?.variables === true && variableOf(reference) !== undefined) return;
  if (scope?.formulation === 'xml') {
    const expression = withAnyNamespace(reference);
    if (expression !== reference && !reportColon(report, reference, expression, origin, scope)) return;
    if (parsePath(expression) === undefined) xpaths.push({ expression, origin, namespaces: scope.namespaces });
    return;
  }
  if (scope?.formulation !== 'json') return;
  const { leniency, iterator } = scope;
  if (/(?:match|search)\(/.test(reference)) context.hasRegExps = true;
  const problem = iterator === undefined ? findJsonPathProblem(reference, leniency) : findReferenceProblem(reference, leniency, iterator);
  if (problem !== undefined)
    reportPath(report, 'a JSONPath', reference, origin, iterator === undefined ? parentsAdvice(problem, reference) : problem);
  else warnOfJsonPath(report, reference, origin, scope);
}

/** @returns whether the reference is one within the document of a message */
function checkMessagePart(report: Report, reference: string, origin: Origin, messages: NonNullable<Scope['messages']>): boolean {
  if (messages !== 'row' && messagePartOf(reference) !== undefined) return false;
  if (messages !== 'text' && !looksLikeMessagePart(reference)) return true;
  if (messages === 'row') {
    report.error('unknown-field', origin, `a row of Debezium has no ${JSON.stringify(reference)}`, 'refer to its columns');
    return false;
  }
  const what = messages === 'text' ? 'a message of the type text/plain has' : 'a message has';
  const hint = didYouMean(reference, MESSAGE_REFERENCES, (name) => name) ?? `it has ${MESSAGE_REFERENCES.join(', ')}`;
  report.error('unknown-field', origin, `${what} no ${JSON.stringify(reference)}`, hint);
  return false;
}

/** For `$^` where it has no meaning: what to write instead. */
const parentsAdvice = (problem: PathProblem, reference: string): PathProblem =>
  reference.trim().startsWith('$^') && problem.position === 1 ? { message: problem.message, position: 1, hint: NO_PARENTS } : problem;

const NO_PARENTS = 'References of records may lead to parents, iterators and fields of items may not: add a field for it to the view';

/** A name such as `:graph`. Whether it is read as `*:graph`, as legacy mappings are. */
function reportColon(report: Context['report'], reference: string, expression: string, origin: Origin, { leniency }: Scope): boolean {
  if (leniency === 'loose') {
    report.warning('older-term', origin, `${reference} has names with a colon and no prefix, read as ${expression}`, `write ${expression}`);
    return true;
  }
  const position = [...expression].findIndex((character, i) => character !== reference[i]);
  const hint = `write ${expression}, or declare a prefix for the namespace (rml:namespace)`;
  reportPath(report, 'an XPath', reference, origin, { message: 'A name has a colon and no prefix', position, hint });
  return false;
}

function warnOfJsonPath(report: Context['report'], text: string, origin: Origin, { leniency, iterator }: Scope): void {
  const reference = parseReference(text, leniency);
  if (leniency === 'loose') warnOfOlderForm(report, text.trim(), origin);
  for (const { source, position } of invalidRegExps(reference.query)) {
    report.warning(
      'malformed-regexp',
      origin,
      `${JSON.stringify(text)} has the regular expression ${JSON.stringify(source)}, which is no I-Regexp from its character ${position + 1} on: it matches nothing`,
      'I-Regexp (RFC 9485) has [0-9] for \\d, [A-Za-z0-9_] for \\w, \\p{L} for letters, and no look-around, lazy quantifiers or back-references',
    );
  }
  if (iterator === undefined || !asksArray(reference, iterator)) return;
  report.warning(
    'parent-array',
    origin,
    `${JSON.stringify(text)} asks for a member of what [*] or a position was taken of, which is an array as a rule and has none`,
    `the array is a separate level: write ${text.trim().replace('$^', '$^^')} for the object around it`,
  );
}

/** Neither `$.[*]` nor `@` for the record is JSONPath. Other engines read them as `$[*]` and `$`, and so do legacy mappings here. */
function warnOfOlderForm(report: Context['report'], text: string, origin: Origin): void {
  const record = fromRecord(text);
  if (record !== undefined) {
    report.warning('older-term', origin, `${text} is no JSONPath: the record itself is $`, `write ${record}`);
    return;
  }
  const written = withoutPoints(text);
  if (written === text) return;
  report.warning('older-term', origin, `${text} has a point before a bracket, which JSONPath has not`, `write ${written}`);
}
