/** One trace from the request to the last slice, using only the interface of OpenTelemetry. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type TextMapPropagator,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { SERVICE_QUEUES, type TransformRequest } from '../../queues/jobs.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { type ConfigStore, openConfig } from '../../src/config/store.ts';
import { Secret } from '../../src/core/secret.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { inRequestSpan, isTraced } from '../../src/core/telemetry/trace.ts';
import { startWorkers, type Workers } from '../../workers/host.ts';
import { built } from '../support/project-root.ts';
import { openQueue, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { startFakeApi } from '../support/service/fake.ts';
import { ask } from '../support/service/process.ts';

const queues = SERVICE_QUEUES['sql-transformer'];

interface Recorded {
  readonly name: string;
  readonly kind: SpanKind | undefined;
  readonly span: SpanContext;
  readonly parent: string | undefined;
  readonly attributes: Attributes;
  ended: boolean;
}

const spans: Recorded[] = [];
let count = 0;
const nextId = (length: number): string => (++count).toString(16).padStart(length, '0');

/** Keeps all spans, and does nothing else of an SDK. */
const tracer: Tracer = {
  startSpan(name, options = {}, parentContext = context.active()) {
    const parent = trace.getSpanContext(parentContext);
    const spanContext = { traceId: parent?.traceId ?? nextId(32), spanId: nextId(16), traceFlags: 1 };
    const recorded: Recorded = {
      name,
      kind: options.kind,
      span: spanContext,
      parent: parent?.spanId,
      attributes: { ...options.attributes },
      ended: false,
    };
    spans.push(recorded);
    const span: Span = {
      spanContext: () => spanContext,
      setAttribute: (key, value) => Object.assign(recorded.attributes, { [key]: value }) && span,
      setAttributes: (attributes) => Object.assign(recorded.attributes, attributes) && span,
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus: () => span,
      updateName: () => span,
      end: () => {
        recorded.ended = true;
      },
      isRecording: () => true,
      recordException: () => undefined,
    };
    return span;
  },
  startActiveSpan: () => {
    throw new Error('it is not called');
  },
};
const provider: TracerProvider = { getTracer: () => tracer };

const storage = new AsyncLocalStorage<Context>();
const manager: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (given, work, self, ...rest) => storage.run(given, () => work.call(self as never, ...rest)),
  bind: (given, target) =>
    typeof target === 'function' ? (...rest: unknown[]) => storage.run(given, () => target(...rest)) as unknown : (target as never),
  enable: () => manager,
  disable: () => manager,
} as ContextManager;

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const propagator: TextMapPropagator = {
  inject: (given, carrier, setter) => {
    const span = trace.getSpanContext(given);
    if (span !== undefined) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`);
  },
  extract: (given, carrier, getter) => {
    const [, traceId, spanId] = /^00-(\w{32})-(\w{16})-/.exec(String(getter.get(carrier, 'traceparent'))) ?? [];
    if (traceId === undefined || spanId === undefined) return given;
    return trace.setSpanContext(given, { traceId, spanId, traceFlags: 1, isRemote: true });
  },
  fields: () => ['traceparent'],
};

test('without an SDK nothing is traced, and everything works', async () => {
  expect(isTraced()).toBe(false);
  let done = false;
  await inRequestSpan({ method: 'GET', route: '/x', headers: {} }, async () => {
    done = true;
    return 200;
  });
  expect(done).toBe(true);
  expect(spans).toEqual([]);
});

describe('with an SDK', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let backend: QueueBackend;
  let config: ConfigStore;
  let runs: Awaited<ReturnType<typeof openRuns>>;
  let workers: Workers;

  beforeAll(async () => {
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(manager);
    propagation.setGlobalPropagator(propagator);
    directory = await temporaryDirectory();
    backend = await openQueue('embedded:', directory.path, uniquePrefix());
    const database = { JDBC_URL: 'jdbc:postgresql://host/db', DB_USER: 'reader', DB_PASSWORD: new Secret('hunter2-of-the-database') };
    config = await openConfig({ DATA_DIR: directory.path, ...database }, backend.settings);
    runs = await openRuns(backend);
    const engine = built('test/support/queues/engine.js').href;
    workers = await startWorkers(backend, config, quietLogger(), { engine, workingDirectory: directory.path });
  }, 30_000);

  afterAll(async () => {
    await workers.drain(1_000);
    await runs.close();
    config.close();
    await backend.close();
    await directory.remove();
    trace.disable();
    context.disable();
    propagation.disable();
  }, 30_000);

  const request = (): TransformRequest => ({
    service: 'sql-transformer',
    inputs: [{ name: undefined, url: 'slices=2' }],
    mappings: ['file:///mapping.ttl'],
    run: { ...RUN_DEFAULTS, memoryBudgetBytes: 1e6, maxRecordBytes: 1e6 },
    sliceRows: 100,
    output: { directory: `${directory.path}/output`, format: 'nquads' },
  });

  test('a run is one trace, from the request by way of the queue to its slices and its outcome', async () => {
    let id = '';
    const caller = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) };
    const headers = { traceparent: `00-${caller.traceId}-${caller.spanId}-01` };
    await inRequestSpan({ method: 'GET', route: '/process', headers }, async () => {
      id = (await runs.submit(request(), {})).id;
      return 202;
    });
    const outcome = await runs.outcome(id, 20_000);
    expect(outcome).toEqual({ state: 'completed', report: expect.anything() });

    const ofTrace = spans.filter(({ span }) => span.traceId === caller.traceId);
    const named = (name: string): readonly Recorded[] => ofTrace.filter((one) => one.name === name);
    const [asked] = named('GET /process');
    expect(asked).toMatchObject({
      kind: SpanKind.SERVER,
      parent: caller.spanId,
      ended: true,
      attributes: { 'http.route': '/process', 'http.response.status_code': 202, 'quadmill.run': id },
    });
    /** Whether one span is a descendant of another. */
    const below = (one: Recorded | undefined, other: Recorded | undefined): boolean =>
      one !== undefined &&
      (one.parent === other?.span.spanId ||
        below(
          ofTrace.find(({ span }) => span.spanId === one.parent),
          other,
        ));

    const [mapped] = named(`process ${queues.work}`);
    expect(mapped).toMatchObject({ kind: SpanKind.CONSUMER, attributes: { 'quadmill.run': id, 'quadmill.attempt': 1 } });
    expect(below(mapped, asked)).toBe(true);
    const slices = named(`process ${queues.slice}`);
    expect(slices.map(({ attributes }) => [attributes['quadmill.run'], attributes['quadmill.slice']]).sort()).toEqual([
      [id, 0],
      [id, 1],
    ]);
    expect(slices.map((slice) => below(slice, mapped))).toEqual([true, true]);
  }, 40_000);

  test('requests of clients have a span with the pattern of the route, those of operators have none', async () => {
    const api = await startFakeApi({});
    const before = spans.length;
    try {
      await ask(`${api.url}/semi-structured-transformer/runs/some-run?token=s3cret`);
      await ask(`${api.url}/health/live`);
      await ask(`${api.url}/metrics`);
    } finally {
      await api.close();
    }
    const made = spans.slice(before).filter(({ kind }) => kind === SpanKind.SERVER);
    expect(made.map(({ name, attributes, ended }) => [name, attributes['http.response.status_code'], ended])).toEqual([
      ['GET /semi-structured-transformer/runs/{id}', 404, true],
    ]);
    expect(JSON.stringify(made)).not.toContain('s3cret');
  });
});
