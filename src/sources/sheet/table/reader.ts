/** What the formats of workbooks have in common for those who read rows. */
import type { SheetTable } from './table.ts';

export interface SheetReader {
  readonly table: SheetTable;
  /** Unpacked bytes that were read so far. */
  readonly bytesRead: number;
  /** Reads on. At the header it pauses, so that no record is made before its columns are known. False: the sheet has ended. */
  fill(): Promise<boolean>;
  /** After the last record: messages about what the sheet has besides cells. */
  warnings(): readonly string[];
  /** May be called repeatedly. */
  close(): Promise<void>;
}

/** Hidden rows and columns are read like others, and merged cells have one value: warnings say so. */
export function remarks(
  { hiddenColumns }: Pick<SheetTable, 'hiddenColumns'>,
  hiddenRows: number,
  merged: number,
  firstMerged: string | undefined,
): readonly string[] {
  return [
    ...(hiddenRows === 0 ? [] : [`${hiddenRows === 1 ? 'A hidden row was' : `${hiddenRows} hidden rows were`} read like the others`]),
    ...(hiddenColumns === 0
      ? []
      : [`${hiddenColumns === 1 ? 'A hidden column was' : `${hiddenColumns} hidden columns were`} read like the others`]),
    ...(merged === 0
      ? []
      : [
          `${merged === 1 ? 'A range of cells is' : `${merged} ranges of cells are`} merged: only the first cell of each has a value${firstMerged === undefined ? '' : ` (first ${firstMerged})`}`,
        ]),
  ];
}
