/** Inputs → logical sources. */
import { SOURCE_NAMESPACE } from '../../../src/core/input/formats.ts';
import { XSD } from '../../../src/core/value.ts';
import type { RdfTerm } from '../../../src/mapping/model/model.ts';
import type { CsvDialect, Database, Input, Location, Path } from '../document.ts';
import { type GraphWriter, individual, iri, literal, type Properties } from './graph.ts';
import { iteratorText } from './paths.ts';

const CSVW = 'http://www.w3.org/ns/csvw#';
const D2RQ = 'http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#';

/** The property of a triples map that says what it reads. */
export function sourceProperties(writer: GraphWriter, input: Input, iterator: Path): Properties {
  const { location, format } = input;
  if (location.kind === 'table' || location.kind === 'query') {
    const content = literal(location.kind === 'table' ? location.table : location.query);
    if (location.database === undefined)
      return [['logicalTable', writer.blank([[location.kind === 'table' ? 'tableName' : 'sqlQuery', content]])]];
    const source = writer.blank([
      ['source', databaseNode(writer, location.database, input.nulls)],
      ['referenceFormulation', individual(location.kind === 'table' ? 'SQL2008Table' : 'SQL2008Query')],
      ['iterator', content],
    ]);
    return [['logicalSource', source]];
  }
  const text = iteratorText(format, iterator);
  const file = fileNode(writer, input, location);
  const source = writer.blank([
    ['source', file],
    ['referenceFormulation', formulation(writer, input)],
    ['iterator', text === undefined ? undefined : literal(text)],
  ]);
  return [['logicalSource', source]];
}

function fileNode(
  writer: GraphWriter,
  { dialect, nulls, compression }: Input,
  location: Exclude<Location, { kind: 'table' | 'query' }>,
): RdfTerm {
  const path = literal(location.kind === 'file' ? location.path : location.url);
  const without = nulls.map((value) => ['null', literal(value)] as const);
  const { encoding, ...written } = dialect ?? {};
  if (dialect !== undefined && Object.keys(written).length > 0) {
    const table = writer.foreign(`${CSVW}Table`, [
      [`${CSVW}url`, path],
      [`${CSVW}dialect`, dialectNode(writer, dialect)],
    ]);
    writer.describe(table, without);
    return table;
  }
  const directory = location.kind === 'file' ? location.directory : undefined;
  const described: Properties = [
    ['root', rootOf(directory)],
    ['path', path],
    ['encoding', encoding === undefined ? undefined : literal(encoding)],
    ['compression', compression === undefined ? undefined : individual(compression)],
    ...without,
  ];
  return writer.blank(described, 'FilePath');
}

function rootOf(directory: string | undefined): RdfTerm {
  if (directory === undefined) return individual('MappingDirectory');
  if (directory === 'working-directory') return individual('CurrentWorkingDirectory');
  return /^[a-z][a-z0-9+.-]+:/i.test(directory) ? iri(directory) : literal(directory);
}

function dialectNode(writer: GraphWriter, { delimiter, quote, header, encoding }: CsvDialect): RdfTerm {
  const given = [
    ['delimiter', delimiter === undefined ? undefined : literal(delimiter)],
    ['quoteChar', quote === undefined ? undefined : literal(quote)],
    ['header', header === undefined ? undefined : literal(String(header), { datatype: `${XSD}boolean` })],
    ['encoding', encoding === undefined ? undefined : literal(encoding)],
  ] as const;
  return writer.foreign(
    `${CSVW}Dialect`,
    given.flatMap(([name, value]) => (value === undefined ? [] : [[`${CSVW}${name}`, value] as const])),
  );
}

function databaseNode(writer: GraphWriter, { url, driver, user, password }: Database, nulls: readonly string[]): RdfTerm {
  const given = [
    ['jdbcDSN', url],
    ['jdbcDriver', driver],
    ['username', user],
    ['password', password],
  ] as const;
  const node = writer.foreign(
    `${D2RQ}Database`,
    given.flatMap(([name, value]) => (value === undefined ? [] : [[`${D2RQ}${name}`, literal(value)] as const])),
  );
  writer.describe(
    node,
    nulls.map((value) => ['null', literal(value)] as const),
  );
  return node;
}

function formulation(writer: GraphWriter, { format, namespaces }: Input): RdfTerm {
  switch (format) {
    case 'json':
    case 'jsonl':
      return individual('JSONPath');
    case 'parquet':
      return iri(`${SOURCE_NAMESPACE}Parquet`);
    case 'xml': {
      const named = Object.entries(namespaces).map(
        ([prefix, url]) =>
          [
            'namespace',
            writer.blank([
              ['namespacePrefix', literal(prefix)],
              ['namespaceURL', literal(url)],
            ]),
          ] as const,
      );
      return named.length === 0 ? individual('XPath') : writer.blank(named, 'XPathReferenceFormulation');
    }
    default:
      return individual('CSV');
  }
}
