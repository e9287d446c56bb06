/** `/studio/mappings`: the mapping files as models of the studio, each saved against the version that its editor has seen. */
import type { Service, Transformer } from '../../../queues/jobs.ts';
import { Fault } from '../../../src/core/fault.ts';
import { NO_NUL } from '../../../src/core/schema.ts';
import { MAPPING_ENDINGS } from '../../../src/mapping/model/language.ts';
import type { Api, Call, Parameter, Reply, Route } from '../../route.ts';
import { checkMapping } from './check.ts';
import { CONDITIONS, conditionOf, MATCH, tagHeader } from './conditions.ts';
import { DRAFT_SUFFIX, isMappingName, languageOf, listMappings } from './list.ts';
import { insideMappings, makeMappingDirectory, mappingDirectory, refuseDirectory } from './place.ts';
import { filesOf, readSaved, remove, type Side, save } from './saved.ts';
import { mediaTypesOf } from './types.ts';

const NAME: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'The name of the file in the mapping directory, with its extension',
  schema: { type: 'string', maxLength: 100, pattern: NO_NUL, examples: ['shop.ttl'] },
};
const DRAFT: Parameter = {
  name: 'draft',
  in: 'query',
  description: 'The draft of the mapping, which may have errors; no run reads it. Saving the mapping removes it',
  schema: { type: 'boolean', default: false },
};

/** `services`: those of the process; the directory is that of the first transformer, unless the request names another one. */
export function mappingRoutes(api: Api, services: readonly Service[]): readonly Route[] {
  const transformers = services.filter((service): service is Transformer => service !== 'graph-writer');
  const service: Parameter = {
    name: 'service',
    in: 'query',
    description: 'The transformer whose mapping directory it is',
    schema: { type: 'string', enum: transformers, default: transformers[0] },
  };
  const path = '/studio/mappings/{name}';
  const PROBLEM = { type: 'application/problem+json', schema: 'Problem' } as const;
  const CHANGED = {
    412: { description: 'The file has another version: `etag`, `by` and `at` of it', ...PROBLEM },
    428: { description: 'No header says which version is changed', ...PROBLEM },
  };
  return [
    {
      method: 'GET',
      path: '/studio/mappings',
      role: 'viewer',
      summary: 'Lists the mapping files and drafts',
      parameters: [service],
      replies: { 200: { description: 'The files by name', schema: 'StudioMappings' } },
      handle: async ({ parameters }) => ({ status: 200, body: { mappings: await listMappings(api, parameters.service as Transformer) } }),
    },
    {
      method: 'GET',
      path,
      role: 'viewer',
      summary: 'Shows a mapping file with its side file',
      parameters: [NAME, service, DRAFT],
      replies: { 200: { description: 'The mapping; `ETag` names the version', schema: 'StudioMapping' } },
      handle: async (call) => {
        const { name, path: file } = await fileOf(api, call);
        const saved = await readSaved(filesOf(api), file);
        if (saved === undefined) throw new Fault('request/not-found', `There is no mapping ${name}`);
        return { status: 200, body: { ...saved, language: languageOf(name), location: file }, headers: tagHeader(saved.etag) };
      },
    },
    {
      method: 'PUT',
      path,
      role: 'admin',
      summary: 'Saves a mapping file with its side file, unless it has changed meanwhile',
      parameters: [NAME, service, DRAFT, ...CONDITIONS],
      body: { type: 'application/json', schema: 'StudioMappingUpdate', required: true },
      replies: {
        200: { description: 'It is saved; what it replaces is kept as the previous version', schema: 'StudioSaved' },
        201: { description: 'It is a new file', schema: 'StudioSaved' },
        ...CHANGED,
      },
      handle: (call) => saveMapping(api, call),
    },
    {
      method: 'DELETE',
      path,
      role: 'admin',
      summary: 'Removes a mapping file, unless it has changed meanwhile',
      parameters: [NAME, service, DRAFT, ...MATCH],
      replies: { 204: { description: 'It is kept as the previous version only' }, ...CHANGED },
      handle: async (call) => {
        const condition = conditionOf(call.parameters, 'required');
        const { path: file, name } = await fileOf(api, call);
        await remove(filesOf(api), file, mediaTypesOf(name)[0] as string, condition);
        api.logger.info({ file, by: call.actor }, 'mapping removed');
        return { status: 204 };
      },
    },
  ];
}

async function saveMapping(api: Api, call: Call): Promise<Reply> {
  const { text, side } = (await call.body()) as { readonly text: string; readonly side?: Side };
  const condition = conditionOf(call.parameters, 'required');
  makeMappingDirectory(mappingDirectory(api, call.parameters.service as Transformer));
  const { name, path, isDraft, mapping } = await fileOf(api, call);
  if (!isDraft) await checkMapping(name, text, api.config.snapshot().BASE_IRI, await api.functions.described());
  const files = filesOf(api);
  const mediaType = mediaTypesOf(name)[0] as string;
  const { etag, isNew } = await save(files, path, { text, side, mediaType, by: call.actor }, condition);
  if (!isDraft) await dropDraft(api, mapping + DRAFT_SUFFIX, mediaType);
  api.logger.info({ file: path, by: call.actor }, 'mapping written');
  return { status: isNew ? 201 : 200, body: { etag }, headers: tagHeader(etag) };
}

/** The mapping has what the draft was for. The draft stays as its previous version. */
async function dropDraft(api: Api, path: string, mediaType: string): Promise<void> {
  await remove(filesOf(api), path, mediaType, () => undefined).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'request/not-found') throw error;
  });
}

interface NamedFile {
  readonly name: string;
  readonly isDraft: boolean;
  /** The mapping itself. */
  readonly mapping: string;
  /** The mapping, or its draft. */
  readonly path: string;
}

/** @throws Fault request/forbidden, request/not-found, request/invalid, request/conflict */
async function fileOf(api: Api, { parameters }: Call): Promise<NamedFile> {
  const { name, service, draft } = parameters as { readonly name: string; readonly service: Transformer; readonly draft: boolean };
  if (!isMappingName(name)) {
    throw new Fault('request/invalid', 'The parameter name is not that of a mapping file', {
      hint: `A name ends in ${MAPPING_ENDINGS}, does not begin with a dot, and has no directory before it`,
    });
  }
  const directory = mappingDirectory(api, service);
  const mapping = await insideMappings(directory, name);
  const path = draft ? await insideMappings(directory, name + DRAFT_SUFFIX) : mapping;
  await refuseDirectory(path, name);
  return { name, isDraft: draft, mapping, path };
}
