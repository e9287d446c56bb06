/** `/config` and `/updateConfig`: view and change the configuration of the fleet while it runs. */
import { SERVICES, type Service } from '../../queues/jobs.ts';
import { type ConfigDocument, configDocument, shownValue } from '../../src/config/document.ts';
import { optionsOf, ownOption } from '../../src/config/effective.ts';
import { type OptionName, optionRow } from '../../src/config/options/options.ts';
import { findOption } from '../../src/config/parse.ts';
import { Fault } from '../../src/core/fault.ts';
import { readJsonBody } from '../body.ts';
import { type Api, type Call, optionalParameter, type Route, withinQueueWait } from '../route.ts';

export function configRoutes(api: Api): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/config',
      role: 'viewer',
      summary: 'Shows the configuration, whole or some entries; secrets read as ******',
      parameters: [
        {
          name: 'paths',
          in: 'query',
          description: 'Comma-separated options: their names, or their paths in the document; all of them when left out',
          schema: { type: 'string' },
        },
      ],
      replies: { 200: { description: 'The configuration', schema: { type: 'object' } } },
      handle: async ({ query, service }) => ({
        status: 200,
        body: documentOf(api, service, pathsOf(query)),
      }),
    },
    {
      method: 'PUT',
      path: '/updateConfig',
      role: 'admin',
      summary: 'Changes an option for the whole fleet, without a restart',
      parameters: [
        { name: 'configEntry', in: 'query', description: 'The option: its name, or its path in the document', schema: { type: 'string' } },
        { name: 'configValue', in: 'query', description: 'The new value', schema: { type: 'string' } },
      ],
      body: { type: 'application/json', schema: 'ConfigChange', required: false },
      replies: {
        200: { description: 'The option and its new value; a secret reads as ******', schema: 'ConfigChange' },
        501: { description: 'The option has no effect in this version', type: 'application/problem+json', schema: 'Problem' },
      },
      handle: async (call) => {
        const { entry, value } = await changeOf(call, api.config.snapshot().MAX_BODY_BYTES);
        const service = seenBy(api, call.service);
        const { name, snapshot } = await withinQueueWait(api, api.config.update(changedOption(entry, service), value));
        api.logger.info({ option: name, by: call.actor }, 'option changed');
        return { status: 200, body: { configEntry: entry, configValue: shownValue(name, snapshot, service) } };
      },
    },
  ];
}

/** A service and the options that concern it. */
const seenBy = ({ workingDirectory }: Api, service: Service) =>
  ({ name: SERVICES[service].name, scope: service === 'graph-writer' ? 'writer' : 'transformer', workingDirectory }) as const;

/**
 * The option that a request to a service changes: where the service has one of its own, the others keep theirs.
 *
 * @throws Fault config/unknown — none of this service; service/not-yet — one without effect
 */
function changedOption(entry: string, service: ReturnType<typeof seenBy>): OptionName {
  const name = findOption(entry, optionsOf(service));
  if (optionRow(name).effect === 'none yet') throw new Fault('service/not-yet', `The option ${name} has no effect in this version yet`);
  return ownOption(name, service);
}

function documentOf(api: Api, service: Service, paths: readonly string[] | undefined): ConfigDocument {
  // The option is what the schedule began with; what holds now is the schedule itself.
  const snapshot = { ...api.config.snapshot(), CRON: api.schedule.current()?.cron };
  return configDocument(snapshot, seenBy(api, service), paths);
}

/** `paths` may be repeated as well as comma-separated; an empty one is no restriction. */
function pathsOf(query: URLSearchParams): readonly string[] | undefined {
  const paths = query
    .getAll('paths')
    .flatMap((one) => one.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return paths.length > 0 ? paths : undefined;
}

/** The entry and the value, from the query or from a JSON body with the same names. */
async function changeOf(call: Call, limitBytes: number): Promise<{ readonly entry: string; readonly value: string }> {
  const body = call.query.has('configEntry') ? undefined : await readJsonBody(call.request, limitBytes);
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new Fault('request/invalid', 'The request body is not a JSON object with configEntry and configValue');
  }
  const field = (name: string): string | undefined => {
    if (body === undefined) return optionalParameter(call.query, name);
    const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(',');
    throw new Fault('request/invalid', `The field ${name} is neither text, number, boolean nor a list of texts`);
  };
  const entry = field('configEntry')?.trim();
  const value = field('configValue');
  if (entry === undefined || entry === '') throw new Fault('request/invalid', 'configEntry is missing: the name or path of the option');
  if (value === undefined) throw new Fault('request/invalid', `configValue is missing: the new value of ${entry}`);
  return { entry, value };
}
