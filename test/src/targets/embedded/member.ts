/**
 * A process that has an embedded store until it is killed: `node embedded-member.js DIRECTORY [JOURNAL_BYTES]`. Says its endpoint, or why there is
 * none, as a line of JSON; takes the file `ballast` out of the directory when it gets SIGUSR2.
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
