/** A minute without brokers, after which producers have given up and were replaced. */
import { outageSuite } from './kafka-outage-suite.ts';

outageSuite({ awayMs: 60_000, oldestSeconds: 40, pausedMs: 10_000 });
