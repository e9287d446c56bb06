/** The syntax of iterators and references of JSON and XML sources. Names of CSV columns and of SQL are known to their sources alone. */

import { type Leniency, parseJsonPath } from '../../../paths/json/parse.ts';
import { findJsonPathProblem, invalidRegExps } from '../../../paths/json/problem.ts';
import { parsePath } from '../../../paths/xml/path.ts';
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
  return { formulation: source.formulation, leniency: dialect === 'legacy' ? 'loose' : 'short', namespaces: source.namespaces };
}

function checkSource(context: Context, source: LogicalSource | LogicalView, dialect: Dialect): void {
  if (context.checked.has(source)) return;
  context.checked.add(source);
  const scope = scopeOf(source, dialect);
  if (source.kind === 'file' && source.iterator !== undefined)
    check(context, scope, { reference: source.iterator, origin: source.iteratorOrigin ?? source.origin });
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
    const own: Scope | undefined = formulation === undefined ? scope : { formulation, leniency: 'short', namespaces };
    if (iterator !== undefined) check(context, own, { reference: iterator, origin });
    checkFields(context, field.fields, own, namespaces);
  }
}

function checkAll(context: Context, scope: Scope | undefined, references: readonly PlacedReference[]): void {
  for (const reference of references) check(context, scope, reference);
}

function check({ report, xpaths }: Context, scope: Scope | undefined, { reference, origin }: PlacedReference): void {
  if (scope?.formulation === 'xml') {
    if (parsePath(reference) === undefined) xpaths.push({ expression: reference, origin, namespaces: scope.namespaces });
    return;
  }
  if (scope?.formulation !== 'json') return;
  const problem = findJsonPathProblem(reference, scope.leniency);
  if (problem !== undefined) reportPath(report, 'a JSONPath', reference, origin, problem);
  else warnOfRegExps(report, reference, origin, scope.leniency);
}

function warnOfRegExps(report: Context['report'], reference: string, origin: Origin, leniency: Leniency): void {
  for (const { source, position } of invalidRegExps(parseJsonPath(reference, leniency))) {
    report.warning(
      'malformed-regexp',
      origin,
      `${JSON.stringify(reference)} has the regular expression ${JSON.stringify(source)}, which is no I-Regexp from its character ${position + 1} on: it matches nothing`,
      'I-Regexp (RFC 9485) has [0-9] for \\d, [A-Za-z0-9_] for \\w, \\p{L} for letters, and no look-around, lazy quantifiers or back-references',
    );
  }
}
