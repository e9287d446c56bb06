/** Expressions and terms: what they read, their text for people, and their form over other columns. */
import type { Column, Expression, Read, RowTerm, Term } from './algebra.ts';

/** The name of a reference among those of its scan: rows of a join have two records, and the reference names its side. */
export const nameOf = ({ record, reference }: Read): string => (record.name === '' ? reference : `${record.name} ${reference}`);

/** Every reference of an expression, in order; one that stands twice comes twice. */
export function readsOf(expression: Expression): readonly Read[] {
  switch (expression.kind) {
    case 'read':
      return [expression];
    case 'template':
      return expression.parts.filter((part) => typeof part !== 'string');
    default:
      return [];
  }
}

/** The expressions of a term: its value first. */
export function expressionsOf(term: Term): readonly Expression[] {
  switch (term.kind) {
    case 'constant':
    case 'encoded':
      return [];
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

export const readsOfTerm = (term: Term): readonly Read[] => expressionsOf(term).flatMap(readsOf);

/** Equal for expressions with the same values. */
export const expressionKey = (expression: Expression): string => JSON.stringify(expression, meaning);
/** Equal for terms with the same texts. */
export const termKey = (term: Term): string => JSON.stringify(term, meaning);

const meaning = (key: string, value: unknown): unknown => (key === 'origin' ? undefined : value);

/** The same over other columns. */
export function renameExpression(expression: Expression, columns: ReadonlyMap<Column, Column>): Expression {
  const renameRead = (read: Read): Read => ({ ...read, record: columns.get(read.record) ?? read.record });
  switch (expression.kind) {
    case 'read':
      return renameRead(expression);
    case 'template':
      return { ...expression, parts: expression.parts.map((part) => (typeof part === 'string' ? part : renameRead(part))) };
    default:
      return expression;
  }
}

export function renameTerm(term: RowTerm, columns: ReadonlyMap<Column, Column>): RowTerm {
  switch (term.kind) {
    case 'constant':
      return term;
    case 'literal': {
      const { language, datatype } = term;
      return {
        ...term,
        value: renameExpression(term.value, columns),
        language: language === undefined ? undefined : renameExpression(language, columns),
        datatype: datatype === undefined ? undefined : renameTerm(datatype, columns),
      };
    }
    default:
      return { ...term, value: renameExpression(term.value, columns) };
  }
}

/** As a mapping writes it. */
export function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case 'constant':
      return JSON.stringify(expression.text);
    case 'read':
      return nameOf(expression);
    case 'template':
      return expression.parts.map((part) => (typeof part === 'string' ? part : `{${nameOf(part)}}`)).join('');
    case 'row':
      return '(a blank node for each record)';
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
    case 'encoded':
      return term.column.name;
  }
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
