/** `/updateCustomFunctions`: downloads the custom functions, tries them and gives them to the whole fleet. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callLimitsOf } from '../../queues/custom-functions.ts';
import { startedWith } from '../../src/config/options/options.ts';
import { reachOf, s3AccessOf, webAccessOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { METRICS } from '../../src/core/telemetry/observe.ts';
import { fetchFunctions } from '../../src/custom-functions/fetch.ts';
import { tryFunctions } from '../../src/custom-functions/trial.ts';
import { type Api, type Route, withinQueueWait } from '../route.ts';

/** The files of a large set take longer to store than an ordinary answer of the queue. */
const STORE_MS = 30_000;

export function customFunctionsRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/updateCustomFunctions',
    role: 'admin',
    summary: 'Downloads the custom functions, tries the examples of their description, and deploys them for all processes',
    hasSideEffects: true,
    replies: {
      200: {
        description: 'The functions that new runs may call now',
        schema: {
          type: 'object',
          properties: {
            functions: { type: 'array', items: { type: 'string', format: 'iri' } },
            version: { type: ['string', 'null'], description: 'Digest of description and code; null: there are no custom functions now' },
          },
          required: ['functions', 'version'],
        },
      },
      400: { description: 'They cannot be used; the functions from before stay', type: 'application/problem+json', schema: 'Problem' },
    },
    handle: async ({ actor }) => {
      const { deployed } = await deploy(api).catch((error: unknown) => {
        METRICS.functionDeployments.inc({ state: 'failed' });
        throw error;
      });
      METRICS.functionDeployments.inc({ state: 'deployed' });
      api.logger.info({ version: deployed.version, functions: deployed.functions.length, actor }, 'custom functions deployed');
      return { status: 200, body: deployed };
    },
  };
}

interface Deployed {
  readonly functions: readonly string[];
  readonly version: string | null;
}

/** @throws Fault functions/invalid, config/invalid, service/unavailable — the functions from before stay */
async function deploy(api: Api): Promise<{ readonly deployed: Deployed }> {
  const snapshot = api.config.snapshot();
  const { CUSTOM_FUNCTION_TTL_URL: description, CUSTOM_FUNCTION_JAR_URL: code } = snapshot;
  if (description === undefined) {
    if (api.functions.current() === undefined) {
      throw new Fault('config/invalid', 'No description of custom functions is configured', {
        hint: 'Set CUSTOM_FUNCTION_TTL_URL to the URL of one with PUT /updateConfig, or as an environment variable',
      });
    }
    await withinQueueWait(api, api.functions.switchTo(undefined), STORE_MS);
    return { deployed: { functions: [], version: null } };
  }
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-functions-'));
  try {
    const started = startedWith(snapshot);
    // What the environment names is trusted; what was set since the start stays within its reach, also when a name changes its address.
    const isTrusted = description === started.CUSTOM_FUNCTION_TTL_URL && code === started.CUSTOM_FUNCTION_JAR_URL;
    const reach = isTrusted ? undefined : reachOf(snapshot, api.workingDirectory);
    const access = { workingDirectory: api.workingDirectory, web: webAccessOf(snapshot), s3: s3AccessOf(snapshot), reach };
    const set = await fetchFunctions({ description, code }, directory, access);
    const place = join(directory, set.version);
    const functions = await tryFunctions({ directory: place, limits: callLimitsOf(snapshot) });
    await withinQueueWait(api, api.functions.switchTo(place), STORE_MS);
    return { deployed: { functions, version: set.version } };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
