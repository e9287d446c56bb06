/** How often a content has come before: what tells equal rows of a dataset apart. */
import { Fault } from '../../core/fault.ts';
import { h1, h2, h3, h4, hash } from '../../core/hash.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { KeyTable } from '../../spill/key-table.ts';

/** The same in every run: labels of blank nodes are made of it. */
const SEED = 0x3d4d51cb;
const HEX_DIGITS = 8;

export class Occurrences extends KeyTable {
  constructor(budget: MemoryBudget) {
    super(budget, SEED, 1);
  }

  /**
   * The identity of a row by its content: 32 hexadecimal digits of its hash, and behind that, from the second row with this content on, `_` and how many
   * came before.
   *
   * @param told called with the digits, and whether rows with this content came before
   * @throws Fault limit/exceeded — no memory is left to count another content
   */
  identityOf(content: string, told?: (name: string, isRepeated: boolean) => void): string {
    hash(content, SEED);
    const name = [h1, h2, h3, h4].map((word) => (word >>> 0).toString(16).padStart(HEX_DIGITS, '0')).join('');
    const found = this.find();
    const row = found >= 0 ? found : this.put(-1 - found);
    if (row < 0) {
      throw new Fault('limit/exceeded', 'The rows that blank nodes are made of are too many to be told apart in memory', {
        hint: 'Give the run more memory (--memory-mb, MEMORY_BUDGET_MB), or make subjects of a key instead of blank nodes',
      });
    }
    const [words, at] = this.extraOf(row);
    const before = words[at] as number;
    words[at] = before + 1;
    told?.(name, before > 0);
    return before === 0 ? name : `${name}_${before}`;
  }
}
