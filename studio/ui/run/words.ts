/** Sentences of running a model and writing what it gave. */
import { DATASET_NAME_SAYS } from '../../../src/core/text.ts';

export const WORDS = {
  run: 'Run',
  keys: 'Ctrl+Shift+Enter',
  title: (name: string): string => `Run ${name}`,
  loading: 'Loading …',
  neverSaved: 'A run reads the saved model. Save it first.',
  unsaved: 'A run reads the saved model, without the changes since.',
  needsOperator: 'Running needs the role operator.',
  noInputs: 'The model has no file that a run could read. Add an input first.',
  location: (name: string): string => `Location of ${name}`,
  missing: 'Type a path or URL.',
  check: 'Check',
  checking: 'reading …',
  checked: (format: string, size: string | undefined): string => `can be read as ${format}${size === undefined ? '' : `, ${size}`}`,
  start: 'Start',
  starting: 'Starting …',
  master: (file: string): string => `The SQL transformer runs its master mapping, ${file}, on the database of its configuration.`,
  notMaster: (name: string, file: string): string => `A run would read ${file}, not ${name}.`,
  makeMaster: (name: string): string => `Make ${name} the master mapping`,
  makeMasterNeeds: 'Changing the master mapping needs the role admin.',
  runs: 'Newest runs',
  noRuns: 'There was no run yet.',
  show: 'Show',
  back: 'Back to the inputs',
  cancel: 'Cancel the run',
  cancelling: 'Cancelling …',
  tryAgain: 'Try again',
  states: {
    queued: 'Waiting for a worker',
    running: 'Running',
    retrying: 'Waiting for another attempt',
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },
  progress: 'Progress of the run',
  counts: (records: number, statements: number): string => `${count(records)} records, ${count(statements)} statements`,
  read: (bytes: string, rate: string | undefined): string => `${bytes} read${rate === undefined ? '' : `, ${rate} statements/s`}`,
  rate: (statements: number): string => count(Math.round(statements)),
  took: (milliseconds: number): string =>
    milliseconds < 1_000
      ? `in ${Math.round(milliseconds)} ms`
      : `in ${(milliseconds / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`,
  rejected: (records: number): string => `${count(records)} ${records === 1 ? 'record was' : 'records were'} rejected.`,
  rejectedStatements: (statements: number): string =>
    `${count(statements)} ${statements === 1 ? 'statement was' : 'statements were'} rejected.`,
  warnings: 'Warnings',
  outputs: 'Output',
  noOutput: 'The run made no statement, so there is no output.',
  openOutput: 'Open output',
  download: 'Download',
  downloadOf: (file: string): string => `Download ${file}`,
  version: {
    name: 'Dataset',
    hint: 'With a name, the service keeps the graph, and each run adds a version of what has changed.',
    wrong: `A name has ${DATASET_NAME_SAYS}.`,
    made: (dataset: string, version: number, added: number, removed: number): string =>
      `${dataset}: version ${version}, ${count(added)} ${added === 1 ? 'statement' : 'statements'} added, ${count(removed)} removed.`,
    same: (dataset: string, version: number): string => `${dataset}: nothing has changed since version ${version}.`,
    see: 'See what has changed',
    all: 'See its versions',
    files: 'Files of the version',
    written: (dataset: string, version: number, statements: number): string =>
      `The store has version ${version} of ${dataset}: ${count(statements)} ${statements === 1 ? 'statement was' : 'statements were'} added or removed`,
  },
  place: {
    mapping: 'Mapping',
    input: 'Input',
    record: 'Record',
    line: 'Line',
    byte: 'Byte',
    expression: 'Expression',
    value: 'Value',
  },
  write: {
    title: 'Write to target',
    target: (type: string, location: string): string => (location === 'embedded' ? 'The embedded store' : `${location} (${type})`),
    mode: 'What the target has already',
    modes: {
      insert: 'Insert: it stays, and the statements are added',
      update: 'Update: values of the same subjects and predicates are replaced, as far as UPDATE_SCOPE says',
    },
    check: 'Check connection',
    checked: (product: string, milliseconds: number): string => `${product} answers in ${Math.round(milliseconds)} ms.`,
    write: 'Write',
    written: (statements: number, target: string, mode: string): string => `${count(statements)} statements written to ${target} (${mode})`,
  },
} as const;

function count(value: number): string {
  return value.toLocaleString('en');
}
