/** Requests of runs of the fake engine. */
import { join } from 'node:path';
import type { TransformRequest } from '../../../queues/jobs.ts';
import type { BusState } from '../../../queues/messaging/bus.ts';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';

/** The state of a bus that cannot be switched off. */
export const ALWAYS_ON: BusState = { isOn: () => true, onChange: () => () => undefined };

/** Ends at once unless `act` says otherwise, see `queues/engine.ts`. */
export const tinyRun = (directory: string, act = 'ok'): TransformRequest => ({
  service: 'semi-structured-transformer',
  inputs: [{ name: 'people', url: act }],
  mappings: ['file:///mapping.ttl'],
  run: { ...RUN_DEFAULTS, memoryBudgetBytes: 1e6, maxRecordBytes: 1e6 },
  sliceRows: 0,
  output: { directory: join(directory, 'output'), format: 'nquads' },
});
