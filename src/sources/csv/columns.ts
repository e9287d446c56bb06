/** Finds the column that a reference names, in the header of delimited text. */
import { describeFault, Fault, type FaultPlace } from '../../core/fault.ts';
import { type CsvColumn, type CsvDialect, DEFAULT_DELIMITER } from '../../core/input/csv-dialect.ts';
import { nearest, withoutBrackets } from '../../core/nearest.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { describedBy } from './described.ts';

/**
 * Index of the column that is named `reference`.
 *
 * @param header names of the columns, as one-byte UTF-8
 * @param warnings takes a warning about a column in another letter case, which legacy mappings may name. undefined: such a column is another one
 * @throws Fault mapping/reference — there is no such column, or there are two
 */
export function columnOf(
  reference: string,
  header: readonly string[],
  dialect: CsvDialect,
  place: FaultPlace,
  warnings?: Set<string>,
): number {
  const name = toBytes(reference);
  const column = indexOf(name, header, dialect);
  if (column < 0) {
    const other = warnings && inOtherCase(reference, header, dialect);
    if (other !== undefined) {
      const found = JSON.stringify(fromBytes(header[other] as string));
      const message = `There is no column ${JSON.stringify(reference)}: ${found} is read, which differs in letter case alone. Write it as the header does`;
      warnings?.add(describeFault(new Fault('mapping/reference', message, { place })));
      return other;
    }
    const hint = columnHint(reference, header.map(fromBytes), dialect);
    throw new Fault('mapping/reference', `There is no column ${JSON.stringify(reference)}`, { place, hint });
  }
  if (header.indexOf(name, column + 1) >= 0) {
    throw new Fault('mapping/reference', `The header names the column ${JSON.stringify(reference)} twice`, {
      place,
      hint: 'Rename one of them in the file.',
    });
  }
  return column;
}

/**
 * Index of a column, or -1: by its text in the header, else by a name or title of its description. Without a header, `2` and `_col.2` (the
 * CSVW name) are the second column after those that are skipped.
 */
function indexOf(name: string, header: readonly string[], dialect: CsvDialect): number {
  const { headerRows, skipColumns = 0, columns = [] } = dialect;
  const described = describedBy(fromBytes(name), dialect);
  if (headerRows === 0) {
    const position = /^(?:_col\.)?([1-9]\d*)$/.exec(name)?.[1];
    const column = skipColumns + (position === undefined ? columns.indexOf(described as CsvColumn) : Number(position) - 1);
    return (position === undefined && described === undefined) || column >= header.length ? -1 : column;
  }
  const column = header.indexOf(name, skipColumns);
  if (column >= 0 || described === undefined) return column;
  return header.findIndex((title, at) => at >= skipColumns && described.titles.includes(fromBytes(title)));
}

/** Index of the only column whose name differs from a reference in letter case alone. */
function inOtherCase(reference: string, header: readonly string[], { headerRows, skipColumns = 0 }: CsvDialect): number | undefined {
  if (headerRows === 0) return undefined;
  const lower = reference.toLowerCase();
  const found = header.flatMap((name, at) => (at >= skipColumns && fromBytes(name).toLowerCase() === lower ? [at] : []));
  return found.length === 1 ? found[0] : undefined;
}

/** A hint for a column that is missing in the header: usually the file has another delimiter, or the name is misspelt. */
function columnHint(reference: string, names: readonly string[], dialect: CsvDialect): string {
  const excel = /^sep=(.?)$/i.exec(names[0] ?? '');
  if (excel !== null && names.length <= 2) {
    const delimiter = excel[1] || dialect.delimiter || DEFAULT_DELIMITER;
    return `The first line, ${quoted(names[0] as string)}, speaks to Excel. Take it out of the file, or skip it: csvw:dialect [ csvw:skipRows 1 ; csvw:delimiter ${JSON.stringify(delimiter)} ] in the mapping`;
  }
  const padded = names.find((name) => name !== reference && name.trim() === reference.trim());
  if (padded !== undefined && reference.trim() !== '') {
    const hint = `The header has the column ${quoted(padded)}, with other spaces around it`;
    return `${hint}. Write it like that, or csvw:dialect [ csvw:trim true ] in the mapping, which leaves spaces around all cells out`;
  }
  const delimiter = dialect.delimiter ?? DEFAULT_DELIMITER;
  for (const other of [';', '\t', '|', ',', ':', ' ']) {
    const whole = other === delimiter ? undefined : names.find((name) => name.includes(other) && cellsOf(name, other).includes(reference));
    if (whole === undefined) continue;
    const written = JSON.stringify(other);
    const found = names.length === 1 ? 'The header has one column,' : 'The header has the column';
    return `${found} ${quoted(whole)}: the separator looks like ${written}. Use --delimiter '${other === '\t' ? '\\t' : other}' on the command line, or csvw:dialect [ csvw:delimiter ${written} ] in the mapping`;
  }
  for (const quote of ["'", '"']) {
    if (!names.includes(quote + reference + quote)) continue;
    const option = quote === "'" ? `--quote "'"` : `--quote '"'`;
    return `The header has ${quote}${reference}${quote}, with its quotes. Use ${option} on the command line, or csvw:dialect [ csvw:quoteChar ${JSON.stringify(quote)} ] in the mapping`;
  }
  const cut = names.find((name) => name.startsWith(`${reference})`));
  if (cut !== undefined) {
    const escaped = cut.replace(/[\\()]/g, '\\$&');
    return `The header has the column ${quoted(cut)}: in YARRRML, a ) within a reference is \\): $(${escaped})`;
  }
  const bare = withoutBrackets(reference, names);
  if (bare !== undefined) return bare;
  const near = nearest(reference, names);
  return near.length > 0 ? `Did you mean ${near.map(quoted).join(' or ')}?` : `The columns are ${names.map(quoted).join(', ')}.`;
}

const cellsOf = (name: string, delimiter: string): string[] =>
  name.split(delimiter).map((cell) => cell.trim().replace(/^(["'])(.*)\1$/, '$2'));

const quoted = (name: string): string => JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
