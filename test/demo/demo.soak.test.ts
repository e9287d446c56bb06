import { expect, test } from '@jest/globals';
import { missingPostgres } from '../servers/databases/postgres.ts';
import { demo } from './run-demo.ts';

const missing = await missingPostgres();
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

(missing === undefined ? test : test.skip)(
  `npm run demo -- sql maps a database, shows a failure and leaves nothing behind${why}`,
  async () => {
    const out = await demo('sql');
    expect(out).toContain('Edsger has “Die Physiker” by Friedrich Dürrenmatt');
    expect(out).toMatch(/"successfulIterations": 1/);
    expect(out).toContain('The table book has no column titel');
  },
);
