/** `/config`, `/updateConfig`, `/config/history` and `/uploadConfigBackup`: the configuration of the running fleet. */
import { SERVICES, type Service } from '../../queues/jobs.ts';
import { backupPath, writeBackup } from '../../src/config/backup.ts';
import { type ConfigDocument, configDocument, shownValue } from '../../src/config/document.ts';
import { optionsOf, ownOption } from '../../src/config/effective.ts';
import type { OptionName } from '../../src/config/options/options.ts';
import { findOption } from '../../src/config/parse.ts';
import { assertPlace } from '../../src/config/places.ts';
import { s3AccessOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { NOT_BLANK } from '../../src/core/schema.ts';
import { type Api, type Call, type Route, withinQueueWait } from '../route.ts';

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
          schema: { type: 'array', items: { type: 'string' } },
        },
      ],
      replies: { 200: { description: 'The configuration', schema: { type: 'object' } } },
      handle: async ({ parameters, service }) => ({
        status: 200,
        body: documentOf(api, service, pathsOf(parameters.paths as readonly string[] | undefined)),
      }),
    },
    {
      method: 'PUT',
      path: '/updateConfig',
      role: 'admin',
      summary: 'Changes an option for the whole fleet, without a restart',
      parameters: [
        {
          name: 'configEntry',
          in: 'query',
          description: 'The name or path of the option; left out: the body has it',
          schema: { type: 'string', pattern: NOT_BLANK, examples: ['friendlyName'] },
        },
        { name: 'configValue', in: 'query', description: 'The new value', schema: { type: 'string' } },
      ],
      body: { type: 'application/json', schema: 'ConfigChange', required: false },
      replies: {
        200: { description: 'The option and its new value; a secret reads as ******', schema: 'ConfigEntry' },
      },
      handle: async (call) => {
        const { entry, value } = await changeOf(call);
        const service = seenBy(api, call.service);
        const option = changedOption(entry, service);
        await assertPlace(option, value, api.config.snapshot(), api.workingDirectory);
        const { name, snapshot } = await withinQueueWait(api, api.config.update(option, value, call.actor));
        api.logger.info({ option: name, by: call.actor }, 'option changed');
        return { status: 200, body: { configEntry: entry, configValue: shownValue(name, snapshot, service) } };
      },
    },
    {
      method: 'GET',
      path: '/config/history',
      role: 'admin',
      summary: 'Shows who changed which option, and when: the last changes of the fleet, newest first',
      replies: { 200: { description: 'The changes; values of secrets read as ******', schema: 'ConfigHistory' } },
      handle: async ({ service }) => {
        await withinQueueWait(api, api.config.refresh());
        const names: readonly string[] = optionsOf(seenBy(api, service));
        const changes = api.config.history().filter(({ option }) => names.includes(option));
        return { status: 200, body: { changes: changes.toReversed() } };
      },
    },
    {
      method: 'PUT',
      path: '/uploadConfigBackup',
      role: 'admin',
      summary: 'Writes the configuration to the backup location',
      replies: { 200: { description: 'Where the backup is', schema: 'ConfigBackup' } },
      handle: async ({ service, actor }) => {
        const snapshot = await withinQueueWait(api, api.config.refresh());
        const path = await backupPath(snapshot, api.workingDirectory);
        const location = await writeBackup(path, api.config.stored(), documentOf(api, service, undefined), s3AccessOf(snapshot));
        api.logger.info({ location, by: actor }, 'configuration backed up');
        return { status: 200, body: { location } };
      },
    },
  ];
}

/** A service and its options. */
const seenBy = ({ workingDirectory }: Api, service: Service) =>
  ({ name: SERVICES[service].name, scope: service === 'graph-writer' ? 'writer' : 'transformer', workingDirectory }) as const;

/**
 * The option that a request to a service changes: the service's own option if it has one, so that other services keep theirs.
 *
 * @throws Fault config/unknown — not an option of this service
 */
function changedOption(entry: string, service: ReturnType<typeof seenBy>): OptionName {
  const name = findOption(entry, optionsOf(service));
  return ownOption(name, service);
}

function documentOf(api: Api, service: Service, paths: readonly string[] | undefined): ConfigDocument {
  // The option is only the initial value; the schedule itself is what currently applies.
  const snapshot = { ...api.config.snapshot(), CRON: api.schedule.current()?.cron };
  return configDocument(snapshot, seenBy(api, service), paths);
}

/** `paths` may be repeated and comma-separated; empty means all. */
function pathsOf(given: readonly string[] = []): readonly string[] | undefined {
  const paths = given
    .flatMap((one) => one.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return paths.length > 0 ? paths : undefined;
}

/** The entry and the value, from the query or a JSON body with the same names. @throws Fault request/invalid */
async function changeOf(call: Call): Promise<{ readonly entry: string; readonly value: string }> {
  const given = call.parameters.configEntry === undefined ? ((await call.body()) ?? call.parameters) : call.parameters;
  const { configEntry, configValue } = given as { readonly configEntry?: string; readonly configValue?: unknown };
  const entry = configEntry?.trim();
  if (entry === undefined) throw new Fault('request/invalid', 'configEntry is missing: the name or path of the option');
  if (configValue === undefined) throw new Fault('request/invalid', `configValue is missing: the new value of ${entry}`);
  return { entry, value: String(configValue) };
}
