/** `/process`: a request becomes a run; its outcome becomes the answer. */
import { once } from 'node:events';
import type { Outcome, RunView, TransformRequest } from '../queues/jobs.ts';
import { directories } from '../src/config/directories.ts';
import type { Snapshot } from '../src/config/options.ts';
import { Fault } from '../src/fault.ts';
import { redact } from '../src/redact.ts';
import { listDirectory } from '../src/storage/storage.ts';
import { readJsonBody } from './body.ts';
import { bindInputs, readMappingSources } from './mapping-sources.ts';
import { type FieldValues, fieldsOfBody, fieldsOfQuery, readProcessRequest } from './process-request.ts';
import { type Api, type Call, explainQueueError, type Parameter, type Reply, type Route, withinQueueWait } from './route.ts';

const REPLIES: Route['replies'] = {
  200: { description: 'The run completed', schema: 'SuccessReport' },
  202: { description: 'The run goes on; Location says where to look', schema: 'RunView' },
  400: { description: 'The run failed (failure message), or the request is wrong (problem)', schema: 'FailureMessage' },
};

const HEADERS: readonly Parameter[] = [
  { name: 'Prefer', in: 'header', description: '`respond-async`: answer 202 at once; `wait=SECONDS`: answer 202 after so long' },
  { name: 'Idempotency-Key', in: 'header', description: 'The same key with the same request gives the same run' },
];

const QUERY: readonly Parameter[] = [
  { name: 'inputFileURL', in: 'query', required: true, description: 'URL of an input file; may be repeated', schema: 'TextList' },
  {
    name: 'logicalSource',
    in: 'query',
    description: 'Logical source of the mapping; the n-th belongs to the n-th input file',
    schema: 'TextList',
  },
  { name: 'mappingURL', in: 'query', description: 'Mapping file or directory; left out: every .ttl of MAPPINGS_DIR_URL' },
];

export function processRoutes(api: Api): readonly Route[] {
  const common = {
    path: '/process',
    role: 'operator',
    summary: 'Transforms input files, and waits for the outcome',
    replies: REPLIES,
  } as const;
  return [
    {
      ...common,
      method: 'POST',
      parameters: HEADERS,
      body: { type: 'application/json', schema: 'ProcessRequest', required: true },
      handle: async (call) => {
        const body = await readJsonBody(call.request, api.config.snapshot().MAX_BODY_BYTES);
        return processInputs(api, call, fieldsOfBody(body));
      },
    },
    {
      ...common,
      method: 'GET',
      acts: true,
      parameters: [...QUERY, ...HEADERS],
      handle: (call) => processInputs(api, call, fieldsOfQuery(call.query)),
    },
  ];
}

async function processInputs(api: Api, call: Call, fields: FieldValues): Promise<Reply> {
  if (api.draining.aborted) throw new Fault('service/unavailable', 'This process is about to end and takes no more runs');
  const preference = readPreference(call);
  const idempotencyKey = readIdempotencyKey(call);
  const snapshot = api.config.snapshot();
  const request = readProcessRequest(fields);
  const mappings = await findMappings(request.mapping, snapshot, api.workingDirectory);
  const sources = await readMappingSources(mappings, { workingDirectory: api.workingDirectory, base: snapshot.BASE_IRI });
  const inputs = bindInputs(request, sources);
  const transform: TransformRequest = { service: call.service, inputs, mappings, ...settingsOf(snapshot, api.workingDirectory) };
  const { id } = await withinQueueWait(api, api.runs.submit(transform, { idempotencyKey }));

  const waitMs = shortest(snapshot.PROCESS_WAIT_SECONDS * 1_000, preference.waitMs);
  const outcome = preference.async && preference.waitMs === 0 ? undefined : await waitForOutcome(api, call, id, waitMs);
  return outcome === undefined ? accepted(api, call, id, transform, preference.applied) : replyOf(outcome);
}

/** 400 also for a run that was cancelled: to whoever waits, it did not do what was asked. */
function replyOf(outcome: Outcome): Reply {
  return outcome.state === 'completed' ? { status: 200, body: outcome.report } : { status: 400, body: outcome.failure };
}

/**
 * The outcome, or undefined when the wait is over, the process ends, the client has gone, or the queue is lost: the run
 * itself goes on in each of these cases.
 */
async function waitForOutcome(api: Api, call: Call, id: string, waitMs: number): Promise<Outcome | undefined> {
  const over = new AbortController();
  const { signal } = over;
  const { socket } = call.request;
  const ends: Promise<Outcome | undefined>[] = [
    explainQueueError(api, api.runs.outcome(id, waitMs)).catch((error) => {
      if (error instanceof Fault && error.code === 'service/unavailable') return undefined;
      throw error;
    }),
    untilAborted(api.ending, signal),
    once(socket, 'close', { signal }).then(
      () => undefined,
      () => undefined,
    ),
  ];
  try {
    if (socket.destroyed) return undefined;
    return await Promise.race(ends);
  } finally {
    over.abort();
  }
}

function untilAborted(ending: AbortSignal, over: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (ending.aborted) resolve(undefined);
    ending.addEventListener('abort', () => resolve(undefined), { once: true, signal: over });
  });
}

async function accepted(api: Api, call: Call, id: string, request: TransformRequest, applied: string): Promise<Reply> {
  const view = await withinQueueWait(api, api.runs.get(id)).catch((error) => {
    if (error instanceof Fault && error.code === 'service/unavailable') return undefined;
    throw error;
  });
  return {
    status: 202,
    headers: { Location: `${call.baseUrl}/runs/${encodeURIComponent(id)}`, ...(applied === '' ? {} : { 'Preference-Applied': applied }) },
    body: view ?? freshView(id, request),
  };
}

/** What is known of a run that was taken when the queue cannot be asked any more. */
function freshView(id: string, request: TransformRequest): RunView {
  return {
    id,
    service: request.service,
    state: 'queued',
    attempts: 0,
    submittedAt: new Date().toISOString(),
    startedAt: undefined,
    endedAt: undefined,
    progress: undefined,
    input: request.inputs.map(({ url }) => redact(url)),
    outcome: undefined,
  };
}

/**
 * The mapping files that take part.
 *
 * @throws Fault request/invalid — a directory without any
 */
async function findMappings(given: string | undefined, snapshot: Snapshot, workingDirectory: string): Promise<readonly string[]> {
  const directory = given ?? directories(snapshot, workingDirectory).mappings;
  const found = await listMappings(directory, workingDirectory);
  if (found !== undefined && found.length > 0) return found;
  if (given === undefined) {
    throw new Fault('request/invalid', `The request has no mappingURL, and there is no mapping in ${redact(directory)}`, {
      hint: 'Give mappingURL, put a .ttl file there with PUT /rml, or set MAPPINGS_DIR_URL',
    });
  }
  if (found === undefined) return [given];
  throw new Fault('request/invalid', `The directory ${redact(given)} of mappingURL has no .ttl file`);
}

/** undefined: no directory, so a file, or nothing at all; the run will find out. */
async function listMappings(url: string, workingDirectory: string): Promise<readonly string[] | undefined> {
  try {
    return await listDirectory(url, ['ttl'], workingDirectory);
  } catch (error) {
    if (
      error instanceof Fault &&
      (error.code === 'source/missing' || error.code === 'source/refused' || error.code === 'source/unreadable')
    ) {
      return undefined;
    }
    throw error;
  }
}

/** What the options say about a run, as it keeps them to its end. */
function settingsOf(snapshot: Snapshot, workingDirectory: string): Pick<TransformRequest, 'run' | 'output'> {
  return {
    run: {
      base: snapshot.BASE_IRI,
      onError: snapshot.ON_ERROR === 'auto' ? undefined : snapshot.ON_ERROR,
      // Infinity does not survive JSON.
      maxRejected: snapshot.MAX_REJECTED ?? Number.MAX_SAFE_INTEGER,
      distinct: snapshot.DISTINCT,
      memoryBudgetBytes: snapshot.MEMORY_BUDGET_MB * 2 ** 20,
      maxRecordBytes: snapshot.MAX_RECORD_BYTES,
    },
    output: { directory: directories(snapshot, workingDirectory).output, format: snapshot.OUTPUT_FILE_FORMAT },
  };
}

interface Preference {
  readonly async: boolean;
  /** 0 without `wait`. */
  readonly waitMs: number;
  /** For `Preference-Applied`, when it is a 202 in the end. */
  readonly applied: string;
}

/** `respond-async` and `wait` of the Prefer header; others are not known here, and the standard says to leave them alone. */
function readPreference(call: Call): Preference {
  const header = call.request.headers.prefer;
  const preferences = String(header ?? '')
    .split(',')
    .map((one) => one.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  const async = preferences.includes('respond-async');
  const wait = preferences.map((one) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(one)?.[1]).find((seconds) => seconds !== undefined);
  const applied = [...(async ? ['respond-async'] : []), ...(wait === undefined ? [] : [`wait=${wait}`])].join(', ');
  return { async, waitMs: wait === undefined ? 0 : Number(wait) * 1_000, applied };
}

const LONGEST_KEY = 255;

/** @throws Fault request/invalid */
function readIdempotencyKey(call: Call): string | undefined {
  const header = call.request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = String(header)
    .trim()
    .replace(/^"(.*)"$/, '$1');
  if (key === '' || key.length > LONGEST_KEY) {
    throw new Fault('request/invalid', `The header Idempotency-Key has ${key.length} characters, expected are 1 to ${LONGEST_KEY}`);
  }
  return key;
}

/** The shorter of two waits, where 0 means without limit. */
const shortest = (a: number, b: number): number => (a === 0 || b === 0 ? Math.max(a, b) : Math.min(a, b));
