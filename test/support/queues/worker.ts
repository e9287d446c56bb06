/** A worker process for tests: `node queues-worker.js QUEUE_URL PREFIX DATA_DIR`. Prints `ready` and works until SIGTERM. */

import { openBackend } from '../../../queues/backend/backend.ts';
import { openConfig } from '../../../src/config/store.ts';
import { Secret } from '../../../src/core/secret.ts';
import { createLogger } from '../../../src/core/telemetry/observe.ts';
import { startWorkers } from '../../../workers/host.ts';
import { built } from '../project-root.ts';

const [url, prefix = '', directory = ''] = process.argv.slice(2);
const logger = createLogger({ level: 'silent' });
const backend = await openBackend({ url, prefix, directory }, logger);
const database = { JDBC_URL: 'jdbc:postgresql://host/db', DB_USER: 'u', DB_PASSWORD: new Secret('p') };
const limits = { LOCK_SECONDS: 2, STALLED_SECONDS: 1, WORKER_CONCURRENCY: 2, MAX_STARTS: 2 };
const config = await openConfig({ DATA_DIR: directory, ...limits, ...database });
const workers = await startWorkers(backend, config, logger, { engine: built('test/support/queues/engine.js').href });

process.once('SIGTERM', async () => {
  await workers.drain(500);
  await backend.close();
  process.exit(0);
});
console.log('ready');
