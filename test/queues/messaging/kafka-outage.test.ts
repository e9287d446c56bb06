/** A short time without brokers; a minute is for `kafka-outage.soak.test.ts`. */
import { outageSuite } from './kafka-outage-suite.ts';

outageSuite({ awayMs: 9_000, oldestSeconds: 4, pausedMs: 3_000 });
