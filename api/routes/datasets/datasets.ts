/** `/datasets`: graphs in versions, what changed between them, and their event streams. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FollowerRecord } from '../../../queues/follow/record.ts';
import { directories } from '../../../src/config/directories.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { ChangedLines, Folding } from '../../../src/datasets/changes.ts';
import type { Dataset } from '../../../src/datasets/dataset.ts';
import { BLANK_NODE_FORMS, type BlankNodeForm, type ChangeFormat, formatChanges, skolemising } from '../../../src/datasets/formats.ts';
import type { Manifest } from '../../../src/datasets/manifest.ts';
import type { Api, Reply, Route } from '../../route.ts';
import { answered, preferred } from './answer.ts';
import { ldesRoutes } from './ldes.ts';
import { allDatasets, assertTarget, assertVersion, BLANK_NODES, manifestOf, NAME, openDataset, TARGET, urlOf } from './place.ts';
import { positionRoute } from './position.ts';
import { statementRoutes } from './statements.ts';

const version = { type: 'integer', minimum: 1 } as const;
const CHANGE_TYPES = ['application/rdf-patch', 'application/sparql-update', 'application/n-quads'] as const;
/** Of a request that reads several versions. */
const MEMORY_BYTES = 32 * 2 ** 20;

export function datasetRoutes(api: Api): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/datasets',
      role: 'viewer',
      summary: 'Lists the datasets by name',
      replies: {
        200: { description: 'The datasets', schema: { type: 'object', properties: { datasets: { type: 'array', items: 'DatasetView' } } } },
      },
      handle: async () => {
        const datasets = await Promise.all((await allDatasets(api)).map(([name, dataset]) => viewOf(name, dataset)));
        return { status: 200, body: { datasets } };
      },
    },
    {
      method: 'GET',
      path: '/datasets/{name}',
      role: 'viewer',
      summary: 'Shows a dataset, its newest versions, and how far its follower is',
      parameters: [
        NAME,
        {
          name: 'limit',
          in: 'query',
          description: 'How many versions at most',
          schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 50 },
        },
      ],
      replies: { 200: { description: 'The dataset', schema: 'DatasetDetails' } },
      handle: async ({ parameters }) => {
        const { name, limit } = parameters as { readonly name: string; readonly limit: number };
        const dataset = await openDataset(api, name);
        const newest = dataset.versions.slice(-limit).reverse();
        const versions = (await Promise.all(newest.map((one) => dataset.manifest(one)))).map(entryOf);
        const follower = await api.followerOf?.(urlOf(api, name));
        const followed = follower === undefined ? {} : { followed: followedView(follower) };
        return { status: 200, body: { ...(await viewOf(name, dataset)), ...followed, versions } };
      },
    },
    {
      method: 'GET',
      path: '/datasets/{name}/versions/{version}',
      role: 'viewer',
      summary: 'Shows the manifest of a version: when, of what and by which run it was made, and its files',
      parameters: [NAME, { name: 'version', in: 'path', required: true, description: 'Number of the version', schema: version }],
      replies: { 200: { description: 'The manifest', schema: 'DatasetManifest' } },
      handle: async ({ parameters }) => {
        const { name, version: number } = parameters as { readonly name: string; readonly version: number };
        return { status: 200, body: await manifestOf(await openDataset(api, name), number) };
      },
    },
    ...statementRoutes(api),
    positionRoute(api),
    changesRoute(api),
    graphRoute(api),
    ...ldesRoutes(api),
  ];
}

/** @param name that by which it is asked for */
async function viewOf(name: string, dataset: Dataset): Promise<object> {
  const { id } = dataset.description;
  const { current, versions } = dataset;
  const newest = current === 0 ? undefined : await dataset.manifest(current);
  return {
    name,
    id,
    currentVersion: current,
    oldestVersion: versions[0] ?? 0,
    endedAt: newest?.endedAt ?? null,
    statements: newest?.statements ?? 0,
    added: newest?.added ?? 0,
    removed: newest?.removed ?? 0,
  };
}

const followedView = ({ worker, beat: _, time, ...state }: FollowerRecord): object => ({
  ...state,
  isActive: worker !== undefined,
  seenAt: time,
});

const entryOf = ({ version: number, previous, runId, startedAt, endedAt, records, rejected, added, removed, statements }: Manifest) => ({
  version: number,
  previous,
  runId,
  startedAt,
  endedAt,
  records,
  rejected,
  added,
  removed,
  statements,
});

function changesRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/datasets/{name}/changes',
    role: 'operator',
    summary: 'The net changes since a version: RDF Patch, SPARQL Update, or the added or removed statements',
    parameters: [
      NAME,
      {
        name: 'since',
        in: 'query',
        required: true,
        description: 'The version that the caller has; 0: none',
        schema: { type: 'integer', minimum: 0 },
      },
      {
        name: 'which',
        in: 'query',
        description: 'Which statements N-Quads have',
        schema: { type: 'string', enum: ['added', 'removed'], default: 'added' },
      },
      BLANK_NODES,
      TARGET,
    ],
    replies: {
      200: { description: 'The changes; empty where the version is the newest one', type: CHANGE_TYPES, schema: { type: 'string' } },
    },
    handle: async (call) => {
      const { name, since, which, blankNodes, target } = call.parameters as unknown as {
        readonly name: string;
        readonly since: number;
        readonly which: 'added' | 'removed';
        readonly blankNodes: BlankNodeForm;
        readonly target?: string;
      };
      const type = preferred(call.request, CHANGE_TYPES);
      if (type === 'application/sparql-update' && blankNodes === 'keep')
        throw new Fault('request/invalid', 'An update of SPARQL can delete no blank nodes', { hint: 'Leave out blankNodes=keep' });
      const { id, versions, current } = await checkedDataset(api, name, since, target);
      const { SKOLEM_BASE_IRI: base } = api.config.snapshot();
      const format: ChangeFormat =
        type === 'application/n-quads' ? `nquads-${which}` : type === 'application/rdf-patch' ? 'rdf-patch' : 'sparql-update';
      const iri = (number: number): string => `urn:uuid:${id}#${number}`;
      return answered(api, call, {
        type,
        madeOf: [id, since, current, versions[0], format, blankNodes, base, target],
        caching: 'changing',
        async *text(signal) {
          if (since === current) return;
          const header = { id: iri(current), previous: since === 0 ? undefined : iri(since) };
          const dataset = await openDataset(api, name, signal);
          const convert = blankNodes === 'keep' ? undefined : skolemising(base, dataset.description.name);
          yield* withFolding(api, (folding) =>
            formatChanges(converted(dataset.changes(since, target, folding, current), convert, signal), format, header),
          );
        },
      });
    },
  };
}

function graphRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/datasets/{name}/graph',
    role: 'operator',
    summary: 'The graph of a version as N-Quads',
    parameters: [
      NAME,
      {
        name: 'version',
        in: 'query',
        description: 'Number of the version. Default: the newest one',
        schema: { type: 'integer', minimum: 0 },
      },
      { ...BLANK_NODES, schema: { type: 'string', enum: BLANK_NODE_FORMS, default: 'keep' } },
      TARGET,
    ],
    replies: { 200: { description: 'The statements, each once', type: 'application/n-quads', schema: { type: 'string' } } },
    handle: async (call): Promise<Reply> => {
      const given = call.parameters as unknown as { name: string; version?: number; blankNodes: BlankNodeForm; target?: string };
      const { name, blankNodes, target } = given;
      const { id, current } = await checkedDataset(api, name, given.version ?? 0, target);
      const number = given.version ?? current;
      const { SKOLEM_BASE_IRI: base } = api.config.snapshot();
      return answered(api, call, {
        type: preferred(call.request, ['application/n-quads']),
        madeOf: [id, number, blankNodes, base, target],
        caching: 'changing',
        async *text(signal) {
          const dataset = await openDataset(api, name, signal);
          const convert = blankNodes === 'keep' ? undefined : skolemising(base, dataset.description.name);
          yield* withFolding(api, async function* (folding) {
            for await (const { lines } of converted(dataset.changes(0, target, folding, number), convert, signal)) yield lines;
          });
        },
      });
    },
  };
}

/** @throws Fault request/not-found, request/gone — there is no such dataset, version or logical target */
async function checkedDataset(api: Api, name: string, number: number, target: string | undefined) {
  const dataset = await openDataset(api, name);
  const { versions, current, description } = dataset;
  assertVersion(dataset, number);
  if (target !== undefined && current !== 0) assertTarget(name, await dataset.manifest(current), target);
  return { id: description.id, versions, current };
}

async function* converted(
  changes: AsyncIterable<ChangedLines>,
  convert: ((lines: string) => string) | undefined,
  signal: AbortSignal,
): AsyncGenerator<ChangedLines> {
  for await (const { kind, lines } of changes) {
    signal.throwIfAborted();
    yield { kind, lines: convert === undefined ? lines : convert(lines) };
  }
}

/** Temporary files are below DATA_DIR, as those of runs. */
async function* withFolding({ config, workingDirectory }: Api, text: (folding: Folding) => AsyncIterable<string>): AsyncGenerator<string> {
  const directory = join(directories(config.snapshot(), workingDirectory).spill, `changes-${randomUUID()}`);
  try {
    yield* text({ directory, memoryBudgetBytes: MEMORY_BYTES });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
