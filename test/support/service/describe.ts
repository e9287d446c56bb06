/** One suite for several databases. */
import { describe, test } from '@jest/globals';
import { FAULTY, type Faulty } from '../../servers/databases/faulty.ts';

type Suite = (product: Faulty['product'], start: () => Promise<Faulty>) => void;

/** A `describe` for each product, or for `only` one of them, and in place of one that is not here a skipped test that says why. */
export function describeDatabases(suite: Suite, only?: Faulty['product']): void {
  for (const { product, missing, start } of FAULTY) {
    if (only !== undefined && product !== only) continue;
    if (missing === undefined) describe(`over ${product}`, () => suite(product, start));
    else describe(`over ${product}`, () => test.skip(`is not tested: ${missing}`, () => undefined));
  }
}
