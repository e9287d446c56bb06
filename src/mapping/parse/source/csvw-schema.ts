/**
 * The columns of a csvw:Table: names, titles, nulls, defaults, natural datatypes with their formats, and separators of values.
 *
 * @see https://www.w3.org/TR/tabular-metadata/#schemas and https://kg-construct.github.io/rml-io-registry/
 */
import type { CsvColumn } from '../../../core/input/csv-dialect.ts';
import { booleanFormatOf, type CsvFormat, compileFormat, type NumberFormat, partsOfDate } from '../../../core/input/csv-format.ts';
import { XSD } from '../../../core/value.ts';
import { BoundedRegExp } from '../../../regexp/linear.ts';
import { nodeId, type Statement } from '../../model/graph.ts';
import type { Dialect } from '../../model/model.ts';
import { shorten, USUAL_PREFIXES } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, RDF_TYPE, reportUnknown } from '../node.ts';
import { all, describedBy, membersOf, one } from './description.ts';

const CSVW = USUAL_PREFIXES.csvw as string;
const RDF = USUAL_PREFIXES.rdf as string;

/** Properties of a column that change nothing of what a reference gives. */
const UNUSED = [
  'virtual',
  'suppressOutput',
  'required',
  'ordered',
  'lang',
  'textDirection',
  'aboutUrl',
  'propertyUrl',
  'valueUrl',
  'note',
  'notes',
];
const READ = ['name', 'title', 'titles', 'null', 'default', 'datatype', 'separator'];
/** `csvw:column` in RDF, `columns` in JSON; the registry of RML writes the latter. */
const COLUMNS = ['column', 'columns'].map((name) => CSVW + name);

/** The columns that a csvw:tableSchema describes, in their order; undefined, with diagnostics, if a description is not valid. */
export function readSchema(context: Context, pointer: Statement, dialect: Dialect): readonly CsvColumn[] | undefined {
  const { graph, report } = context;
  const before = report.errors;
  if (pointer.object.kind === 'blank' && !graph.has(nodeId(pointer.object) as string)) return [];
  const id = describedBy(context, pointer);
  if (id === undefined) return undefined;
  for (const { property, propertyOrigin } of graph.get(id)?.statements ?? []) {
    if (!property.startsWith(CSVW) || COLUMNS.includes(property)) continue;
    report.warning('unused-term', propertyOrigin, `${shorten(property)} has no effect on a schema here`, 'csvw:column is read');
  }
  const columns = COLUMNS.flatMap((property) => all(graph, id, property))
    .flatMap((statement) => membersOf(context, statement))
    .map((statement) => readColumn(context, statement, dialect));
  return report.errors > before ? undefined : columns.filter((column) => column !== undefined);
}

function readColumn(context: Context, pointer: Statement, dialect: Dialect): CsvColumn | undefined {
  const { graph, report } = context;
  const id = describedBy(context, pointer);
  if (id === undefined) return undefined;
  for (const { property, propertyOrigin } of graph.get(id)?.statements ?? []) {
    const name = property.startsWith(CSVW) ? property.slice(CSVW.length) : undefined;
    if (property === RDF_TYPE || name === undefined || READ.includes(name)) continue;
    if (UNUSED.includes(name)) report.warning('unused-term', propertyOrigin, `csvw:${name} has no effect here`);
    else
      reportUnknown(
        report,
        'property of a column',
        `csvw:${name}`,
        propertyOrigin,
        [...READ, ...UNUSED].map((known) => `csvw:${known}`),
      );
  }
  const texts = (name: string): readonly string[] =>
    all(graph, id, CSVW + name)
      .flatMap((statement) => membersOf(context, statement))
      .map(({ object }) => object.value);
  const name = one(context, id, `${CSVW}name`, 'column')?.object.value;
  const fallback = one(context, id, `${CSVW}default`, 'column')?.object.value;
  const nulls = texts('null');
  const described = one(context, id, `${CSVW}datatype`, 'column');
  const datatype = readDatatype(context, described, dialect);
  const format = described === undefined || dialect !== 'rml' ? undefined : readFormat(context, described, datatype ?? `${XSD}string`);
  const separator = readSeparator(context, id);
  return {
    titles: [...texts('titles'), ...texts('title'), ...(name === undefined ? [] : [name])],
    ...(name === undefined ? {} : { name }),
    ...(nulls.length === 0 ? {} : { nulls }),
    ...(fallback === undefined || fallback === '' ? {} : { default: fallback }),
    ...(datatype === undefined ? {} : { datatype }),
    ...(format === undefined ? {} : { format }),
    ...(separator === undefined ? {} : { separator }),
  };
}

/** Datatypes of CSVW whose name is not that of XML Schema. @see https://www.w3.org/TR/tabular-data-model/#datatypes */
const NAMED: Readonly<Record<string, string>> = {
  number: `${XSD}double`,
  binary: `${XSD}base64Binary`,
  datetime: `${XSD}dateTime`,
  xml: `${RDF}XMLLiteral`,
  html: `${RDF}HTML`,
  json: `${CSVW}JSON`,
};
/** Texts, which are plain values. */
const PLAIN = ['string', 'any', 'anyAtomicType'];

function readDatatype(context: Context, statement: Statement | undefined, dialect: Dialect): string | undefined {
  const { report } = context;
  if (statement === undefined) return undefined;
  const { object, origin } = statement;
  if (object.kind === 'blank') {
    const id = describedBy(context, statement);
    if (id === undefined) return undefined;
    return readDatatype(context, one(context, id, `${CSVW}base`, 'datatype'), dialect);
  }
  if (dialect !== 'rml') {
    report.warning('unused-term', origin, 'csvw:datatype has no effect in older RML, which has no natural datatypes', 'write rr:datatype');
    return undefined;
  }
  const iri = object.kind === 'iri' ? object.value : (NAMED[object.value] ?? `${XSD}${object.value}`);
  if (object.kind === 'literal' && !/^[a-zA-Z]+$/.test(object.value)) {
    report.error('wrong-value', origin, `csvw:datatype takes a datatype, found ${describeTerm(object)}`, 'write xsd:integer, or "integer"');
    return undefined;
  }
  return PLAIN.some((name) => iri === XSD + name) ? undefined : iri;
}

function readSeparator(context: Context, column: string): string | undefined {
  const statement = one(context, column, `${CSVW}separator`, 'column');
  if (statement === undefined || statement.object.value !== '') return statement?.object.value;
  context.report.error(
    'wrong-value',
    statement.origin,
    'csvw:separator is empty',
    'write the text between the values of a cell, such as ";"',
  );
  return undefined;
}

/** Properties of a format of numbers. */
const NUMBER_PROPERTIES = ['pattern', 'decimalChar', 'groupChar'] as const;
const NUMBERS = new RegExp(
  `^${XSD}(?:decimal|double|float|integer|long|int|short|byte|nonNegativeInteger|positiveInteger|nonPositiveInteger|negativeInteger|unsigned(?:Long|Int|Short|Byte))$`,
);

/** The csvw:format of a described datatype. */
function readFormat(context: Context, pointer: Statement, datatype: string): CsvFormat | undefined {
  const { report } = context;
  const id = pointer.object.kind === 'blank' ? describedBy(context, pointer) : undefined;
  const statement = id === undefined ? undefined : one(context, id, `${CSVW}format`, 'datatype');
  if (statement === undefined) return undefined;
  const { object, origin } = statement;
  const wrong = (expected: string): undefined => {
    report.error('wrong-value', origin, `csvw:format of ${shorten(datatype)} takes ${expected}, found ${describeTerm(object)}`, undefined);
  };
  if (NUMBERS.test(datatype)) {
    const format = numberFormatOf(context, statement);
    return compileFormat(format) === undefined ? wrong('a pattern such as "#,##0.00", or csvw:decimalChar and csvw:groupChar') : format;
  }
  if (datatype === `${XSD}boolean`) return booleanFormatOf(object.value) ?? wrong('the texts of true and false, such as "Y|N"');
  const expected = DATE_PARTS[datatype];
  if (expected === undefined) return patternOf(context, statement);
  const parts = partsOfDate(object.value);
  const fits = parts?.date === expected.date && parts.time === expected.time;
  return fits ? { kind: 'date', pattern: object.value } : wrong(expected.example);
}

/**
 * A regular expression: the format of all other datatypes.
 *
 * @see https://www.w3.org/TR/tabular-data-model/#formats-for-other-types
 */
function patternOf(context: Context, { object, origin }: Statement): CsvFormat | undefined {
  const { report } = context;
  const found = `csvw:format is a regular expression here, and ${describeTerm(object)}`;
  if (object.kind === 'blank') {
    report.error('wrong-value', origin, `${found} is none`);
    return undefined;
  }
  context.hasRegExps = true;
  try {
    if (!new BoundedRegExp(object.value, '', true).isUnbounded) return { kind: 'pattern', source: object.value };
    report.error(
      'wrong-value',
      origin,
      `${found} could take hours: it repeats what repeats`,
      'no repetition within a repetition makes it fast',
    );
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reason = error.message.replace(/^Invalid regular expression: \/.*\/\w*: /s, '');
    report.error('wrong-value', origin, `${found} is none: ${reason}`, 'it has the syntax of ECMAScript with Unicode rules');
  }
  return undefined;
}

const DATE_TIME = { date: true, time: true, example: 'a pattern such as "yyyy-MM-ddTHH:mm:ss"' };
const DATE_PARTS: Readonly<Record<string, { readonly date: boolean; readonly time: boolean; readonly example: string }>> = {
  [`${XSD}date`]: { date: true, time: false, example: 'a pattern such as "d.M.yyyy"' },
  [`${XSD}time`]: { date: false, time: true, example: 'a pattern such as "HH:mm"' },
  [`${XSD}dateTime`]: DATE_TIME,
  [`${XSD}dateTimeStamp`]: DATE_TIME,
};

/** A pattern alone, or a description of the characters of numbers. */
function numberFormatOf(context: Context, statement: Statement): NumberFormat {
  if (statement.object.kind !== 'blank') return { kind: 'number', pattern: statement.object.value };
  const id = describedBy(context, statement);
  if (id === undefined) return { kind: 'number' };
  const found = NUMBER_PROPERTIES.flatMap((name) => {
    const value = one(context, id, CSVW + name, 'number format')?.object.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { kind: 'number', ...Object.fromEntries(found) };
}
