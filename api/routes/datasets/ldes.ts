/** `/datasets/{name}/ldes`: a dataset as a Linked Data Event Stream. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { directories } from '../../../src/config/directories.ts';
import { within } from '../../../src/core/abort.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Dataset } from '../../../src/datasets/dataset.ts';
import { skolemising } from '../../../src/datasets/formats.ts';
import { knownPages, type Pages, type Part, pagesOf } from '../../../src/ldes/pages.ts';
import { LDES_TYPES, pageText, rootText, type Stream } from '../../../src/ldes/text.ts';
import type { Api, Call, Route } from '../../route.ts';
import { answered, preferred } from './answer.ts';
import { manifestOf, NAME, openDataset } from './place.ts';

const PART = '^(base-)?[1-9][0-9]{0,14}$';
/** How long a request waits for the pages of a version, which the service goes on to make. */
const WAIT_MS = 20_000;

export function ldesRoutes(api: Api): readonly Route[] {
  const pages = pageMaker(api);
  return [
    {
      method: 'GET',
      path: '/datasets/{name}/ldes',
      role: 'operator',
      summary: 'The dataset as a Linked Data Event Stream (LDES 1.0): the root node',
      parameters: [NAME],
      replies: {
        200: { description: 'What the members have in common, and relations to pages', type: LDES_TYPES, schema: { type: 'string' } },
      },
      handle: async (call) => {
        const dataset = await openDataset(api, nameOf(call));
        const type = preferred(call.request, LDES_TYPES);
        const { id } = dataset.description;
        const { RETAIN_VERSIONS } = api.config.snapshot();
        const [first] = dataset.versions;
        return answered(api, call, {
          type,
          madeOf: [id, first, dataset.current, RETAIN_VERSIONS > 0],
          caching: 'changing',
          async *text() {
            const manifests = await Promise.all(dataset.versions.map((version) => dataset.manifest(version)));
            const isShortened = RETAIN_VERSIONS > 0 || (manifests[0]?.previous ?? 0) !== 0;
            const withMembers = manifests.filter(({ added, removed, version }) => added + removed > 0 || version === first);
            yield rootText(streamOf(call, dataset), withMembers, isShortened ? manifests[0]?.endedAt : undefined);
          },
        });
      },
    },
    {
      method: 'GET',
      path: '/datasets/{name}/ldes/{part}/{page}',
      role: 'operator',
      summary: 'A page of the event stream: what a version says of entities that it changes',
      parameters: [
        NAME,
        {
          name: 'part',
          in: 'path',
          required: true,
          description: 'Number of the version, after `base-` for the entities that it does not change, where older versions were removed',
          schema: { type: 'string', pattern: PART, examples: ['7'] },
        },
        { name: 'page', in: 'path', required: true, description: 'Number of the page, from 1', schema: { type: 'integer', minimum: 1 } },
      ],
      replies: { 200: { description: 'Members, and the relation to the next page', type: LDES_TYPES, schema: { type: 'string' } } },
      handle: async (call) => {
        const { part: text, page } = call.parameters as unknown as { readonly part: string; readonly page: number };
        const type = preferred(call.request, LDES_TYPES);
        const dataset = await openDataset(api, nameOf(call), api.ending);
        const part: Part = { kind: text.startsWith('base-') ? 'base' : 'changes', version: Number(text.replace('base-', '')) };
        const manifest = await manifestOf(dataset, part.version);
        const { name, id } = dataset.description;
        if (part.kind === 'base' && !manifest.files.some(({ kind }) => kind === 'base'))
          throw new Fault(
            'request/not-found',
            `Version ${part.version} of the dataset ${name} is no base: no version before it was removed`,
          );
        const base = api.config.snapshot().SKOLEM_BASE_IRI;
        const found = await pages(dataset, part, base);
        if (page > Math.max(1, found.count))
          throw new Fault('request/not-found', `The pages of ${text} end with ${Math.max(1, found.count)}`);
        return answered(api, call, {
          type,
          madeOf: [id, part, page, found.count, base],
          caching: 'immutable',
          text: () => pageText(streamOf(call, dataset), part, page, page >= found.count, manifest.endedAt, found.read(page), type),
        });
      },
    },
  ];
}

const nameOf = ({ parameters }: Call): string => parameters.name as string;

const streamOf = (call: Call, { description: { id } }: Dataset): Stream => ({ id, root: `${call.baseUrl}/datasets/${nameOf(call)}/ldes` });

/** Makes pages, those of one part at a time. A caller that does not wait finds them later. */
function pageMaker(api: Api): (dataset: Dataset, part: Part, base: string) => Promise<Pages> {
  const making = new Map<string, Promise<Pages>>();
  let last: Promise<unknown> = Promise.resolve();
  const made = (key: string, make: () => Promise<Pages>): Promise<Pages> => {
    const known = making.get(key);
    if (known !== undefined) return known;
    const next = last.then(make).finally(() => making.delete(key));
    making.set(key, next);
    last = next.catch(() => undefined);
    return next;
  };
  return async (dataset, part, base) => {
    const { id, name } = dataset.description;
    const key = createHash('sha256')
      .update(JSON.stringify([id, part, base, name]))
      .digest('hex')
      .slice(0, 32);
    const directory = join(directories(api.config.snapshot(), api.workingDirectory).spill, 'ldes');
    const known = await knownPages({ directory, key });
    if (known !== undefined) return known;
    const options = { directory, key, convert: skolemising(base, name), signal: api.ending };
    return within(
      WAIT_MS,
      made(key, () => pagesOf(dataset, part, options)),
      () => {
        throw new Fault('service/unavailable', `The pages of version ${part.version} of the dataset ${name} are being made`, {
          hint: 'Ask again in a moment',
        });
      },
    );
  };
}
