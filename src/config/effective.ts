/** The effective value of an option for one service: its own value, the value for the fleet, or a default. */
import { directories, mappingsOf } from './directories.ts';
import { OPTION_NAMES, type OptionName, optionRow, type Snapshot } from './options/options.ts';
import type { OptionScope } from './options/row.ts';

/** A service, from the point of view of its configuration. */
export interface DocumentService {
  /** The name in messages, such as `SQL-Transformer`. */
  readonly name: string;
  readonly scope: OptionScope;
  /** Base of relative paths in options; absent: the working directory of the process. */
  readonly workingDirectory?: string;
}

/** The options of a service, including its own. */
export function optionsOf({ name, scope }: DocumentService): readonly OptionName[] {
  return OPTION_NAMES.filter((option) => {
    const row = optionRow(option);
    return (row.scope ?? scope) === scope && (row.own?.service ?? name) === name;
  });
}

/** The service's own option that overrides a common one. */
export function ownOption(option: OptionName, { name }: DocumentService): OptionName {
  return OPTION_NAMES.find((one) => isOwn(one, option, name)) ?? option;
}

function isOwn(own: OptionName, option: OptionName, service: string): boolean {
  const row = optionRow(own).own;
  return row?.of === option && row.service === service;
}

/** The option at whose path this one is shown. */
export const sharedOption = (option: OptionName): OptionName => (optionRow(option).own?.of as OptionName | undefined) ?? option;

/** The effective value for the service; undefined: none. */
export function effectiveValue(option: OptionName, snapshot: Snapshot, service: DocumentService): Snapshot[OptionName] {
  const shared = sharedOption(option);
  const own = snapshot[ownOption(shared, service)];
  if (own !== undefined && ownOption(shared, service) !== shared) return own;
  const { workingDirectory } = service;
  switch (shared) {
    case 'FRIENDLY_NAME':
      return snapshot.FRIENDLY_NAME ?? service.name;
    case 'DELETE_SOURCE':
      return deletesSource(service.scope, snapshot);
    case 'KAFKA_TOPIC_NAME_SOURCE':
      // A string in the document, also where there is no topic.
      return sourceTopic(service.name === 'SQL-Transformer' ? 'sql-transformer' : 'semi-structured-transformer', snapshot) ?? '';
    case 'MAPPINGS_DIR_URL':
      return mappingsOf(service.name === 'SQL-Transformer' ? 'sql-transformer' : 'semi-structured-transformer', snapshot, workingDirectory);
    case 'OUTPUT_DIR_URL':
      return directories(snapshot, workingDirectory).output;
    case 'DATASETS_DIR_URL':
      return directories(snapshot, workingDirectory).datasets;
    case 'PROV_OUTPUT_DIR_URL':
      return directories(snapshot, workingDirectory).provenance;
    case 'PROV_KAFKA_BROKERS':
      return snapshot.PROV_KAFKA_BROKERS.length > 0 ? snapshot.PROV_KAFKA_BROKERS : snapshot.KAFKA_BROKERS;
    default:
      return snapshot[shared];
  }
}

/** The source topic of a transformer. If both transformers are in one process, messages without an address go to the semi-structured one. */
export function sourceTopic(service: 'semi-structured-transformer' | 'sql-transformer', snapshot: Snapshot): string | undefined {
  if (service === 'semi-structured-transformer') return snapshot.KAFKA_TOPIC_NAME_SOURCE;
  const shared = snapshot.SERVICE === 'all' ? undefined : snapshot.KAFKA_TOPIC_NAME_SOURCE;
  return snapshot.SQL_TRANSFORMER_KAFKA_TOPIC_NAME_SOURCE ?? shared;
}

/** Where all services are in one process, the inputs of the graph writer are the output of the others, so it deletes them only by its own option. */
export function deletesSource(scope: OptionScope, { DELETE_SOURCE, GRAPH_WRITER_DELETE_SOURCE, SERVICE }: Snapshot): boolean {
  return scope === 'writer' ? (GRAPH_WRITER_DELETE_SOURCE ?? (DELETE_SOURCE && SERVICE !== 'all')) : DELETE_SOURCE;
}
