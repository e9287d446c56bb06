/** No secret is disclosed: with Kafka, whose login is one. */
import { describe } from '@jest/globals';
import { missingSqlite } from '../../servers/databases/sqlite.ts';
import { missingKafka } from '../../servers/queues/kafka.ts';
import { missingRedis } from '../../servers/queues/redis.ts';
import { hidesSecrets } from './canary-suite.ts';

const missing = missingRedis ?? missingSqlite() ?? (await missingKafka());

(missing === undefined ? describe : describe.skip)(`with Kafka${missing === undefined ? '' : ` (not tested: ${missing})`}`, () =>
  hidesSecrets(true),
);
