import { expect, test } from '@jest/globals';
import { missingPostgres } from '../servers/databases/postgres.ts';
import { demo } from './run-demo.ts';

const missing = await missingPostgres();
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

test('npm run demo maps its files, shows two failures, asks the graph and leaves nothing behind', async () => {
  const out = await demo();
  expect(out).toContain('Ring Road Secondary School,871,68.25,Ring Road South');
  expect(out).toContain("the file extension 'png'");
  expect(out.match(/→ 400 Bad Request/g)).toHaveLength(2);
});

(missing === undefined ? test : test.skip)(
  `npm run demo -- sql maps a database, shows a failure and leaves nothing behind${why}`,
  async () => {
    const out = await demo('sql');
    expect(out).toContain('Edsger has “Die Physiker” by Friedrich Dürrenmatt');
    expect(out).toMatch(/"successfulIterations": 1/);
    expect(out).toContain('The table book has no column titel');
  },
);
