/** An API with everything in memory: the test ends the runs, and settings are in a map. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeApp } from '../../../api/app.ts';
import type { Api } from '../../../api/route.ts';
import { openFleetFunctions } from '../../../queues/custom-functions.ts';
import {
  ALL_SERVICES,
  type FailureMessage,
  type Outcome,
  type RunView,
  type SuccessReport,
  type TransformRequest,
} from '../../../queues/jobs.ts';
import type { Runs } from '../../../queues/runs/contract.ts';
import { openSchedule, type SharedSchedule } from '../../../queues/schedule/schedule.ts';
import type { OptionValues } from '../../../src/config/options/options.ts';
import { openConfig, type SharedSettings } from '../../../src/config/store.ts';
import { Fault } from '../../../src/core/fault.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';

/** Runs whose end is controlled by the test. */
export interface FakeRuns extends Runs {
  readonly submitted: readonly { readonly id: string; readonly request: TransformRequest; readonly key: string | undefined }[];
  /** The outcome of every run submitted from now on; undefined: they do not end. */
  ends(outcome: ((id: string) => Outcome) | undefined): void;
  /** Ends a waiting run. */
  end(id: string, outcome: Outcome): void;
  /** From now on all calls fail, or never return. */
  breaks(how: 'refuses' | 'hangs' | 'internal' | undefined): void;
}

export const successReport = (runId: string): SuccessReport => ({
  input: ['people.csv'],
  successfulIterations: 1,
  failedIterations: 0,
  outputFileLocations: [`file:///out/Semi-Structured-Transformer-${runId}.nq`],
  mappingFiles: ['people.ttl'],
  processingTime: 12,
  runId,
  records: 2,
  quads: 4,
  rejectedRecords: 0,
  warnings: [],
});

export const failureMessage = (runId: string): FailureMessage => ({
  name: 'Semi-Structured-Transformer',
  time: '2026-01-02T03:04:05.678',
  type: 'Semi-Structured-Transformer',
  error: "Record 'people.csv' could not be processed due to: There is no file people.csv.",
  version: '0.1.0',
  entity: 'people.csv',
  provenance: '',
  runId,
  code: 'source/missing',
  detail: { code: 'source/missing', message: 'There is no file people.csv', place: {} },
});

export function fakeRuns(): FakeRuns {
  const submitted: { id: string; request: TransformRequest; key: string | undefined }[] = [];
  const outcomes = new Map<string, Outcome>();
  const waiting = new Map<string, (outcome: Outcome) => void>();
  let ends: ((id: string) => Outcome) | undefined;
  let broken: 'refuses' | 'hangs' | 'internal' | undefined;

  const answer = async <T>(value: () => T): Promise<T> => {
    if (broken === 'refuses') throw new Fault('service/unavailable', 'The queue cannot be reached');
    if (broken === 'internal') throw new TypeError('secret inner workings');
    if (broken === 'hangs') return new Promise<T>(() => undefined);
    return value();
  };
  const viewOf = (id: string): RunView | undefined => {
    const run = submitted.find((one) => one.id === id);
    if (run === undefined) return undefined;
    const outcome = outcomes.get(id);
    return {
      id,
      service: run.request.service,
      state: outcome?.state ?? 'running',
      attempts: 1,
      submittedAt: new Date(0).toISOString(),
      startedAt: undefined,
      endedAt: undefined,
      progress: undefined,
      input: run.request.inputs.map(({ url }) => url),
      outcome,
    };
  };
  const end = (id: string, outcome: Outcome): void => {
    outcomes.set(id, outcome);
    waiting.get(id)?.(outcome);
  };

  return {
    submitted,
    ends: (how) => {
      ends = how;
    },
    end,
    breaks: (how) => {
      broken = how;
    },
    submit: (request, { idempotencyKey: key }) =>
      answer(() => {
        const before = key === undefined ? undefined : submitted.find((one) => one.key === key);
        if (before !== undefined) {
          if (JSON.stringify(before.request) === JSON.stringify(request)) return { id: before.id, existing: true };
          throw new Fault('request/conflict', 'This idempotency key was used for another request');
        }
        const id = `run-${submitted.length + 1}`;
        submitted.push({ id, request: request as TransformRequest, key });
        if (ends !== undefined) outcomes.set(id, ends(id));
        return { id, existing: false };
      }),
    outcome: (id, waitMs) => {
      const known = outcomes.get(id);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        if (waitMs > 0) setTimeout(() => resolve(undefined), waitMs).unref();
      });
    },
    get: (id) => answer(() => viewOf(id)),
    list: ({ state, limit }) =>
      answer(() =>
        [...submitted]
          .reverse()
          .map(({ id }) => viewOf(id) as RunView)
          .filter((run) => state === undefined || run.state === state)
          .slice(0, limit),
      ),
    cancel: (id) =>
      answer(() => {
        if (!outcomes.has(id)) end(id, { state: 'cancelled', failure: failureMessage(id) });
        return viewOf(id);
      }),
    counts: () => answer(() => ({ running: submitted.length - outcomes.size })),
  };
}

/** Settings of one process. */
export function memorySettings(): SharedSettings {
  const values = new Map<string, string>();
  const watchers = new Map<string, (value: string | undefined) => void>();
  return {
    get: async (key) => values.get(key),
    compareAndSet: async (key, expected, value) => {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      watchers.get(key)?.(value);
      return true;
    },
    watch: (key, changed) => {
      watchers.set(key, changed);
      return () => watchers.delete(key);
    },
  };
}

export interface FakeApi {
  readonly runs: FakeRuns;
  readonly schedule: SharedSchedule;
  readonly url: string;
  /** Takes no more runs, as a stopping process does. */
  drain(): void;
  /** Ends waiting requests, as a stopping process does last. */
  end(): void;
  close(): Promise<void>;
}

export async function startFakeApi(options: OptionValues, more: Partial<Api> = {}): Promise<FakeApi> {
  const runs = fakeRuns();
  const draining = new AbortController();
  const ending = new AbortController();
  const settings = memorySettings();
  const schedule = await openSchedule(settings);
  const app = makeApp({
    runs,
    previews: { ask: () => Promise.reject(new Fault('service/unavailable', 'There is no worker')) },
    schedule,
    config: await openConfig(options, settings),
    functions: await openFleetFunctions(settings, join(tmpdir(), 'quadmill-no-functions')),
    logger: quietLogger(),
    workingDirectory: process.cwd(),
    queueName: 'memory',
    services: ALL_SERVICES,
    draining: draining.signal,
    ending: ending.signal,
    ...more,
  });
  const server: Server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    runs,
    schedule,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drain: () => draining.abort(),
    end: () => ending.abort(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
