/** Which input a statement comes from, where the lines of several inputs are counted through. */
import type { Statement } from '../../nquads/statement.ts';
import type { WriteInput } from '../inputs.ts';

export interface LineTable {
  /** `line` is that of the input; 0 for a statement that has none. */
  locate(statement: Statement): { readonly input: string; readonly line: number };
}

/** @param before by input: the lines of all inputs before it */
export const lineTable = (inputs: readonly WriteInput[], before: readonly number[]): LineTable => ({
  locate({ line }) {
    const position = line === 0 ? 0 : before.findLastIndex((offset) => line > offset);
    return { input: inputs[position]?.name ?? '', line: line === 0 ? 0 : line - (before[position] ?? 0) };
  },
});
