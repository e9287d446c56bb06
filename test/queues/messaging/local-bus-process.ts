/**
 * A process with all services and without brokers: `node local-bus-process.js QUEUE_URL PREFIX DATA_DIR COUNT TAKES`. Submits COUNT runs
 * and handles their success messages; after TAKES messages it never finishes the next one. Prints `submitted`, `took`, `holds` with the
 * run, and `announced` when all runs have ended.
 */

import { openBackend } from '../../../queues/backend/backend.ts';
import { openLocalBus } from '../../../queues/messaging/local-bus.ts';
import { openRuns } from '../../../queues/runs/runs.ts';
import { openConfig } from '../../../src/config/store.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { startWorkers } from '../../../workers/host.ts';
import { openMessaging } from '../../../workers/messaging/messaging.ts';
import { built } from '../../support/project-root.ts';
import { ALWAYS_ON, tinyRun } from '../../support/queues/requests.ts';

const [url, prefix = '', directory = '', count, takes] = process.argv.slice(2);
const logger = quietLogger();
const backend = await openBackend({ url, prefix, directory }, logger);
const config = await openConfig({ DATA_DIR: directory, LOCK_SECONDS: 2, STALLED_SECONDS: 1 });
const runs = await openRuns(backend);
const bus = openLocalBus();
let taken = 0;
const subscription = bus.consume(config.snapshot().KAFKA_TOPIC_NAME_SUCCESS, 'graph-writer', async ({ key }) => {
  if (taken === Number(takes)) {
    console.log(`holds ${key}`);
    await new Promise(() => undefined);
  }
  taken++;
  console.log(`took ${key}`);
});
const bridge = await openMessaging(backend, { bus, state: ALWAYS_ON, runs, config, workingDirectory: directory }, logger);
const engine = built('test/support/queues/engine.js').href;
const workers = await startWorkers(backend, config, logger, { engine, publish: bridge.publish });

process.once('SIGTERM', async () => {
  await workers.drain(500);
  await bridge.close();
  await subscription.close();
  await runs.close();
  await backend.close();
  process.exit(0);
});
const ids: string[] = [];
for (let i = 0; i < Number(count); i++) {
  const { id } = await runs.submit(tinyRun(directory), {});
  console.log(`submitted ${id}`);
  ids.push(id);
}
await Promise.all(ids.map((id) => runs.outcome(id, 0)));
console.log('announced');
