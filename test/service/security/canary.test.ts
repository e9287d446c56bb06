/** No secret is disclosed: without a message queue. */
import { describe } from '@jest/globals';
import { missingSqlite } from '../../servers/databases/sqlite.ts';
import { missingRedis } from '../../servers/queues/redis.ts';
import { hidesSecrets } from './canary-suite.ts';

const missing = missingRedis ?? missingSqlite();

(missing === undefined ? describe : describe.skip)(`without Kafka${missing === undefined ? '' : ` (not tested: ${missing})`}`, () =>
  hidesSecrets(false),
);
