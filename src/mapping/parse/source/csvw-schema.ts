/**
 * The columns of a csvw:Table: names, titles, nulls, defaults and natural datatypes.
 *
 * @see https://www.w3.org/TR/tabular-metadata/#schemas and https://kg-construct.github.io/rml-io-registry/
 */
import type { CsvColumn } from '../../../core/input/csv-dialect.ts';
import { XSD } from '../../../core/value.ts';
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
  const [separator] = all(graph, id, `${CSVW}separator`);
  if (separator !== undefined) {
    const hint = 'split the value with a function, such as grel:string_split';
    report.error('not-supported', separator.origin, 'csvw:separator is not supported by this version', hint);
  }
  const texts = (name: string): readonly string[] =>
    all(graph, id, CSVW + name)
      .flatMap((statement) => membersOf(context, statement))
      .map(({ object }) => object.value);
  const name = one(context, id, `${CSVW}name`, 'column')?.object.value;
  const fallback = one(context, id, `${CSVW}default`, 'column')?.object.value;
  const nulls = texts('null');
  const datatype = readDatatype(context, one(context, id, `${CSVW}datatype`, 'column'), dialect);
  return {
    titles: [...texts('titles'), ...texts('title'), ...(name === undefined ? [] : [name])],
    ...(name === undefined ? {} : { name }),
    ...(nulls.length === 0 ? {} : { nulls }),
    ...(fallback === undefined || fallback === '' ? {} : { default: fallback }),
    ...(datatype === undefined ? {} : { datatype }),
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
  const { graph, report } = context;
  if (statement === undefined) return undefined;
  const { object, origin } = statement;
  if (object.kind === 'blank') {
    const id = describedBy(context, statement);
    if (id === undefined) return undefined;
    const [format] = all(graph, id, `${CSVW}format`);
    if (format !== undefined) {
      const hint = 'read the value with a function, such as grel:date_toDate';
      report.error('not-supported', format.origin, 'csvw:format of a datatype is not supported by this version', hint);
    }
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
