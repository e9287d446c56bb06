/** What programs import: `import { executeRun } from 'quadmill'`. docs/library.md shows how. */

export { Fault, type FaultCode, type FaultData, type FaultPlace } from '../core/fault.ts';
export type { RunLimits } from '../core/limits.ts';
export { type FileSinkOptions, openFileSink } from '../sinks/file.ts';
export type { OutputFormat, PartFile, QuadSink } from '../sinks/sink.ts';
export { openStreamSink, type StreamSinkOptions } from '../sinks/stream.ts';
export {
  type DatabaseAccess,
  type ErrorPolicy,
  type InputBinding,
  type Rejection,
  RUN_DEFAULTS,
  type RunHooks,
  type RunReport,
  type RunRequest,
  type TriplesMapReport,
} from './request.ts';
export { executeRun } from './run.ts';
