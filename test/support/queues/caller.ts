/**
 * A process that submits runs of one caller until it is killed: `node queues-caller.js QUEUE_URL PREFIX DATA_DIR CALLER`. Prints `enough`
 * after the first hundred.
 */
import { openBackend } from '../../../queues/backend/backend.ts';
import { openRuns } from '../../../queues/runs/runs.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { tinyRun } from './requests.ts';

const [url, prefix = '', directory = '', caller] = process.argv.slice(2);
const backend = await openBackend({ url, prefix, directory }, quietLogger());
const runs = await openRuns(backend);
const ENOUGH = 100;
for (let count = 0; ; count += 10) {
  await Promise.all(Array.from({ length: 10 }, () => runs.submit(tinyRun(directory), { caller })));
  if (count === ENOUGH) console.log('enough');
}
