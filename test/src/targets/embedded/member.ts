/**
 * A process that has an embedded store until it is killed: `node member.js DIRECTORY [JOURNAL_BYTES]`. Prints its endpoint, or the fault, as
 * a line of JSON; removes the file `ballast` from the directory on SIGUSR2.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../../../src/core/fault.ts';
import { openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';

const [directory = '', journalBytes] = process.argv.slice(2);
process.on('SIGUSR2', () => {
  rmSync(join(directory, 'ballast'), { force: true });
  console.log(JSON.stringify({ freed: true }));
});
try {
  const store = await openEmbeddedStore(directory, journalBytes === undefined ? {} : { journalBytes: Number(journalBytes) });
  console.log(JSON.stringify({ endpoint: store.endpoint }));
} catch (error) {
  console.log(JSON.stringify({ fault: Fault.of(error).toJSON() }));
}
