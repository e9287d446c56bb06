/** Term maps and their parts: expressions, term types, languages, datatypes. */
import { findNotInIri, hasScheme } from '../../core/text.ts';
import { XSD } from '../../core/value.ts';
import { expressionText } from '../model/expressions.ts';
import { nodeId, type Statement } from '../model/graph.ts';
import type { Expression, LogicalTarget, Origin, RdfTerm, TermMap, TermType } from '../model/model.ts';
import { parseTemplate } from '../model/template.ts';
import { isLanguageTag, namesLanguage } from '../vocabulary/language-tag.ts';
import { checkLiteral, foldLiteral, isLangString } from '../vocabulary/literal.ts';
import { lookUp, shorten } from '../vocabulary/namespaces.ts';
import type { Individual, NodeRole, Property } from '../vocabulary/vocabulary.ts';
import { type ExpressionReader, readCall } from './functions.ts';
import { readTargets } from './logical-target.ts';
import { type Context, describeTerm, literalText, type MappingNode, nodeOf, only, orList, reportUnknown, withArticle } from './node.ts';
import { checkForeignReferences, checkLiteralName, checkPrefix, unquoted } from './slips.ts';

type TermRole = Extract<NodeRole, 'subject map' | 'predicate map' | 'object map' | 'graph map' | 'gather map' | 'datatype map'>;
type TermKind = RdfTerm['kind'];
type Constant = Extract<Expression, { kind: 'constant' }>;
type Template = Extract<Expression, { kind: 'template' }>;

/** The term types that each position allows. A blank node as graph name is valid RDF, though RML-Core requires an IRI. */
const KINDS: Readonly<Record<TermRole, readonly TermKind[]>> = {
  'subject map': ['iri', 'blank'],
  'predicate map': ['iri'],
  'object map': ['iri', 'blank', 'literal'],
  'graph map': ['iri', 'blank'],
  'gather map': ['iri', 'blank'],
  'datatype map': ['iri'],
};

const TERM_TYPES: Partial<Record<Individual, TermType>> = {
  IRI: 'iri',
  URI: 'uri',
  UnsafeIRI: 'unsafe-iri',
  UnsafeURI: 'unsafe-uri',
  BlankNode: 'blank',
  Literal: 'literal',
};

const TERM_TYPE_NAMES: Readonly<Record<TermKind, string>> = { iri: 'rml:IRI', blank: 'rml:BlankNode', literal: 'rml:Literal' };

const KIND_NAMES: Readonly<Record<TermKind, string>> = { iri: 'IRI', blank: 'blank node', literal: 'literal' };

const kindOf = (termType: TermType): TermKind => (termType === 'blank' || termType === 'literal' ? termType : 'iri');

/** The term maps of a property, then those of its constant shortcut; invalid ones are left out. */
export function readTermMaps(
  context: Context,
  node: MappingNode,
  property: Property,
  shortcut: Property,
  role: TermRole,
  read: typeof readTermMap = readTermMap,
): TermMap[] {
  return [
    ...node.all(property).map((statement) => read(context, statement, role)),
    ...node.all(shortcut).map((statement) => readConstant(context, statement, role)),
  ].filter((map) => map !== undefined);
}

/** The term map of a statement such as `rml:subjectMap […]`. */
function readTermMap(context: Context, statement: Statement, role: TermRole): TermMap | undefined {
  const node = nodeOf(context, statement, role);
  return node === undefined ? undefined : termMapOf(context, node, role);
}

/** The term map of a shortcut such as `rml:subject <…>`. */
export function readConstant(context: Context, statement: Statement, role: TermRole): TermMap | undefined {
  const found = constantOf(context, statement, `${shorten(statement.property)}Map`, KINDS[role].includes('literal'));
  const expression = found === undefined ? undefined : readConstantAs(context, found, role, undefined, shorten(statement.property));
  if (expression === undefined || !checkConstant(context, expression, role)) return undefined;
  checkForeignReferences(context, expression, expression.term.kind === 'iri');
  if (role === 'object map' && isText(expression.term)) checkLiteralName(context, expression.term, expression.origin);
  checkLiteral(context.report, expression);
  const termType = termTypeOfConstant(expression.term);
  return { kind: 'term', origin: statement.origin, termType, expression, language: undefined, datatype: undefined };
}

/** The targets that a map names itself. */
export const ownTargets = (context: Context, node: MappingNode): readonly LogicalTarget[] =>
  readTargets(context, node.all('logicalTarget'));

/** @param as the role whose rules the term follows: a gather map makes the head of a collection wherever it stands */
export function termMapOf(context: Context, node: MappingNode, as: TermRole): TermMap | undefined {
  const role: TermRole = node.all('gather').length > 0 && as !== 'predicate map' ? 'gather map' : as;
  const own = ownTargets(context, node);
  const map = withoutTargets(context, node, role);
  if (map === undefined) return undefined;
  const targets = new Set([...own, ...targetsOfLanguage(context, node), ...(map.targets ?? [])]);
  return targets.size === 0 ? map : { ...map, targets: [...targets] };
}

/** The targets of a language map, which is an expression alone. */
function targetsOfLanguage(context: Context, node: MappingNode): readonly LogicalTarget[] {
  const [statement] = node.all('languageMap');
  const id = statement === undefined ? undefined : nodeId(statement.object);
  const described = id === undefined ? undefined : context.graph.get(id);
  const statements = described?.statements.filter(({ property }) => lookUp('properties', property)?.name === 'logicalTarget');
  return readTargets(context, statements ?? []);
}

/** Its targets are those of its datatype map. */

function withoutTargets(context: Context, node: MappingNode, role: TermRole): TermMap | undefined {
  const { report } = context;
  const before = report.errors;
  const named = readTermType(context, node);
  const languageStatement = only(context, node, 'language', 'languageMap');
  const datatypeStatement = only(context, node, 'datatype', 'datatypeMap');
  let expression = readExpression(context, node);
  const condition = readCondition(context, node);
  checkInverse(context, node);
  if (expression === undefined) {
    if (!node.valid || report.errors > before) return undefined;
    const isNameless = named === undefined && role === 'gather map';
    if (named !== 'blank' && !isNameless) {
      report.error(
        'missing-expression',
        node.origin,
        `${withArticle(role)} without rml:template, rml:reference or rml:constant`,
        'only a term map of term type rml:BlankNode may have none of them',
      );
      return undefined;
    }
    expression = { kind: 'fresh', origin: node.origin };
    if (isNameless) reportLiteralProperties(context, [languageStatement, datatypeStatement], 'a map that makes collections');
    if (report.errors > before) return undefined;
    if (isNameless)
      return {
        kind: 'term',
        origin: node.origin,
        termType: 'blank',
        expression: conditional(condition, expression),
        language: undefined,
        datatype: undefined,
      };
  }

  const hasLiteralProperty = languageStatement !== undefined || datatypeStatement !== undefined;
  if (expression.kind === 'constant') {
    const isAlone = !hasLiteralProperty && named === undefined;
    expression = readConstantAs(context, expression, role, named, withArticle(role));
    if (expression === undefined) return undefined;
    if (isAlone && isText(expression.term)) checkLiteralName(context, expression.term, expression.origin);
  }
  const termType = settleTermType(context, node, role, expression, named, hasLiteralProperty);
  if (expression.kind === 'constant' || expression.kind === 'template')
    checkForeignReferences(context, expression, kindOf(termType) === 'iri');
  if (expression.kind === 'template' && kindOf(termType) === 'iri') expression = readIriTemplate(context, expression, termType);
  if (termType !== 'literal') {
    const kind = KIND_NAMES[kindOf(termType)];
    const makes = expression.kind === 'constant' ? `a constant ${kind}` : `${kind}s`;
    reportLiteralProperties(context, [languageStatement, datatypeStatement], `a map that makes ${makes}`);
    if (expression.kind === 'constant') checkUri(context, expression, termType);
    if (report.errors === before && node.valid)
      return {
        kind: 'term',
        origin: node.origin,
        termType,
        expression: conditional(condition, expression),
        language: undefined,
        datatype: undefined,
      };
  }
  const language = languageStatement === undefined ? undefined : readLanguage(context, languageStatement);
  const typed =
    datatypeStatement === undefined
      ? undefined
      : isShortcut(datatypeStatement)
        ? readConstant(context, datatypeStatement, 'datatype map')
        : readTermMap(context, datatypeStatement, 'datatype map');
  const datatype = languageStatement !== undefined && typed !== undefined && isLangString(typed) ? undefined : typed;
  if (languageStatement !== undefined && datatypeStatement !== undefined && datatype !== undefined) {
    const hint = `the language is on line ${languageStatement.origin.line}`;
    report.error('contradiction', datatypeStatement.origin, 'a literal has a language or a datatype, not both', hint);
  }
  if (!node.valid || report.errors > before) return undefined;
  const targets = typed?.targets === undefined ? {} : { targets: typed.targets };
  const map: TermMap = { kind: 'term', origin: node.origin, termType, expression, language, datatype, ...targets };
  const folded = foldLiteral(context.report, map);
  return folded === undefined || condition === undefined ? folded : { ...folded, expression: conditional(condition, folded.expression) };
}

/** Reports languages and datatypes where no literals are made. Older documents often have them. */
function reportLiteralProperties({ report }: Context, statements: readonly (Statement | undefined)[], where: string): void {
  for (const statement of statements) {
    if (statement === undefined) continue;
    const message = `${shorten(statement.property)} on ${where}`;
    const isOlder = lookUp('properties', statement.property)?.dialect !== 'rml';
    if (isOlder) report.warning('contradiction', statement.origin, message, 'remove it: only literals have a language or a datatype');
    else report.error('contradiction', statement.origin, message, 'only literals have a language or a datatype');
  }
}

/** The condition of a node (rml:condition): its values are left out for rows where it is not true. */
function readCondition(context: Context, node: MappingNode): Expression | undefined {
  const statement = only(context, node, 'condition');
  const condition = statement === undefined ? undefined : readExpressionMap(context, statement, 'condition');
  if (condition?.kind === 'constant' && condition.term.value !== 'true') {
    const message = `a condition is met where it is true, and this one is ${describeTerm(condition.term)} for every record: nothing is made`;
    context.report.warning('contradiction', condition.origin, message, 'write a function, such as idlab-fn:equal');
  }
  return condition;
}

const conditional = (condition: Expression | undefined, then: Expression): Expression =>
  condition === undefined ? then : { kind: 'conditional', origin: condition.origin, condition, value: then };

/** The single expression of a node; undefined if there is none or, with a diagnostic, if it is not valid. */
function readExpression(context: Context, node: MappingNode): Expression | undefined {
  const statement = only(context, node, 'constant', 'reference', 'template', 'functionExecution', 'functionValue');
  if (statement === undefined) return undefined;
  const { origin } = statement;
  const name = lookUp('properties', statement.property)?.name;
  switch (name) {
    case 'functionExecution':
    case 'functionValue':
      return readCall(context, node, statement, name, READER);
    case 'reference': {
      const reference = literalText(context, statement, 'a reference in quotes');
      return reference === undefined ? undefined : { kind: 'reference', origin, reference };
    }
    case 'template':
      return templateOf(context, statement);
    default:
      return constantOf(context, statement, undefined);
  }
}

/** The expression map (rml:childMap and the like) of a statement. */
export function readExpressionMap(context: Context, statement: Statement, role: NodeRole): Expression | undefined {
  const node = nodeOf(context, statement, role);
  return node === undefined ? undefined : readExpressionOf(context, node);
}

/** The expression of a node that must have one. */
export function readExpressionOf(context: Context, node: MappingNode): Expression | undefined {
  const before = context.report.errors;
  const expression = readExpression(context, node);
  if (expression === undefined && node.valid && context.report.errors === before) {
    context.report.error(
      'missing-expression',
      node.origin,
      `${withArticle(node.role)} without rml:reference, rml:template or rml:constant`,
    );
  }
  const condition = readCondition(context, node);
  return expression === undefined ? undefined : conditional(condition, expression);
}

/** For the arguments of functions. */
export const READER: ExpressionReader = { map: readExpressionMap, constant: constantOf };

function templateOf(context: Context, statement: Statement): Expression | undefined {
  const template = literalText(context, statement, 'a template in quotes');
  if (template === undefined) return undefined;
  const parsed = parseTemplate(template);
  if (parsed.kind === 'parts') return { kind: 'template', origin: statement.origin, parts: parsed.parts };
  const message = `the template ${JSON.stringify(template)} has ${parsed.message}, at its character ${parsed.at}`;
  context.report.error('malformed-template', statement.origin, message, parsed.hint);
  return undefined;
}

/**
 * An inverse expression tells a database how to find the row of a term, and changes no statement. It is checked but not used.
 *
 * @see https://www.w3.org/TR/r2rml/#inverse
 */
function checkInverse(context: Context, node: MappingNode): void {
  const statement = only(context, node, 'inverseExpression');
  const template = statement === undefined ? undefined : templateOf(context, statement);
  if (statement === undefined || template?.kind !== 'template' || template.parts.some(({ kind }) => kind === 'reference')) return;
  const message = `${shorten(statement.property)} refers to no column`;
  context.report.warning('unused-inverse', statement.origin, message, 'write columns in braces: {deptno} = …');
}

/** `map` is the property that accepts a node, for the hint when a node is found where a constant is expected. */
function constantOf(context: Context, statement: Statement, map: string | undefined, literals = true): Constant | undefined {
  if (statement.object.kind !== 'blank') return { kind: 'constant', origin: statement.origin, term: statement.object };
  const hint = map === undefined ? undefined : `for a map, write ${map}`;
  context.report.error(
    'wrong-value',
    statement.origin,
    `${shorten(statement.property)} takes an IRI${literals ? ' or a literal' : ''}, found a blank node`,
    hint,
  );
  return undefined;
}

/**
 * Converts a constant to the kind of term its position needs: a text becomes an IRI if the term type is rml:IRI or, for an absolute IRI, if
 * only IRIs are allowed there. RML-Core gives constants no term type; but older YARRRML tools write texts for IRIs, and every engine
 * accepts that.
 *
 * @returns undefined, with a diagnostic, for a text that is not an IRI
 */
function readConstantAs(
  context: Context,
  constant: Constant,
  role: TermRole,
  named: TermType | undefined,
  taker: string,
): Constant | undefined {
  const { term, origin } = constant;
  const asked = named !== undefined && kindOf(named) === 'iri';
  if (!isText(term) || !(asked || (named === undefined && !KINDS[role].includes('literal') && isIriText(term)))) return constant;
  const text = describeTerm(term);
  const prefixed = checkPrefix(context, term.value, origin);
  if (prefixed === 'wrong') return undefined;
  if (!checkIriText(context, origin, term.value, named ?? 'iri', `the constant ${JSON.stringify(term.value)}`)) return undefined;
  if (prefixed === 'right' && !asked)
    context.report.warning('text-for-iri', origin, `${taker} takes an IRI, found ${text}: read as one`, 'write it in <…>');
  else if (asked && !hasScheme(term.value)) {
    context.report.warning(
      'relative-iri',
      origin,
      `${text} is no absolute IRI: it gets the base IRI in front`,
      'write an absolute IRI in <…>',
    );
  }
  return { ...constant, term: { kind: 'iri', value: term.value } };
}

/** Whether a term is a text that could be meant as an IRI. */
const isText = (term: RdfTerm): boolean => term.kind === 'literal' && [`${XSD}string`, `${XSD}anyURI`].includes(term.datatype);

/** Whether the scheme of a text shows that it is meant as an IRI. */
export const isIriText = (term: RdfTerm): boolean => isText(term) && hasScheme(term.value);

/** A template for IRIs whose constant text is checked. Without references it is a constant. */
function readIriTemplate(context: Context, template: Template, termType: TermType): Template | Constant {
  const { origin, parts } = template;
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const what = `the template ${JSON.stringify(expressionText(template))}`;
  if (parts[0]?.kind === 'text' && checkPrefix(context, expressionText(template), origin) === 'wrong') return template;
  for (const text of texts) checkIriText(context, origin, text, termType, what);
  return texts.length < parts.length ? template : { kind: 'constant', origin, term: { kind: 'iri', value: texts.join('') } };
}

/** Whether a constant text may be part of an IRI of the term type. */
function checkIriText({ report }: Context, origin: Origin, text: string, termType: TermType, what: string): boolean {
  if (termType === 'unsafe-iri' || termType === 'unsafe-uri') return true;
  const at = findNotInIri(text);
  if (at >= 0) {
    const message = `${what} holds ${JSON.stringify(text[at])}, which no IRI may hold`;
    report.error(
      'malformed-iri',
      origin,
      message,
      braceHint(text, at, origin) ?? `write ${encodeURIComponent(text[at] as string)} instead`,
    );
    return false;
  }
  const beyond = termType === 'uri' ? /[^\x00-\x7f]/u.exec(text)?.[0] : undefined;
  if (beyond !== undefined) {
    const message = `${what} holds ${JSON.stringify(beyond)}, which an IRI may hold and a URI may not: only values are percent-encoded`;
    report.warning('malformed-uri', origin, message, `write ${encodeURI(beyond)} instead`);
  }
  return true;
}

/** A brace where no reference can stand is meant as one. */
function braceHint(text: string, at: number, { key }: Origin): string | undefined {
  if (!/^\{[^{}]+\}/.test(text.slice(at))) return undefined;
  return key === undefined ? 'a constant has no references: write rml:template' : 'a reference is written $(name)';
}

/** Warns of a constant IRI that its term type does not allow. Texts that become IRIs have been checked as such. */
function checkUri(context: Context, { term, origin }: Constant, termType: TermType): void {
  if (term.kind === 'iri' && termType === 'uri')
    checkIriText(context, origin, term.value, termType, `the constant ${JSON.stringify(term.value)}`);
}

function checkConstant(context: Context, constant: Constant, role: TermRole): boolean {
  const kinds = KINDS[role];
  if (kinds.includes(constant.term.kind)) return true;
  const { term, origin } = constant;
  const message = `the constant of ${withArticle(role)} must be ${orList(kinds.filter((kind) => kind !== 'blank').map((kind) => (kind === 'iri' ? 'an IRI' : 'a literal')))}, found ${describeTerm(term)}`;
  const hint = unquoted(context, term, origin) ?? (term.kind === 'literal' ? 'write an IRI in <…>' : undefined);
  context.report.error('wrong-value', origin, message, hint);
  return false;
}

const termTypeOfConstant = (term: RdfTerm): TermType => term.kind;

/** The term type that a map names, if any. */
function readTermType(context: Context, node: MappingNode): TermType | undefined {
  const statement = only(context, node, 'termType');
  if (statement === undefined) return undefined;
  const iri = statement.object.kind === 'iri' ? statement.object.value : undefined;
  const term = iri === undefined ? undefined : lookUp('individuals', iri);
  const termType = term?.name === undefined ? undefined : TERM_TYPES[term.name];
  if (termType !== undefined) return termType;
  if (term !== undefined && term.name === undefined) {
    const names = term.others().filter((other) => (other.split(':')[1] as string) in TERM_TYPES);
    reportUnknown(context.report, 'term type', term.short, statement.origin, names);
  } else {
    const expected = 'rml:IRI, rml:BlankNode, rml:Literal, rml:URI, rml:UnsafeIRI or rml:UnsafeURI';
    const quoted = statement.object.kind === 'literal' && statement.object.value in TERM_TYPES ? statement.object.value : undefined;
    const hint = quoted === undefined ? unquoted(context, statement.object, statement.origin) : `write rml:${quoted} without quotes`;
    context.report.error('wrong-value', statement.origin, `rml:termType takes ${expected}, found ${describeTerm(statement.object)}`, hint);
  }
  return undefined;
}

/**
 * The term type of a map: that of the constant, else the named one, else the default of position and expression.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/#iris-literal-blank-nodes-rml-termtype
 */
function settleTermType(
  context: Context,
  node: MappingNode,
  role: TermRole,
  expression: Expression,
  named: TermType | undefined,
  hasLiteralProperty: boolean,
): TermType {
  const { report } = context;
  const statement = node.all('termType')[0];
  if (expression.kind === 'constant') {
    checkConstant(context, expression, role);
    const own = termTypeOfConstant(expression.term);
    if (named === undefined || statement === undefined) return own;
    if (kindOf(named) === own) return named;
    const message = `the term type ${describeTerm(statement.object)} has no effect on a constant, which is ${describeTerm(expression.term)}`;
    report.warning('ignored-term-type', statement.origin, message, 'remove it, or write the constant as the term that is meant');
    return own;
  }
  if (named !== undefined && statement !== undefined) {
    if (!KINDS[role].includes(kindOf(named))) {
      const kinds = KINDS[role].map((kind) => `${KIND_NAMES[kind]}s`);
      const message = `${withArticle(role)} makes ${orList(kinds)}, not ${KIND_NAMES[kindOf(named)]}s`;
      const hint = `write ${orList(KINDS[role].map((kind) => TERM_TYPE_NAMES[kind]))}, or leave rml:termType out`;
      report.error('wrong-term-type', statement.origin, message, hint);
    }
    return named;
  }
  const isText = expression.kind === 'reference' || expression.kind === 'call';
  return role === 'object map' && (isText || hasLiteralProperty) ? 'literal' : 'iri';
}

/** Whether a statement is a constant shortcut (`rml:datatype`) rather than a map (`rml:datatypeMap`). */
const isShortcut = (statement: Statement): boolean => !statement.property.endsWith('Map');

function readLanguage(context: Context, statement: Statement): Expression | undefined {
  const expression: Expression | undefined = isShortcut(statement)
    ? constantOf(context, statement, 'rml:languageMap')
    : readExpressionMap(context, statement, 'language map');
  if (expression?.kind !== 'constant') return expression;
  const { term, origin } = expression;
  const found = term.kind === 'literal' ? JSON.stringify(term.value) : describeTerm(term);
  if (term.kind === 'literal' && isLanguageTag(term.value)) {
    if (namesLanguage(term.value)) return expression;
    // Current RML requires a well-formed tag; R2RML and legacy RML require a valid one.
    if (lookUp('properties', statement.property)?.dialect === 'rml') {
      context.report.warning('unknown-language', origin, `${found} names no registered language`, LANGUAGE_HINT);
      return expression;
    }
  }
  context.report.error('malformed-language', origin, `${found} is not a language tag`, LANGUAGE_HINT);
  return undefined;
}

const LANGUAGE_HINT = 'a language tag is for example "en" or "de-CH" (BCP 47)';
