/** Whether a converted mapping means what it did: what it was converted to is read again, and compared. */
import { formatOfPath, isWorkbook } from '../../core/input/formats.ts';
import type { Report } from '../model/diagnostics.ts';
import type { LogicalSource, Mapping, TriplesMap } from '../model/model.ts';
import { allSourcesOf, formatOrigin, hasEmptyCells, hasTypedValues, namesTypedColumns } from '../model/model.ts';
import type { Document, ReadOptions } from '../parse/document.ts';
import { readMapping } from '../parse/read.ts';
import { differences } from './form.ts';

/**
 * Reports what a text makes of a mapping that the mapping does not mean: an error for statements that would be others, a warning for what
 * the languages of both treat in different ways.
 *
 * @param withoutConnections the language names no databases, which was said
 */
export async function checkMeaning(
  mapping: Mapping,
  converted: Document,
  options: ReadOptions,
  { withoutConnections, report }: { readonly withoutConnections: boolean; readonly report: Report },
): Promise<void> {
  const first = mapping.triplesMaps[0]?.origin;
  if (first === undefined) return;
  const { mapping: again, diagnostics } = await readMapping([converted], options);
  const wrong = diagnostics.find(({ severity }) => severity === 'error');
  if (wrong !== undefined) {
    const message = `the converted mapping is not valid: ${wrong.message} (${formatOrigin(wrong.origin)} of it)`;
    report.error('changed-meaning', first, message, wrong.hint);
    return;
  }
  for (const { what, origin } of differences(mapping, again, { withoutConnections }))
    report.error('changed-meaning', origin, `${what} would mean something else in the other language`);
  mapping.triplesMaps.forEach((map, i) => {
    const other = again.triplesMaps[i];
    if (other !== undefined) reportDialects(report, map, other);
  });
}

/** Of each source one warning: which triples map reads it first is of no interest. */
function reportDialects(report: Report, before: TriplesMap, after: TriplesMap): void {
  const toRml = after.dialect === 'rml';
  const isOther = toRml !== (before.dialect === 'rml');
  const to = toRml ? "today's RML" : 'legacy RML';
  const others = allSourcesOf({ triplesMaps: [after], annotations: [] });
  for (const [i, source] of allSourcesOf({ triplesMaps: [before], annotations: [] }).entries()) {
    const cells = cellChange(meaningOfEmpty(source, before), meaningOfEmpty(others[i], after));
    const changes = [...(cells === undefined ? [] : [cells]), ...(isOther ? changesOf(source, toRml) : [])];
    if (changes.length > 0) report.warning('changed-meaning', source.origin, `read as ${to}, ${changes.join(', and ')}`);
  }
}

/** What an empty cell is. `unquoted`: no value, unless it stands in quotes. */
type EmptyCell = 'text' | 'unquoted' | 'none';

function meaningOfEmpty(source: LogicalSource | undefined, { dialect }: TriplesMap): EmptyCell | undefined {
  if (source === undefined || !hasEmptyCells(source)) return undefined;
  const isNull = (nulls: readonly string[] = source.nulls): boolean => nulls.includes('');
  if (source.csv?.columns?.every(({ nulls }) => isNull(nulls)) ?? isNull()) return 'none';
  if (dialect === 'rml') return 'text';
  // Cells of workbooks have no quotes.
  return source.csv?.quoteChar === null || isWorkbook(formatOfPath(source.path)) ? 'none' : 'unquoted';
}

function cellChange(before: EmptyCell | undefined, after: EmptyCell | undefined): string | undefined {
  if (before === after || before === undefined || after === undefined) return undefined;
  if (after === 'text') return 'an empty cell is an empty text';
  if (before === 'text') return after === 'none' ? 'an empty cell is no value' : 'an empty cell without quotes is no value';
  return after === 'none' ? 'an empty cell in quotes is no value' : 'an empty cell in quotes is an empty text';
}

/** What the engine does with values of a source in one of the dialects only. */
function changesOf(source: LogicalSource, toRml: boolean): readonly string[] {
  if (source.kind === 'sql') return [];
  const changes: string[] = [];
  if (hasTypedValues(source) && !namesTypedColumns(source))
    changes.push(toRml ? 'values such as numbers have datatypes' : 'values such as numbers have no datatypes');
  if (source.formulation === 'json' && toRml) changes.push('a reference to an array needs [*]');
  return changes;
}
