/** Clusters and sentinels, beside what `redis.test.ts` shows. */
import './redis.test.ts';
