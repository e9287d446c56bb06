/**
 * The life of a run, or of a slice: its states, what may happen in each, and what the worker that holds its job does then. Pure:
 * `workers/jobs/attempts.ts` and `workers/jobs/run-end.ts` do it. `docs/run-states.md` shows the same states and edges; a test compares them.
 */
import type { Job, JobState, JobType } from 'bullmq';
import { redact } from '../../src/core/redact.ts';
import type { Outcome, RunPayload, RunProgress, RunState, RunView } from '../jobs.ts';
import { cancelledFault, decodeFault, decodeOutcome, failedOutcome, isOutcome } from './outcome.ts';

export type LifeState = 'queued' | 'preparing' | 'mapping' | 'publishing' | 'announcing' | 'ended';

/** What each means: see the page. */
export type LifeEvent =
  | ('take' | 'resume' | 'killed' | 'requeue')
  | ('busy' | 'prepared' | 'mapped' | 'published' | 'announced')
  | ('fault' | 'retry' | 'lost' | 'cancel');

/** `fail attempt`: the job waits for the next one. `give back`: to its place in the queue. `put off`: until its dataset is free. `give up`: what follows the outcome has failed too often. */
export type Effect = 'work' | 'confirm' | 'announce' | 'postpone' | 'end' | 'give up' | 'fail attempt' | 'give back' | 'put off';

export interface Step {
  readonly state: LifeState;
  /** undefined: nothing is to be done. */
  readonly effect: Effect | undefined;
}

type Steps = Readonly<Partial<Record<LifeEvent, Step>>>;

const to = (state: LifeState, effect?: Effect): Step => ({ state, effect });

/** Of a job that a worker works on. */
const WORKING: Steps = {
  fault: to('announcing', 'announce'),
  cancel: to('announcing', 'announce'),
  retry: to('queued', 'fail attempt'),
  lost: to('queued', 'fail attempt'),
  requeue: to('queued', 'give back'),
};

export const LIFE: Readonly<Record<LifeState, Steps>> = {
  queued: {
    take: to('preparing', 'work'),
    resume: to('announcing', 'announce'),
    killed: to('announcing', 'announce'),
    cancel: to('announcing', 'announce'),
    requeue: to('queued', 'give back'),
  },
  preparing: { ...WORKING, prepared: to('mapping'), busy: to('queued', 'put off') },
  mapping: { ...WORKING, mapped: to('publishing', 'confirm'), busy: to('queued', 'put off') },
  // What takes long is followed by another question.
  publishing: { ...WORKING, mapped: to('publishing', 'confirm'), published: to('announcing', 'announce') },
  announcing: {
    announced: to('ended', 'end'),
    fault: to('ended', 'give up'),
    retry: to('announcing', 'postpone'),
    lost: to('queued', 'fail attempt'),
  },
  ended: {},
};

/** @throws Error — the event cannot happen in this state */
export function next(state: LifeState, event: LifeEvent): Step {
  const step = LIFE[state][event];
  if (step === undefined) throw new Error(`A run that is ${state} has no event ${event}`);
  return step;
}

/** The life of one job, in the worker that has it. */
export class Life {
  #state: LifeState;

  constructor(state: LifeState = 'queued') {
    this.#state = state;
  }

  /** Returns what is to be done. @throws Error — the event cannot happen */
  on(event: LifeEvent): Effect | undefined {
    const { state, effect } = next(this.#state, event);
    this.#state = state;
    return effect;
  }
}

// ---------------------------------------------------------------- what the API shows

/** By state that the API shows, in possible order: where the job of the run is. */
export const PLACES: Readonly<Record<RunState, readonly JobType[]>> = {
  queued: ['waiting', 'prioritized', 'delayed'],
  running: ['active', 'delayed'],
  retrying: ['waiting', 'prioritized', 'delayed'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['failed'],
};

export const RUN_STATES = Object.keys(PLACES) as readonly RunState[];

export type RunJob = Job<RunPayload, Outcome>;

/** @param place where the job is, for a run that has not ended */
export function viewOf(job: RunJob, place: JobState | 'unknown'): RunView {
  const outcome = outcomeOf(job);
  const progress = typeof job.progress === 'object' ? (job.progress as unknown as RunProgress) : undefined;
  return {
    id: job.data.runId,
    service: job.data.service,
    state: outcome?.state ?? liveState(job, place),
    attempts: startsOf(job),
    ...('dataset' in job.data && job.data.dataset != null ? { dataset: job.data.dataset.name } : {}),
    submittedAt: job.data.submittedAt,
    startedAt: isoTime(job.processedOn),
    endedAt: outcome === undefined ? undefined : isoTime(job.finishedOn),
    progress: progress && shownProgress(progress, outcome),
    input: job.data.inputs.map((input) => redact(input.url)),
    outcome,
  };
}

/** The outcome that the job contains; for a job that failed otherwise, a failure made from its error. undefined: it has not ended. */
export function outcomeOf(job: RunJob): Outcome | undefined {
  if (job.finishedOn === undefined) return undefined;
  if (isOutcome(job.returnvalue)) return job.returnvalue;
  const told = decodeOutcome(job.failedReason);
  if (told !== undefined) return told;
  const fault = job.data.cancelled === true ? cancelledFault() : decodeFault(job.failedReason);
  return failedOutcome(job.data, fault, new Date(job.finishedOn));
}

function liveState(job: RunJob, place: JobState | 'unknown'): RunState {
  // It waits between two tries of what follows its end.
  if (job.data.ended !== undefined) return 'running';
  if (place !== 'waiting' && place !== 'prioritized' && place !== 'delayed') return 'running';
  return startsOf(job) > 0 ? 'retrying' : 'queued';
}

/** Without those of a run that was put off. */
const startsOf = ({ attemptsStarted, data }: RunJob): number => attemptsStarted - (data.waits ?? 0);

/** Without fields meant only for the next attempt; an ended run does not wait. */
function shownProgress({ records, quads, bytesRead, waiting }: RunProgress, outcome: Outcome | undefined): RunView['progress'] {
  return { records, quads, bytesRead, ...(waiting === undefined || outcome !== undefined ? {} : { waiting }) };
}

const isoTime = (milliseconds: number | undefined): string | undefined =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
