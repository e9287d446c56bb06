/** Expressions and terms: what they read, their text for people, and their form over other columns. */
import { callText, conditionalText, FRESH_TEXT } from '../mapping/model/expressions.ts';
import type {
  Cell,
  Check,
  Collect,
  Collection,
  Column,
  Emit,
  EncodedTerm,
  Expression,
  Join,
  Operator,
  QuotedTerm,
  Read,
  RowTerm,
  Scan,
  StatementPlace,
  Term,
} from './algebra.ts';

/** What an expression reads of a row. */
export type Leaf = Read | Cell;

/** The name of a reference among those of its scan: rows of a join have two records, and the reference names its side. */
export const nameOf = ({ record, reference }: Read): string => (record.name === '' ? reference : `${record.name} ${reference}`);

/** Equal for what has the same values in each row. */
export const leafKey = (leaf: Leaf): string => (leaf.kind === 'cell' ? `#${leaf.column.id}` : `${leaf.record.id} ${leaf.reference}`);

/** Everything that an expression reads, in order; what stands twice comes twice. */
export function leavesOf(expression: Expression): readonly Leaf[] {
  switch (expression.kind) {
    case 'read':
    case 'cell':
      return [expression];
    case 'template':
      return expression.parts.filter((part) => typeof part !== 'string');
    case 'row':
      return expression.columns.map((column) => ({ kind: 'cell', origin: expression.origin, column }));
    default:
      return childExpressions(expression).flatMap(leavesOf);
  }
}

/** The expressions that an expression is made of. */
function childExpressions(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'call':
      return expression.execution.inputs.map(({ value }) => value);
    case 'conditional':
      return [expression.condition, expression.value];
    default:
      return [];
  }
}

export const readsOf = (expression: Expression): readonly Read[] => leavesOf(expression).filter((leaf) => leaf.kind === 'read');

/** Whether an expression, or one that it is made of, is of a kind. */
export const holds = (expression: Expression, kind: Expression['kind']): boolean =>
  expression.kind === kind || childExpressions(expression).some((part) => holds(part, kind));

/** Whether an expression has other values for another row with the same contents: it belongs to its row. */
export const isOfRow = (expression: Expression): boolean =>
  expression.kind === 'row' ||
  (expression.kind === 'call' && !expression.execution.deterministic) ||
  childExpressions(expression).some(isOfRow);

/** The expression whose values a condition lets through. */
export const unconditional = (expression: Expression): Exclude<Expression, { kind: 'conditional' }> =>
  expression.kind === 'conditional' ? unconditional(expression.value) : expression;

/** The terms that a quoted triple is made of. */
export const termsIn = ({ triples }: QuotedTerm): readonly Term[] =>
  triples.flatMap(({ subject, predicate, object }) => [subject, predicate, object]);

/** The expressions of a term: its value first. */
export function expressionsOf(term: Term): readonly Expression[] {
  switch (term.kind) {
    case 'constant':
    case 'encoded':
      return [];
    case 'quoted':
      return termsIn(term).flatMap(expressionsOf);
    case 'head':
      return [
        term.collection.row,
        ...collectionTerms(term.collection).flatMap(expressionsOf),
        ...memberJoins(term.collection).flatMap(keysOfJoin),
      ];
    case 'literal':
      return [
        term.value,
        ...(term.language === undefined ? [] : [term.language]),
        ...(term.datatype === undefined ? [] : expressionsOf(term.datatype)),
      ];
    default:
      return [term.value];
  }
}

/** What a term reads, cells with encoded terms included. */
export function leavesOfTerm(term: Term): readonly Leaf[] {
  if (term.kind === 'encoded') return [{ kind: 'cell', origin: term.origin, column: term.column }];
  return term.kind === 'quoted' ? termsIn(term).flatMap(leavesOfTerm) : expressionsOf(term).flatMap(leavesOf);
}

/** The terms that a collection is made of, those of collections within it included. */
export const collectionTerms = ({ head, members }: Collection): readonly RowTerm[] => [
  ...(head === undefined ? [] : [head]),
  ...members.flatMap((member) =>
    member.kind === 'term' ? [member.term] : member.kind === 'gather' ? collectionTerms(member.collection) : [],
  ),
];

/** The joins that find members of a collection, or of one within it. */
export const memberJoins = ({ members }: Collection): readonly Join[] =>
  members.flatMap((member) => (member.kind === 'joined' ? [member.join] : member.kind === 'gather' ? memberJoins(member.collection) : []));

/** A collection and those within it. */
export const collectionsIn = (collection: Collection): readonly Collection[] => [
  collection,
  ...collection.members.flatMap((member) => (member.kind === 'gather' ? collectionsIn(member.collection) : [])),
];

/** Whether rows append to collections that other rows have begun. */
export const spansRows = (collection: Collection): boolean => collectionsIn(collection).some(({ head }) => head !== undefined);

/** The terms of a statement beside its subject. */
export const termsOfEmit = ({ predicate, object, graph }: Emit): readonly Term[] => [
  predicate,
  object,
  ...(graph === undefined ? [] : [graph]),
];

/** The keys of the left side. */
export const keysOfJoin = ({ on }: Join): readonly Expression[] => on.map(({ left }) => left);

/** Everything that a collection and its graphs read. */
export const leavesOfCollect = ({
  collection,
  places,
}: Pick<Collect, 'collection'> & { readonly places: readonly Pick<StatementPlace, 'graph'>[] }): readonly Leaf[] => [
  ...leavesOfTerm({ kind: 'head', origin: collection.origin, collection }),
  ...places.flatMap(({ graph }) => (graph === undefined ? [] : leavesOfTerm(graph))),
];

export const readsOfTerm = (term: Term): readonly Read[] => expressionsOf(term).flatMap(readsOf);

/** What is written for a term, in the place of what stands in cells. Its leaves may be of other rows. */
export function definitionOf(term: Term, rows: Operator): RowTerm {
  switch (term.kind) {
    case 'encoded':
      return definitionOfCell(term, rows);
    case 'quoted':
      return replaceInQuoted(term, (inner) => definitionOf(inner, rows));
    default:
      return term;
  }
}

function definitionOfCell(term: EncodedTerm, rows: Operator): RowTerm {
  const { column } = term;
  switch (rows.kind) {
    case 'scan':
      throw new Error(`no operator gives the column ${column.name}`);
    case 'join': {
      const value = rows.right.columns[rows.columns.indexOf(column)]?.value;
      return value === undefined || !isTerm(value) ? definitionOfCell(term, rows.left) : definitionOf(value, rows.right.input);
    }
    case 'extend': {
      const value = rows.columns.find((one) => one.column === column)?.value;
      return value === undefined || !isTerm(value) ? definitionOfCell(term, rows.input) : definitionOf(value, rows.input);
    }
    default:
      return definitionOfCell(term, rows.input);
  }
}

/** A key as a term, which is valid where the key is. */
export const keyTerm = (value: Expression): RowTerm => ({
  kind: 'literal',
  origin: value.origin,
  value,
  language: undefined,
  datatype: undefined,
});

export const isTerm = (value: Expression | Term): value is Term =>
  ['iri', 'blank', 'literal', 'quoted', 'head', 'encoded'].includes(value.kind) || 'term' in value;

/** Whether a term is in a cell, or has a part that is. */
export const isInCell = (term: Term): boolean => term.kind === 'encoded' || (term.kind === 'quoted' && termsIn(term).some(isInCell));

export const replaceInQuoted = (term: QuotedTerm, replace: (term: Term) => Term): QuotedTerm => ({
  ...term,
  triples: term.triples.map(({ subject, predicate, object }) => ({
    subject: replace(subject),
    predicate: replace(predicate),
    object: replace(object),
  })),
});

/** Equal for expressions with the same values. */
export const expressionKey = (expression: Expression): string => JSON.stringify(expression, meaning);
/** Equal for terms with the same texts. */
export const termKey = (term: Term): string => JSON.stringify(term, meaning);

const meaning = (key: string, value: unknown): unknown => (key === 'origin' || key === 'field' ? undefined : value);

/** The same over other columns. */
export const renameExpression = (expression: Expression, columns: ReadonlyMap<Column, Column>): Expression =>
  replaceLeaves(expression, (leaf) =>
    leaf.kind === 'read'
      ? { ...leaf, record: columns.get(leaf.record) ?? leaf.record }
      : { ...leaf, column: columns.get(leaf.column) ?? leaf.column },
  );

export const renameTerm = <T extends Term>(term: T, columns: ReadonlyMap<Column, Column>): T =>
  replaceInTerm(term, (expression) => renameExpression(expression, columns));

/** The same expression with something else in the place of what it reads. */
export function replaceLeaves(expression: Expression, replace: (leaf: Leaf) => Leaf): Expression {
  switch (expression.kind) {
    case 'read':
    case 'cell':
      return replace(expression);
    case 'template':
      return { ...expression, parts: expression.parts.map((part) => (typeof part === 'string' ? part : replace(part))) };
    case 'call': {
      const { execution } = expression;
      const inputs = execution.inputs.map((input) => ({ ...input, value: replaceLeaves(input.value, replace) }));
      return { ...expression, execution: { ...execution, inputs } };
    }
    case 'conditional':
      return { ...expression, condition: replaceLeaves(expression.condition, replace), value: replaceLeaves(expression.value, replace) };
    case 'row': {
      const { origin } = expression;
      const replaced = (column: Column): Column => {
        const leaf = replace({ kind: 'cell', origin, column });
        return leaf.kind === 'cell' ? leaf.column : column;
      };
      return { ...expression, columns: expression.columns.map(replaced) };
    }
    default:
      return expression;
  }
}

/** The same term with other expressions. */
export function replaceInTerm<T extends Term>(term: T, replace: (expression: Expression) => Expression): T;
export function replaceInTerm(term: Term, replace: (expression: Expression) => Expression): Term {
  switch (term.kind) {
    case 'constant':
    case 'encoded':
    // A collection belongs to its row: nothing moves it to others.
    case 'head':
      return term;
    case 'quoted':
      return replaceInQuoted(term, (inner) => replaceInTerm(inner, replace));
    case 'literal': {
      const { language, datatype } = term;
      return {
        ...term,
        value: replace(term.value),
        language: language === undefined ? undefined : replace(language),
        datatype: datatype === undefined ? undefined : replaceInTerm(datatype, replace),
      };
    }
    default:
      return { ...term, value: replace(term.value) };
  }
}

const leafText = (leaf: Leaf): string => (leaf.kind === 'cell' ? leaf.column.name : nameOf(leaf));

/** As a mapping writes it. */
export function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case 'constant':
      return JSON.stringify(expression.text);
    case 'read':
    case 'cell':
      return leafText(expression);
    case 'template':
      return expression.parts.map((part) => (typeof part === 'string' ? part : `{${leafText(part)}}`)).join('');
    case 'row':
      return FRESH_TEXT;
    case 'call':
      return callText(expression.execution.function, childExpressions(expression).map(expressionText));
    case 'conditional':
      return conditionalText(expressionText(expression.value), expressionText(expression.condition));
  }
}

/** In the manner of N-Quads: `<…>`, `"…"@en`, `_:(…)`. */
export function termText(term: Term): string {
  switch (term.kind) {
    case 'constant':
      return rdfText(term.term);
    case 'iri':
      return `<${expressionText(term.value)}>`;
    case 'blank':
      return `_:(${expressionText(term.value)})`;
    case 'literal': {
      const language = term.language === undefined ? '' : `@${expressionText(term.language)}`;
      const datatype = term.datatype === undefined ? '' : `^^${termText(term.datatype)}`;
      return `"${term.value.kind === 'constant' ? term.value.text : expressionText(term.value)}"${language}${datatype}`;
    }
    case 'quoted':
      return term.triples
        .map(({ subject, predicate, object }) => `<< ${[subject, predicate, object].map(termText).join(' ')} >>`)
        .join(' and ');
    case 'encoded':
      return term.column.name;
    case 'head':
      return collectionText(term.collection);
  }
}

/** `list <http://e/{id}> of ("value" …)`. */
export function collectionText({ as, head, members, strategy }: Collection): string {
  const texts = members.map((member) => {
    if (member.kind === 'term') return termText(member.term);
    return member.kind === 'gather' ? collectionText(member.collection) : `subjects of ${member.join.right.map?.name ?? ''}`;
  });
  return `${as}${head === undefined ? '' : ` ${termText(head)}`} of (${texts.join(strategy === 'product' ? ' × ' : ' ')})`;
}

function rdfText(term: Extract<Term, { kind: 'constant' }>['term']): string {
  switch (term.kind) {
    case 'iri':
      return `<${term.value}>`;
    case 'blank':
      return `_:(${term.value})`;
    case 'literal':
      return `"${term.value}"${term.language === undefined ? '' : `@${term.language}`}`;
  }
}

/** The scan that the rows begin with: that of the left side. */
export function scanOf(rows: Operator): Scan {
  switch (rows.kind) {
    case 'scan':
      return rows;
    case 'join':
      return scanOf(rows.left);
    default:
      return scanOf(rows.input);
  }
}

/** Whether the records of one side, or of both, are rows of a database. */
export const readsDatabase = ({ left, right }: Join): boolean => [left, right.input].some((side) => scanOf(side).source.kind !== 'file');

/** The steps from the records of the scan to the rows, in their order. */
export function stepsOf(rows: Operator): readonly Exclude<Operator, Scan>[] {
  if (rows.kind === 'scan') return [];
  return [...stepsOf(rows.kind === 'join' ? rows.left : rows.input), rows];
}

/** The joins among the steps of rows. */
export const rowJoins = (rows: Operator): readonly Join[] => stepsOf(rows).filter((step) => step.kind === 'join');

/** What a check reads of a row. */
export function leavesOfCheck({ fields, origin, position, target }: Check): readonly Leaf[] {
  const columns = target === undefined ? [position] : [position, target.found];
  return [...fields.flatMap(({ value }) => leavesOf(value)), ...columns.map((column): Leaf => ({ kind: 'cell', origin, column }))];
}

/** What the value of a column reads. */
export const leavesOfColumn = ({ value }: { readonly value: Expression | Term }): readonly Leaf[] =>
  isTerm(value) ? leavesOfTerm(value) : leavesOf(value);

/** What a step reads of the rows below it. */
export function leavesOfStep(step: Exclude<Operator, Scan>): readonly Leaf[] {
  switch (step.kind) {
    case 'unnest':
      return step.items.of === 'values'
        ? leavesOf(step.items.expression)
        : [{ kind: 'cell', origin: step.origin, column: step.items.within }];
    case 'extend':
      return step.columns.flatMap(leavesOfColumn);
    case 'join':
      return step.on.flatMap(({ left }) => leavesOf(left));
    case 'number':
      return [];
  }
}
