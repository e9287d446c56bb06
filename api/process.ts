/** `/process` of each transformer: what is asked for, as a run. */
import { settingsOf, sqlRequest } from '../queues/transform-request.ts';
import { directories } from '../src/config/directories.ts';
import type { Snapshot } from '../src/config/options.ts';
import { Fault } from '../src/fault.ts';
import { redact } from '../src/redact.ts';
import { listDirectory } from '../src/storage/storage.ts';
import { readJsonBody } from './body.ts';
import { bindInputs, readMappingSources } from './mapping-sources.ts';
import { type FieldValues, fieldsOfBody, fieldsOfQuery, readProcessRequest } from './process-request.ts';
import type { Api, Call, Parameter, Reply, Route } from './route.ts';
import { answerRun, RUN_HEADERS, RUN_REPLIES } from './run-answer.ts';

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

/** Of the semi-structured transformer. */
export function processRoutes(api: Api): readonly Route[] {
  const common = {
    path: '/process',
    role: 'operator',
    summary: 'Transforms input files, and waits for the outcome',
    replies: RUN_REPLIES,
  } as const;
  return [
    {
      ...common,
      method: 'POST',
      parameters: RUN_HEADERS,
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
      parameters: [...QUERY, ...RUN_HEADERS],
      handle: (call) => processInputs(api, call, fieldsOfQuery(call.query)),
    },
  ];
}

/** Of the SQL transformer: database and mapping are those of the configuration. */
export function sqlProcessRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/process',
    role: 'operator',
    summary: 'Transforms the database by the master mapping, and waits for the outcome',
    replies: RUN_REPLIES,
    acts: true,
    parameters: RUN_HEADERS,
    handle: (call) => answerRun(api, call, (snapshot) => sqlRequest(snapshot, api.workingDirectory)),
  };
}

async function processInputs(api: Api, call: Call, fields: FieldValues): Promise<Reply> {
  return answerRun(api, call, async (snapshot) => {
    const request = readProcessRequest(fields);
    const mappings = await findMappings(request.mapping, snapshot, api.workingDirectory);
    const sources = await readMappingSources(mappings, { workingDirectory: api.workingDirectory, base: snapshot.BASE_IRI });
    const inputs = bindInputs(request, sources);
    return { service: call.service, inputs, mappings, ...settingsOf(snapshot, api.workingDirectory) };
  });
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
