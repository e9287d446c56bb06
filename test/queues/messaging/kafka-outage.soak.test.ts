/** A short outage of the brokers, and one of a minute, after which producers have given up and were replaced. */
import { outageSuite } from './kafka-outage-suite.ts';

outageSuite({ awayMs: 9_000, oldestSeconds: 4, pausedMs: 3_000 });
outageSuite({ awayMs: 60_000, oldestSeconds: 40, pausedMs: 10_000 });
