/** `/runs/{id}/outputs/{number}`: downloads a file or an object that a run has made. The service streams both, so its roles hold for both. */
import type { SuccessReport } from '../../../queues/jobs.ts';
import { settingsOf } from '../../../queues/requests/transform.ts';
import { s3AccessOf } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { openInput } from '../../../src/storage/open.ts';
import { type Api, type Route, withinQueueWait } from '../../route.ts';

export function runOutputRoute(api: Api, idOf: (call: Parameters<Route['handle']>[0]) => string): Route {
  return {
    method: 'GET',
    path: '/runs/{id}/outputs/{number}',
    role: 'operator',
    summary: 'Downloads a file of statements that a run has made',
    parameters: [
      { name: 'id', in: 'path', required: true, description: 'Id of the run' },
      {
        name: 'number',
        in: 'path',
        required: true,
        description: 'Position in outputFileLocations of its report, followed by targetFileLocations and removedFileLocations; from 1',
      },
    ],
    replies: { 200: { description: 'The file, unpacked', type: 'application/octet-stream' } },
    handle: async (call) => {
      const id = idOf(call);
      const run = await withinQueueWait(api, api.runs.get(id));
      const outcome = run?.service === call.service && run.outcome?.state === 'completed' ? run.outcome : undefined;
      const url = outcome === undefined ? undefined : filesOf(outcome.report)[Number(call.params.number) - 1];
      if (url === undefined)
        throw new Fault('request/not-found', `There is no file ${call.params.number} of a completed run ${id}`, {
          hint: 'Its report names its files in outputFileLocations and targetFileLocations',
        });
      const isFile = url.startsWith('file:');
      if (!isFile && !url.startsWith('s3:'))
        throw new Fault('request/not-found', `${url} is neither a file of the service nor an object`, {
          hint: 'Load it from where it stands',
        });
      const { workingDirectory, config } = api;
      const snapshot = config.snapshot();
      const { reach } = settingsOf(snapshot, workingDirectory).run;
      const { bytes, close } = await openInput(url, { workingDirectory, reach, s3: s3AccessOf(snapshot), signal: api.ending });
      const last = url.replace(/^.*\//, '');
      // A key of an object is written as it is.
      const name = (isFile ? decodeURIComponent(last) : last).replace(/\.gz$/, '');
      return {
        status: 200,
        type: 'application/octet-stream',
        headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` },
        stream: closing(bytes, close),
      };
    },
  };
}

/** The report of a transformer; the graph writer makes no files. */
function filesOf(report: object): readonly string[] {
  const { outputFileLocations = [], targetFileLocations = [], removedFileLocations = [] } = report as Partial<SuccessReport>;
  return [...outputFileLocations, ...targetFileLocations, ...removedFileLocations];
}

async function* closing(bytes: AsyncIterable<Uint8Array>, close: () => Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    await close();
  }
}
