/** `/rml`: reads and replaces the files of the mapping directory; for the SQL transformer, the master mapping. */

import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Transformer } from '../../queues/jobs.ts';
import { inspectMapping } from '../../queues/requests/mapping-inspection.ts';
import { findMasterMapping, MASTER_MAPPING_HINT, type MasterMapping } from '../../queues/requests/transform.ts';
import { mappingsOf } from '../../src/config/directories.ts';
import { s3AccessOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { resolveInside } from '../../src/core/reach/safe-path.ts';
import { redact } from '../../src/core/redact.ts';
import type { DescribedSet } from '../../src/custom-functions/open.ts';
import type { Diagnostic } from '../../src/mapping/model/model.ts';
import { isYarrrml } from '../../src/mapping/parse/document.ts';
import { DEFAULT_BASE } from '../../src/run/request.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import { readText } from '../../src/storage/open.ts';
import { isObjectUrl, locate, objectUrlIn } from '../../src/storage/url.ts';
import { writeText } from '../../src/storage/write.ts';
import { readTextBody } from '../body.ts';
import { RequestFault } from '../problem.ts';
import type { Api, Call, Parameter, Reply, Route } from '../route.ts';

const TURTLE = 'text/turtle';
/** The first is what is answered. */
const YAML = ['application/yaml', 'text/yaml', 'application/x-yaml'];

/** By the name of the file: text/turtle, or what YARRRML has. */
const mediaTypesOf = (fileName: string): readonly string[] => (isYarrrml({ name: fileName }) ? YAML : [TURTLE]);
const FILE_NAME: Parameter = {
  name: 'fileName',
  in: 'query',
  required: true,
  description: 'The location of the mapping file: a path below MAPPINGS_DIR_URL, or an absolute path, file: or s3: URL inside it',
  schema: { type: 'string', minLength: 1, examples: ['people.ttl'] },
};

const SHOWN: Route['replies'] = {
  200: {
    description: 'The file; YARRRML (.yml, .yaml) as application/yaml',
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
        return {
          status: 200,
          type: mediaTypesOf(fileName)[0] as string,
          body: await readMappingFile(api, path, fileName),
        };
      },
    },
    {
      method: 'PUT',
      path: '/rml',
      role: 'admin',
      summary: 'Writes a mapping file, in effect for every run that starts from now on',
      parameters: [FILE_NAME],
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
        return { status: 200, type: mediaTypesOf(path)[0] as string, body: await readMappingFile(api, path, basename(path)) };
      },
    },
    {
      method: 'PUT',
      path: '/rml',
      role: 'admin',
      summary: 'Replaces the master mapping file, in effect for every run that starts from now on',
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

/** @throws RequestFault, Fault — the body is not a valid mapping; the old file is kept */
async function writeMapping(api: Api, { request, actor }: Call, path: string, fileName: string): Promise<Reply> {
  const { MAX_BODY_BYTES, BASE_IRI } = api.config.snapshot();
  const text = await readTextBody(request, mediaTypesOf(fileName), MAX_BODY_BYTES);
  await checkMapping(fileName, text, BASE_IRI, await api.functions.described());
  await refuseDirectory(path, fileName);
  await writeText(path, text, mediaTypesOf(fileName)[0] as string, s3AccessOf(api.config.snapshot()));
  api.logger.info({ file: path, by: actor }, 'mapping written');
  return { status: 200 };
}

/** An absolute path, or the address of a directory of objects. @throws Fault request/conflict — the mappings are on the web */
function mappingDirectory(api: Api, service: Transformer): string {
  const url = mappingsOf(service, api.config.snapshot(), api.workingDirectory);
  const location = locate(url, api.workingDirectory);
  if (location.kind === 'file') return location.path;
  if (location.kind === 's3') return url;
  throw notWritableFault();
}

const notWritableFault = (): Fault =>
  new Fault('request/conflict', 'MAPPINGS_DIR_URL is a directory on the web, so its files cannot be listed or written');

/** Less than file systems take (255 and 4096): a file that is written has a longer name at first, and the directory stands before it. */
const MAX_NAME_BYTES = 200;
const MAX_PATH_BYTES = 2_000;

/**
 * The real path of `fileName` inside the mapping directory, or the address of the object; it may be missing.
 *
 * @throws Fault request/forbidden — outside; request/not-found — there is no mapping directory; request/invalid — too long
 */
async function insideMappings(directory: string, fileName: string): Promise<string> {
  const names = fileName.split('/');
  if (Buffer.byteLength(fileName) > MAX_PATH_BYTES || names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    throw new Fault(
      'request/invalid',
      `The parameter fileName is too long: a name may have ${MAX_NAME_BYTES} bytes, a path ${MAX_PATH_BYTES}`,
    );
  }
  if (isObjectUrl(directory)) return objectInside(directory, fileName);
  await realpath(directory).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new Fault('request/not-found', `There is no mapping ${fileName}: the mapping directory is still empty`)
      : error;
  });
  return resolveInside(directory, pathOf(fileName));
}

/** A name below the directory, or an address in it. */
function objectInside(directory: string, fileName: string): string {
  const start = objectUrlIn(directory, '');
  const url = isObjectUrl(fileName) ? fileName : `${start}${fileName}`;
  const steps = url.slice(start.length).split('/');
  const isInside = url.startsWith(start) && !/^[a-z][a-z0-9+.-]+:|^\//i.test(url.slice(start.length));
  if (!isInside || steps.some((step) => step === '.' || step === '..')) throw outsideFault(fileName);
  return url;
}

const outsideFault = (fileName: string): Fault =>
  new Fault('request/forbidden', `The location ${fileName} is outside the mapping directory`);

function pathOf(fileName: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(fileName)) return fileName;
  try {
    const location = locate(fileName, '/');
    if (location.kind === 'file') return location.path;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  throw outsideFault(fileName);
}

/** Far larger than any mapping in use. */
const MAX_BYTES = 64 * 2 ** 20;

async function readMappingFile({ config, workingDirectory }: Api, path: string, fileName: string): Promise<string> {
  await refuseDirectory(path, fileName);
  try {
    return await readText(path, MAX_BYTES, { workingDirectory, reach: undefined, s3: s3AccessOf(config.snapshot()) });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'source/missing') throw error;
    throw error.with({ code: 'request/not-found', message: `There is no mapping ${fileName}` });
  }
}

async function refuseDirectory(path: string, fileName: string): Promise<void> {
  const isDirectory = isObjectUrl(path) ? path.endsWith('/') : (await stat(path).catch(() => undefined))?.isDirectory();
  if (isDirectory) throw new Fault('request/invalid', `${fileName} is a directory, the location of a file was expected`);
}

/** @throws RequestFault mapping/syntax, mapping/invalid — with all diagnostics */
async function checkMapping(fileName: string, text: string, base: string | undefined, functions: DescribedSet | undefined): Promise<void> {
  const { triplesMaps, diagnostics } = await inspectMapping([{ name: fileName, text }], base ?? DEFAULT_BASE, functions);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined && triplesMaps > 0) return;
  if (first === undefined) throw new Fault('mapping/invalid', `${fileName} has no triples map`);
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  const { line, column } = first.origin;
  throw new RequestFault(
    isSyntax(first) ? 'mapping/syntax' : 'mapping/invalid',
    `line ${line}, column ${column}: ${first.message}${more}`,
    {
      place: { mapping: `${fileName}:${line}:${column}` },
      hint: first.hint,
      members: { diagnostics: diagnostics.map(shownDiagnostic) },
    },
  );
}

const isSyntax = ({ code }: Diagnostic): boolean => code === 'syntax';

const shownDiagnostic = ({ severity, code, origin, message, hint }: Diagnostic): Readonly<Record<string, unknown>> => ({
  severity,
  code,
  line: origin.line,
  column: origin.column,
  ...(origin.key === undefined ? {} : { key: origin.key }),
  message,
  hint,
});

/** @throws Fault sink/failed */
function makeMappingDirectory(directory: string): void {
  if (isObjectUrl(directory)) return;
  try {
    makeDirectory(directory);
  } catch (error) {
    throw new Fault('sink/failed', `The mapping directory ${directory} cannot be made: ${(error as Error).message}`, { cause: error });
  }
}
