/** The life of a run (`queues/runs/life.ts`): what follows each event in each state, what the API shows, and that `docs/run-states.md` says the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { JobState } from 'bullmq';
import type { RunState } from '../../queues/jobs.ts';
import { LIFE, type LifeEvent, type LifeState, next, PLACES, RUN_STATES, type RunJob, viewOf } from '../../queues/runs/life.ts';
import { completedOutcome, encodeFault, encodeOutcome, failedOutcome } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { tinyRun } from '../support/queues/requests.ts';

const STATES: readonly LifeState[] = ['queued', 'preparing', 'mapping', 'publishing', 'announcing', 'ended'];

/** For each event: the next state and the effect, by state. In other states the event cannot happen. */
const EXPECTED: Readonly<Record<LifeEvent, Partial<Record<LifeState, string>>>> = {
  take: { queued: 'preparing: work' },
  resume: { queued: 'announcing: announce' },
  killed: { queued: 'announcing: announce' },
  busy: { preparing: 'queued: put off', mapping: 'queued: put off' },
  prepared: { preparing: 'mapping' },
  mapped: { mapping: 'publishing: confirm', publishing: 'publishing: confirm' },
  published: { publishing: 'announcing: announce' },
  announced: { announcing: 'ended: end' },
  fault: { ...working('announcing: announce'), announcing: 'ended: give up' },
  retry: { ...working('queued: fail attempt'), announcing: 'announcing: postpone' },
  lost: { ...working('queued: fail attempt'), announcing: 'queued: fail attempt' },
  requeue: { queued: 'queued: give back', ...working('queued: give back') },
  cancel: { queued: 'announcing: announce', ...working('announcing: announce') },
};

function working(step: string): Partial<Record<LifeState, string>> {
  return { preparing: step, mapping: step, publishing: step };
}

describe('the life of a run', () => {
  test.each(Object.entries(EXPECTED))('after the event %s', (event, expected) => {
    for (const state of STATES) {
      const after = (): string => {
        const step = next(state, event as LifeEvent);
        return step.effect === undefined ? step.state : `${step.state}: ${step.effect}`;
      };
      if (expected[state] === undefined) expect(after).toThrow(`A run that is ${state} has no event ${event}`);
      else expect([state, after()]).toEqual([state, expected[state]]);
    }
  });

  test('has an end from every state', () => {
    const reached = new Set<LifeState>(['ended']);
    for (const _ of STATES) {
      for (const from of STATES) if (Object.values(LIFE[from]).some(({ state }) => reached.has(state))) reached.add(from);
    }
    expect(STATES.filter((state) => !reached.has(state))).toEqual([]);
  });
});

describe('docs/run-states.md', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/run-states.md'), 'utf8');
  const rowsOf = (head: string): readonly (readonly string[])[] => {
    const lines = page
      .slice(page.indexOf(`| ${head} |`))
      .split('\n')
      .slice(2);
    const rows = lines.slice(0, lines.indexOf(''));
    return rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  };

  test('shows the edges of the machine', () => {
    const shown = [...page.matchAll(/^ {4}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, target, events = '']) =>
      events.split(', ').map((event) => `${from} --> ${target}: ${event}`),
    );
    const edges = STATES.flatMap((from) => Object.entries(LIFE[from]).map(([event, { state }]) => `${from} --> ${state}: ${event}`));
    expect(shown.sort()).toEqual(edges.sort());
  });

  test('explains each state and event', () => {
    expect(rowsOf('state | its job').map(([state]) => state)).toEqual(STATES);
    expect(rowsOf('event | what happens').map(([event]) => event)).toEqual(Object.keys(EXPECTED));
    const shown = rowsOf('state | its job').flatMap(([, , shows = '']) => [...shows.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect([...new Set(shown)].sort()).toEqual([...RUN_STATES].sort());
  });
});

describe('the view of a run', () => {
  const run = { ...tinyRun('/tmp'), runId: 'r1', submittedAt: '2026-01-01T00:00:00.000Z' };
  const job = (more: object, data: object = {}): RunJob =>
    ({ data: { ...run, ...data }, attemptsStarted: 0, progress: 0, returnvalue: null, ...more }) as unknown as RunJob;
  const ended = { at: 1, failures: 1 };
  const failed = failedOutcome(run, new Fault('run/cancelled', 'The run was cancelled'), new Date(0));
  const report = {
    records: 1,
    quads: 1,
    rejected: 0,
    bytesRead: 1,
    bytesWritten: 1,
    seconds: 1,
    triplesMaps: [],
    warnings: [],
    mappings: [],
  };
  const completed = completedOutcome(run, { report, parts: [], manifest: 'm', rejections: undefined, slices: 1, milliseconds: 1 });

  test.each<[RunState, string, JobState | 'unknown', RunJob]>([
    ['queued', 'was never started', 'prioritized', job({})],
    ['queued', 'was never started', 'waiting', job({})],
    ['retrying', 'waits after a start', 'prioritized', job({ attemptsStarted: 1 })],
    ['retrying', 'waits for its next attempt', 'delayed', job({ attemptsStarted: 1 })],
    ['running', 'is active', 'active', job({ attemptsStarted: 1 })],
    ['running', 'ends again later', 'delayed', job({ attemptsStarted: 1 }, { ended })],
    ['running', 'moves meanwhile', 'unknown', job({ attemptsStarted: 1 })],
    ['completed', 'has a result', 'unknown', job({ finishedOn: 5, returnvalue: completed })],
    ['cancelled', 'holds a failure', 'unknown', job({ finishedOn: 5, failedReason: encodeOutcome(failed) })],
    ['cancelled', 'has the mark and no outcome', 'unknown', job({ finishedOn: 5, failedReason: 'x' }, { cancelled: true })],
    ['failed', 'has a fault alone', 'unknown', job({ finishedOn: 5, failedReason: encodeFault(new Fault('run/lost', 'gone')) })],
  ])('is %s where the job %s', (state, _, place, of) => {
    const view = viewOf(of, place);
    expect(view).toMatchObject({ id: 'r1', state, endedAt: of.finishedOn === undefined ? undefined : '1970-01-01T00:00:00.005Z' });
    expect(view.outcome?.state).toBe(of.finishedOn === undefined ? undefined : state);
    if (place !== 'unknown') expect(PLACES[state]).toContain(place);
  });

  test('is running while the job waits to end again', () => {
    expect(viewOf(job({ attemptsStarted: 1 }, { ended }), 'prioritized').state).toBe('running');
  });

  test('says why it waits, until it has ended', () => {
    const progress = { records: 1, quads: 2, bytesRead: 3, waiting: 'the target is away', position: { input: 0 } };
    const { waiting, position: _, ...rest } = progress;
    expect(viewOf(job({ progress }), 'active').progress).toEqual({ ...rest, waiting });
    expect(viewOf(job({ progress, finishedOn: 5, returnvalue: completed }), 'unknown').progress).toEqual(rest);
  });
});
