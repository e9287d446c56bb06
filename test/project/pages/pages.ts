/** Pages of `docs/` that are made of tables in the code. `npm run docs` writes them; `documents.test.ts` says when one is stale. */
import { type DocumentService, optionsOf } from '../../../src/config/effective.ts';
import { OPTION_NAMES, type OptionName, optionRow, ROOT_PATHS } from '../../../src/config/options/options.ts';
import { describeFunctions } from '../../../src/functions/describe.ts';
import { FUNCTIONS } from '../../../src/functions/registry.ts';
import { dependenciesPage } from '../package/dependencies.ts';
import { LIBRARIES, ROOMS, TEST_FOLDERS } from '../rooms.ts';
import { clientTypes } from './client-types.ts';
import { diagnosticsPage } from './diagnostics.ts';
import { functionsPage } from './functions.ts';

/** Path of a page, from the root of the project → what makes its text. */
export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/rooms.md': roomsPage,
  'docs/options.md': optionsPage,
  'docs/dependencies.md': dependenciesPage,
  'docs/functions.md': functionsPage,
  'docs/functions.ttl': () => describeFunctions(FUNCTIONS),
  'docs/diagnostics.md': diagnosticsPage,
  'client/types.ts': clientTypes,
};

function roomsPage(): string {
  return `# Rooms

The map of the source tree: what stands where, and what may import what. \`npm run docs\` makes this page from \`test/project/rooms.ts\`, and
\`npm run layers\` fails when an import is not allowed there, or a folder has no line.

## Tree

\`\`\`
${tree()}
\`\`\`

Tests mirror the rooms: what checks \`src/run/join/join.ts\` stands in \`test/src/run\`. Beside them \`test\` has:

${table(
  ['folder', 'holds'],
  Object.entries(TEST_FOLDERS).map(([name, holds]) => [code(`test/${name}`), holds]),
)}

## What a room may import

A room imports only from rooms above it in this table, so there is no circle. Rooms that are marked also run where there is no Node: they import no
\`node:\` module.

${table(
  ['room', 'may import from', 'without Node'],
  Object.entries(ROOMS).map(([name, { uses, withoutNode }]) => [code(name), codes(uses), withoutNode ? 'yes' : '']),
)}

## Libraries that may be replaced

Each is imported only where this table says.

${table(
  ['library', 'imported in'],
  Object.entries(LIBRARIES).map(([name, places]) => [code(name), codes(places)]),
)}
`;
}

function tree(): string {
  const lines = Object.entries(ROOMS).flatMap(([room, { purpose, folders = {} }]) => [
    { path: `${room}/`, says: purpose },
    ...Object.entries(folders).map(([path, says]) => {
      const steps = path.split('/');
      return { path: `${'  '.repeat(steps.length)}${steps.at(-1)}/`, says: `${'  '.repeat(steps.length)}${says}` };
    }),
  ]);
  const width = Math.max(...lines.map(({ path }) => path.length)) + 2;
  return lines.map(({ path, says }) => path.padEnd(width) + says).join('\n');
}

/** Titles of the groups, each with the first option of its group in the table. */
const GROUPS: ReadonlyMap<OptionName, string> = new Map([
  ['SERVICE', 'The process'],
  ['QUEUE_URL', 'The queue and its workers'],
  ['ON_ERROR', 'Mapping, limits and files'],
  ['JDBC_URL', 'SQL'],
  ['KAFKA_BROKERS', 'Message queue'],
  ['RECORD_PROVO', 'Provenance'],
  ['FRIENDLY_NAME', 'Names, licence, backup'],
  ['AWS_ACCESS_KEY', 'Object storage'],
  ['PROPERTY_GRAPH_MODE', 'Property graphs and the graph writer'],
]);

const SERVICES: readonly DocumentService[] = [
  { name: 'Semi-Structured-Transformer', scope: 'transformer' },
  { name: 'SQL-Transformer', scope: 'transformer' },
  { name: 'Graph-Writer', scope: 'writer' },
];

function optionsPage(): string {
  return `# Options

Every option, by group. \`npm run docs\` makes this page from the table in \`src/config/options/options.ts\`.

- **Name.** The environment variable sets an option at start. \`PUT /updateConfig\` takes the same name, or the path, as \`configEntry\`.
- **Path.** Where \`GET /config\` shows the option, below \`serviceTransformerConfig\` (transformers) or \`serviceWriterConfig\` (graph writer).
  ${[...ROOT_PATHS].map(code).join(', ')} stands at the root.
- **Services.** Those that have the option: \`all\`, \`transformers\` (semi-structured and SQL), or their names.
- **Change.** \`live\`: \`PUT /updateConfig\` changes it for the whole fleet within a second, and each run keeps the values that it started with.
  \`start\`: a process reads it when it starts, from its environment; the meaning says why.
- **No effect yet.** Nothing reads the option in this version. Setting it in the environment gives a warning at start; \`PUT /updateConfig\` answers 501.
- A list is written with commas. A secret reads back as \`******\`.

${grouped()
  .map(
    ({ title, names }) =>
      `## ${title}\n\n${table(['name', 'path', 'type', 'default', 'services', 'change', 'meaning'], names.map(optionCells))}`,
  )
  .join('\n\n')}
`;
}

function grouped(): readonly { readonly title: string; readonly names: OptionName[] }[] {
  const groups: { title: string; names: OptionName[] }[] = [];
  for (const name of OPTION_NAMES) {
    const title = GROUPS.get(name);
    if (title !== undefined) groups.push({ title, names: [] });
    groups.at(-1)?.names.push(name);
  }
  if (groups.length !== GROUPS.size) throw new Error(`The table of options has ${groups.length} groups, not ${GROUPS.size}`);
  return groups;
}

function optionCells(name: OptionName): readonly string[] {
  const { path, aliases = [], type, default: value, live, start, instead, own, secret, summary } = optionRow(name);
  const also = aliases.length > 0 ? `; also ${codes(aliases)}` : '';
  const shown = own
    ? `${code(optionRow(own.of as OptionName).path)} of that service; as \`configEntry\` also ${code(path)}`
    : code(path) + also;
  return [
    code(name),
    shown,
    [type, ...(secret ? ['secret'] : []), ...bounds(name)].join(', '),
    value === undefined || (typeof value === 'object' && value.length === 0) ? '–' : code(String(value)),
    servicesOf(name),
    live ? 'live' : 'start',
    [summary, ...(start ? [`Read at start: ${start}.`] : []), ...(instead ? [`${instead}.`] : [])].join(' '),
  ];
}

function bounds(name: OptionName): readonly string[] {
  const { values, minimum, maximum, pattern } = optionRow(name);
  return [
    ...(values ? [values.map(code).join(' \\| ')] : []),
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
    ...(minimum !== undefined && maximum === undefined ? [`at least ${minimum}`] : []),
    ...(minimum === undefined && maximum !== undefined ? [`at most ${maximum}`] : []),
    ...(pattern ? [pattern.says] : []),
  ];
}

function servicesOf(name: OptionName): string {
  const services = SERVICES.filter((service) => optionsOf(service).includes(name));
  if (services.length === SERVICES.length) return 'all';
  if (services.length === 2 && services.every(({ scope }) => scope === 'transformer')) return 'transformers';
  return services.map((service) => service.name).join(', ');
}

const code = (text: string): string => `\`${text}\``;
const codes = (texts: readonly string[]): string => (texts.length === 0 ? '–' : texts.map(code).join(', '));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
