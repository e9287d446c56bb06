/**
 * A process that claims a directory again and again, and writes down when it has it: `enter`, then `leave`, or `die` when it kills itself
 * with the directory in its hands. Ends by itself after the claims that it was given.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../src/core/fault.ts';
import { lockDirectory } from '../../../src/storage/local/directory-lock.ts';

const [directory = '', journal = '', claims = '1', deaths = '0', untilText = '0'] = process.argv.slice(2);
const until = Number(untilText);

for (let had = 0; had < Number(claims) && Date.now() < until; ) {
  try {
    const claim = await lockDirectory(directory);
    had++;
    appendFileSync(journal, `enter ${process.pid}\n`);
    await sleep(Math.random() * 4);
    if (Math.random() < Number(deaths)) {
      appendFileSync(journal, `die ${process.pid}\n`);
      process.kill(process.pid, 'SIGKILL');
    }
    appendFileSync(journal, `leave ${process.pid}\n`);
    await claim.release();
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'service/unavailable')) throw error;
    if (!/in use by process \d+/.test(error.message)) throw error;
    await sleep(Math.random() * 20);
  }
}
