/** `/rml`: reads and replaces the files of the mapping directory; for the SQL transformer, the master mapping. */

import { basename } from 'node:path';
import { findMasterMapping, MASTER_MAPPING_HINT, type MasterMapping } from '../../../queues/requests/transform.ts';
import { Fault } from '../../../src/core/fault.ts';
import { redact } from '../../../src/core/redact.ts';
import { readTextBody } from '../../body.ts';
import type { Api, Call, Parameter, Reply, Route } from '../../route.ts';
import { checkMapping } from './check.ts';
import { CONDITIONS, conditionOf, tagHeader } from './conditions.ts';
import { insideMappings, makeMappingDirectory, mappingDirectory, notWritableFault, refuseDirectory } from './place.ts';
import { filesOf, readSaved, save } from './saved.ts';
import { mediaTypesOf, TURTLE, YAML } from './types.ts';

const FILE_NAME: Parameter = {
  name: 'fileName',
  in: 'query',
  required: true,
  description: 'The location of the mapping file: a path below MAPPINGS_DIR_URL, or an absolute path, file: or s3: URL inside it',
  schema: { type: 'string', minLength: 1, examples: ['people.ttl'] },
};

const SHOWN: Route['replies'] = {
  200: {
    description: 'The file; YARRRML (.yml, .yaml, .yarrrml) as application/yaml. `ETag` names the version',
    type: [TURTLE, ...YAML.slice(0, 1)],
    schema: { type: 'string' },
  },
};
const WRITTEN: Route['replies'] = { 200: { description: 'The file is written; the body is empty' } };
const BODY = { type: [TURTLE, ...YAML], schema: { type: 'string' }, required: true } as const;

/** Routes of the semi-structured transformer. */
export function rmlRoutes(api: Api): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/rml',
      role: 'viewer',
      summary: 'Shows a mapping file',
      parameters: [FILE_NAME],
      replies: SHOWN,
      handle: async ({ parameters }) => {
        const fileName = parameters.fileName as string;
        const path = await insideMappings(mappingDirectory(api, 'semi-structured-transformer'), fileName);
        return showMapping(api, path, fileName);
      },
    },
    {
      method: 'PUT',
      path: '/rml',
      role: 'admin',
      summary: 'Writes a mapping file, in effect for every run that starts from now on',
      parameters: [FILE_NAME, ...CONDITIONS],
      body: BODY,
      replies: WRITTEN,
      handle: async (call) => {
        const fileName = call.parameters.fileName as string;
        const directory = mappingDirectory(api, 'semi-structured-transformer');
        makeMappingDirectory(directory);
        return writeMapping(api, call, await insideMappings(directory, fileName), fileName);
      },
    },
  ];
}

/** Routes of the SQL transformer. */
export function masterMappingRoutes(api: Api): readonly Route[] {
  const find = (): Promise<MasterMapping> => findMasterMapping(api.config.snapshot(), api.workingDirectory);
  return [
    {
      method: 'GET',
      path: '/rml',
      role: 'viewer',
      summary: 'Shows the master mapping file',
      replies: SHOWN,
      handle: async () => {
        mappingDirectory(api, 'sql-transformer');
        const { url, path, present } = await find();
        if (!present || path === undefined) {
          throw new Fault('request/not-found', `There is no master mapping: it was looked for at ${redact(url)}`, {
            hint: MASTER_MAPPING_HINT,
          });
        }
        return showMapping(api, path, basename(path));
      },
    },
    {
      method: 'PUT',
      path: '/rml',
      role: 'admin',
      summary: 'Replaces the master mapping file, in effect for every run that starts from now on',
      parameters: CONDITIONS,
      body: BODY,
      replies: WRITTEN,
      handle: async (call) => {
        makeMappingDirectory(mappingDirectory(api, 'sql-transformer'));
        const { path } = await find();
        if (path === undefined) throw notWritableFault();
        return writeMapping(api, call, path, api.config.snapshot().MASTER_MAPPING_FILE);
      },
    },
  ];
}

/** @throws RequestFault, Fault — the body is not a valid mapping, or the file has another version; the old file is kept */
async function writeMapping(api: Api, { request, actor, parameters }: Call, path: string, fileName: string): Promise<Reply> {
  const { MAX_BODY_BYTES, BASE_IRI } = api.config.snapshot();
  const condition = conditionOf(parameters, 'optional');
  const text = await readTextBody(request, mediaTypesOf(fileName), MAX_BODY_BYTES);
  await checkMapping(fileName, text, BASE_IRI, await api.functions.described());
  await refuseDirectory(path, fileName);
  const mediaType = mediaTypesOf(fileName)[0] as string;
  const { etag } = await save(filesOf(api), path, { text, side: undefined, mediaType, by: actor }, condition);
  api.logger.info({ file: path, by: actor }, 'mapping written');
  return { status: 200, headers: tagHeader(etag) };
}

async function showMapping(api: Api, path: string, fileName: string): Promise<Reply> {
  await refuseDirectory(path, fileName);
  const saved = await readSaved(filesOf(api), path);
  if (saved === undefined) throw new Fault('request/not-found', `There is no mapping ${fileName}`);
  return { status: 200, type: mediaTypesOf(fileName)[0] as string, body: saved.text, headers: tagHeader(saved.etag) };
}
