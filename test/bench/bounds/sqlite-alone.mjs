// Reads an SQLite table alone: iterates over the rows with the package that the engine uses on Node 20, touches each value, and prints the time that
// it took. Run: node test/bench/bounds/sqlite-alone.mjs FILE TABLE
import { DatabaseSync } from '@photostructure/sqlite';

const [file, table] = process.argv.slice(2);
if (table === undefined) {
  console.error('usage: sqlite-alone.mjs FILE TABLE');
  process.exit(2);
}
const before = process.cpuUsage();
const statement = new DatabaseSync(file, { readOnly: true }).prepare(`SELECT * FROM "${table.replaceAll('"', '""')}"`);
statement.setReadBigInts(true);
statement.setReturnArrays(true);
let rows = 0;
let touched = 0;
for (const row of statement.iterate()) {
  rows++;
  for (let i = 0; i < row.length; i++) {
    const cell = row[i];
    touched += cell === null ? 0 : typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : Number(cell);
  }
}
const { user, system } = process.cpuUsage(before);
console.log(`${rows} rows, user time ${(user / 1e6).toFixed(2)} s, system time ${(system / 1e6).toFixed(2)} s (${touched})`);
