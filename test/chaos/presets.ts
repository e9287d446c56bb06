/** Parameters of a chaos run. */
import { FAULTS, type FaultName } from './faults.ts';
import type { LoadPlan } from './load/load.ts';

export interface Preset {
  readonly summary: string;
  readonly workers: number;
  readonly seconds: number;
  /** Servers in addition to Redis, where available. */
  readonly kafka: boolean;
  readonly database: boolean;
  /** Time between two faults, in milliseconds. */
  readonly gapMs: readonly [number, number];
  readonly faults: readonly FaultName[];
  load(seconds: number): LoadPlan;
}

/** `/runs` lists at most a thousand, and a message sent twice gives two runs. */
const MOST_RUNS = 700;

export const PRESETS = {
  mixed: {
    summary: 'every fault, over inputs good and bad',
    workers: 3,
    seconds: 60,
    kafka: true,
    database: true,
    gapMs: [200, 2_000],
    faults: Object.keys(FAULTS) as FaultName[],
    load: (seconds) => ({
      runs: Math.min(MOST_RUNS, Math.round(seconds * 5)),
      overMs: seconds * 950,
      kinds: { small: 48, slow: 22, large: 2, sliced: 7, table: 6, missing: 4, type: 4, malformed: 6 },
      pauseMs: [0, 2_500],
      twice: 0.2,
      cancelled: 0.08,
      messages: 0.3,
      poison: 0.15,
    }),
  },
  kills: {
    summary: '200 files, a worker killed every 700 ms',
    workers: 3,
    seconds: 20,
    kafka: false,
    database: false,
    gapMs: [700, 700],
    faults: ['kill-worker'],
    load: (seconds) => ({
      runs: 200,
      overMs: seconds * 900,
      kinds: { small: 58, slow: 35, large: 2, sliced: 3 },
      pauseMs: [100, 1_000],
      twice: 0,
      cancelled: 0,
      messages: 0,
      poison: 0,
    }),
  },
} as const satisfies Readonly<Record<string, Preset>>;
export type PresetName = keyof typeof PRESETS;
