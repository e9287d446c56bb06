/** What programs import: `import { executeRun } from 'quadmill'`. docs/library.md shows how. */

export { RUN_DEFAULTS } from '../config/run-defaults.ts';
export { Fault, type FaultCode, type FaultData, type FaultPlace } from '../core/fault.ts';
export type { RunLimits } from '../core/limits.ts';
export { Secret } from '../core/secret.ts';
export { type FileSinkOptions, openFileSink } from '../sinks/file.ts';
export type { OutputFormat, PartFile, QuadSink } from '../sinks/sink.ts';
export { openStreamSink, type StreamSinkOptions } from '../sinks/stream.ts';
export { openTargetFile, type TargetFileOptions } from '../sinks/target-file.ts';
export type {
  DatabaseAccess,
  DatatypeCheck,
  ErrorPolicy,
  InputBinding,
  Rejection,
  RunHooks,
  RunReport,
  RunRequest,
  TargetReport,
  TriplesMapReport,
} from './request.ts';
export { executeRun } from './run.ts';
