/**
 * CSV files described by CSVW, in either RML vocabulary: a csvw:Table with csvw:url, csvw:dialect and csvw:tableSchema.
 *
 * An unknown term of the CSVW namespace is an error: a misspelt delimiter would otherwise give wrong records without any message.
 *
 * @see https://www.w3.org/TR/tabular-metadata/#dialect-descriptions and https://kg-construct.github.io/rml-io-registry/
 */
import { type CsvDialect, type CsvTrim, contradictionIn, delimiterOf, quoteOf } from '../../../core/input/csv-dialect.ts';
import { isEncoding } from '../../../core/input/encoding-name.ts';
import { type Graph, nodeId, type Statement } from '../../model/graph.ts';
import type { Dialect, Origin, RdfTerm } from '../../model/model.ts';
import { lookUp, shorten, USUAL_PREFIXES } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, orList, RDF_TYPE, reportUnknown } from '../node.ts';
import { inheritedBy } from './csvw-group.ts';
import { readSchema } from './csvw-schema.ts';

const CSVW = USUAL_PREFIXES.csvw as string;
const RDF = USUAL_PREFIXES.rdf as string;

/** Properties of a table: those that are read here, and those that are metadata for others. */
const TABLE = ['url', 'dialect', 'null', 'tableSchema'];
const UNUSED_TABLE = ['tableDirection', 'transformations', 'suppressOutput', 'notes', 'table', 'column', 'name', 'title'];

interface TableDialect {
  readonly csv: CsvDialect;
  readonly encoding: string | undefined;
  readonly nulls: readonly string[];
}

type Said = CsvDialect & { readonly encoding?: string };

/**
 * Properties of a dialect: the accepted values as text for messages, and a parser that returns undefined for any other text. Order matters:
 * a later row overrides an earlier one.
 */
const DIALECT: Readonly<Record<string, readonly [takes: string, read: (text: string) => Said | undefined]>> = {
  delimiter: ['one ASCII character', (text) => said('delimiter', delimiterOf(text))],
  quoteChar: ['one ASCII character, or an empty text where there are no quotes', (text) => said('quoteChar', quoteOf(text))],
  doubleQuote: ['true or false', (text) => said('doubleQuote', booleanOf(text))],
  commentPrefix: [
    'the text that comments begin with, on one line',
    (text) => (/[\r\n]/.test(text) ? undefined : { commentPrefix: text || null }),
  ],
  headerRowCount: ['a whole number', (text) => said('headerRows', countOf(text))],
  header: ['true or false', (text) => ({ true: {}, false: { headerRows: 0 } })[String(booleanOf(text))]],
  skipRows: ['a whole number', (text) => said('skipRows', countOf(text))],
  skipBlankRows: ['true or false', (text) => said('skipBlankRows', booleanOf(text))],
  skipColumns: ['a whole number', (text) => said('skipColumns', countOf(text) || undefined) ?? (countOf(text) === 0 ? {} : undefined)],
  skipInitialSpace: ['true or false', (text) => said('trim', TRIM[`initial-${booleanOf(text)}`])],
  trim: ['true, false, start or end', (text) => said('trim', TRIM[String(booleanOf(text) ?? text)])],
  lineTerminators: ['line feed, carriage return, or both', (text) => (/^(\n|\r\n?)$/.test(text) ? {} : undefined)],
  encoding: ['the name of an encoding', (text) => (isEncoding(text) ? { encoding: text } : undefined)],
  null: ['a text that stands for null', () => ({})],
};

const TRIM: Readonly<Record<string, CsvTrim>> = {
  true: 'both',
  false: 'none',
  start: 'start',
  end: 'end',
  'initial-true': 'start',
  'initial-false': 'none',
};

/** The dialect properties that may have several values. */
const SEVERAL = ['lineTerminators', 'null'];

function said<K extends keyof Said>(name: K, value: Said[K]): Said | undefined {
  return value === undefined ? undefined : { [name]: value };
}

const booleanOf = (text: string): boolean | undefined =>
  ['true', '1'].includes(text.trim()) ? true : ['false', '0'].includes(text.trim()) ? false : undefined;

const countOf = (text: string): number | undefined => (/^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined);

/** Whether a node is described as a table of CSVW. */
export const isTable = (graph: Graph, id: string): boolean =>
  (graph.get(id)?.statements ?? []).some(({ property, object }) =>
    property === RDF_TYPE ? object.value === `${CSVW}Table` : property === `${CSVW}url` || property === `${CSVW}dialect`,
  );

/** The statement that names the file of a table. */
export const tableUrl = ({ graph }: Context, id: string): Statement | undefined =>
  graph.get(id)?.statements.find(({ property }) => property === `${CSVW}url`);

/** The dialect of a table's file; undefined, with diagnostics, if its description is not valid. */
export function readTable(context: Context, id: string, ofMapping: Dialect): TableDialect | undefined {
  const { graph, report } = context;
  const before = report.errors;
  const nulls: string[] = [];
  const pointers = new Map<string, Statement>();
  for (const statement of graph.get(id)?.statements ?? []) {
    const { property, propertyOrigin, origin } = statement;
    if (property === RDF_TYPE || !property.startsWith(CSVW)) continue;
    const name = property.slice(CSVW.length);
    if (name === 'null') {
      nulls.push(...textsOf(context, statement, 'null'));
    } else if (TABLE.includes(name)) {
      if (pointers.has(name)) report.error('too-many', origin, `a second csvw:${name} on one table`);
      pointers.set(name, statement);
    } else if (UNUSED_TABLE.includes(name)) {
      report.warning(
        'unused-term',
        propertyOrigin,
        `csvw:${name} has no effect here`,
        'csvw:url, csvw:dialect, csvw:null and csvw:tableSchema are read',
      );
    } else if (Object.hasOwn(DIALECT, name)) {
      report.error('misplaced-term', propertyOrigin, `csvw:${name} does not belong on a table`, `write csvw:dialect [ csvw:${name} … ]`);
    } else {
      reportUnknown(
        report,
        'property',
        `csvw:${name}`,
        propertyOrigin,
        [...TABLE, ...UNUSED_TABLE].map((known) => `csvw:${known}`),
      );
    }
  }
  const ofGroup = inheritedBy(context, id);
  for (const statement of ofGroup) {
    const name = statement.property.slice(CSVW.length);
    if (name !== 'null' && !pointers.has(name)) pointers.set(name, statement);
  }
  if (nulls.length === 0)
    for (const statement of ofGroup) if (statement.property === `${CSVW}null`) nulls.push(...textsOf(context, statement, 'null'));
  const dialect = pointers.get('dialect');
  const schema = pointers.get('tableSchema');
  const read: Partial<TableDialect> | undefined = dialect === undefined ? {} : readDialect(context, dialect);
  const columns = schema === undefined ? [] : readSchema(context, schema, ofMapping);
  if (read === undefined || columns === undefined || report.errors > before) return undefined;
  const csv = { ...read.csv, ...(columns.length === 0 ? {} : { columns }) };
  return { csv, encoding: read.encoding, nulls: [...nulls, ...(read.nulls ?? [])] };
}

function readDialect(context: Context, pointer: Statement): TableDialect | undefined {
  const { graph, report, visited } = context;
  const id = nodeId(pointer.object);
  const node = id === undefined ? undefined : graph.get(id);
  if (node === undefined) {
    const message = `csvw:dialect leads to a description of the dialect, found ${describeTerm(pointer.object)}`;
    report.error('wrong-value', pointer.origin, message, 'write csvw:dialect [ csvw:delimiter ";" ]');
    return undefined;
  }
  visited.add(node.id);
  for (const { property, propertyOrigin } of node.statements) checkName(context, property, propertyOrigin);
  let dialect: Said = {};
  const nulls: string[] = [];
  for (const [name, [takes, read]] of Object.entries(DIALECT)) {
    const statements = node.statements.filter(({ property }) => property === CSVW + name);
    const [, second] = statements;
    if (second !== undefined && !SEVERAL.includes(name)) report.error('too-many', second.origin, `a second csvw:${name} on one dialect`);
    for (const statement of statements) {
      for (const text of textsOf(context, statement, name)) {
        const found = read(text);
        if (found === undefined)
          report.error('wrong-value', statement.origin, `csvw:${name} takes ${takes}, found ${JSON.stringify(text)}`);
        dialect = { ...dialect, ...found };
        if (name === 'null') nulls.push(text);
      }
    }
  }
  const { encoding, ...csv } = dialect;
  const problem = contradictionIn(csv);
  if (problem !== undefined) report.error('contradiction', node.origin, `rows cannot be told: ${problem}`);
  return { csv, encoding, nulls };
}

/** Whether a property may occur on a dialect. Properties of other vocabularies are ignored. */
function checkName({ report }: Context, property: string, origin: Origin): void {
  const isOurs = lookUp('properties', property) !== undefined;
  if (!isOurs && !property.startsWith(CSVW)) return;
  if (property.startsWith(CSVW) && Object.hasOwn(DIALECT, property.slice(CSVW.length))) return;
  const names = Object.keys(DIALECT).map((local) => `csvw:${local}`);
  // Not in CSVW, but widely used.
  const isEscape = property === `${CSVW}escapeChar`;
  const otherwise = isOurs
    ? 'write it on the table'
    : isEscape
      ? 'with csvw:doubleQuote false, a backslash escapes'
      : `a dialect takes ${orList(names)}`;
  reportUnknown(report, 'property of a dialect', shorten(property), origin, isEscape ? [] : names, otherwise);
}

/** The texts of a statement's object: a literal, or a list of literals if several are allowed. */
function textsOf({ graph, report, visited }: Context, { object, origin }: Statement, name: string): readonly string[] {
  if (object.kind === 'literal') return [object.value];
  const members: RdfTerm[] = [];
  const seen = new Set<string>();
  for (let id = nodeId(object); SEVERAL.includes(name) && id !== undefined && graph.has(id) && !seen.has(id); ) {
    seen.add(id);
    visited.add(id);
    const statements = graph.get(id)?.statements ?? [];
    members.push(...statements.filter(({ property }) => property === `${RDF}first`).map(({ object: member }) => member));
    const rest = statements.find(({ property }) => property === `${RDF}rest`);
    id = rest === undefined ? undefined : nodeId(rest.object);
  }
  if (members.length > 0 && members.every(({ kind }) => kind === 'literal')) return members.map(({ value }) => value);
  const [takes] = DIALECT[name] as (typeof DIALECT)[string];
  report.error('wrong-value', origin, `csvw:${name} takes ${takes}, found ${describeTerm(object)}`, 'write it in quotes');
  return [];
}
