/** `/studio/uploads`: takes files from the caller's machine, which models and runs may read then. They are never served back. */
import type { IncomingMessage } from 'node:http';
import { pathToFileURL } from 'node:url';
import { directories } from '../../../src/config/directories.ts';
import { Fault } from '../../../src/core/fault.ts';
import { NO_NUL } from '../../../src/core/schema.ts';
import { formatByExtension, syntaxByExtension } from '../../../src/storage/input-format.ts';
import { checkMediaType } from '../../body.ts';
import type { Api, Route } from '../../route.ts';
import { type Limits, storeUpload } from './upload-store.ts';

const TYPE = 'application/octet-stream';
/** Less than file systems take. */
const MAX_NAME_BYTES = 200;

export function uploadRoute(api: Api): Route {
  return {
    method: 'POST',
    path: '/studio/uploads',
    role: 'operator',
    summary: 'Takes a file that models and runs may read then; its last extension says what it is',
    parameters: [
      {
        name: 'name',
        in: 'query',
        required: true,
        description: 'The name of the file; of a path only the last segment is used',
        schema: { type: 'string', pattern: NO_NUL, maxLength: 2_000, examples: ['people.csv'] },
      },
    ],
    body: { type: TYPE, schema: { type: 'string', format: 'binary' }, required: true },
    replies: {
      200: { description: 'The same bytes are there under this name', schema: 'StudioUpload' },
      201: { description: 'The file is there, whole', schema: 'StudioUpload' },
    },
    handle: async ({ request, parameters, actor }) => {
      const name = fileNameIn(parameters.name as string);
      const format = formatByExtension(name) ?? syntaxByExtension(name);
      if (format === undefined) {
        throw new Fault('source/type', `${name} has no extension of a file that can be read`, {
          hint: 'Files are read as .csv, .tsv, .json, .jsonl, .xml, .xlsx, .xls, .ods or .parquet, ontologies as .ttl, .nt, .trig, .rdf, .owl or .jsonld; also compressed (.csv.gz)',
        });
      }
      checkMediaType(request, [TYPE]);
      const snapshot = api.config.snapshot();
      const limits: Limits = { fileBytes: snapshot.MAX_UPLOAD_BYTES, quotaBytes: snapshot.UPLOAD_QUOTA_BYTES };
      const directory = directories(snapshot, api.workingDirectory).uploads;
      const { path, isNew, ...stored } = await drained(request, () => storeUpload(directory, name, request, limits));
      api.logger.info({ file: path, bytes: stored.bytes, by: actor }, 'file uploaded');
      return { status: isNew ? 201 : 200, body: { url: pathToFileURL(path).href, ...stored, format } };
    },
  };
}

/** What is left of a refused body is read and dropped, so that the client receives the answer. */
async function drained<T>(request: IncomingMessage, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    request.resume();
    throw error;
  }
}

/** The last segment of a path of any system. @throws Fault request/invalid */
function fileNameIn(given: string): string {
  const name = given.split(/[/\\]/).at(-1) as string;
  const isNamed = name !== '' && !name.startsWith('.') && !/\p{Cc}/u.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;
  if (isNamed) return name;
  throw new Fault('request/invalid', 'The parameter name is not that of a file', {
    hint: `A name does not begin with a dot, has no control characters and at most ${MAX_NAME_BYTES} bytes`,
  });
}
