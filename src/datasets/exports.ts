/** What programs import: `import { runDataset } from 'quadmill/datasets'`. docs/library.md shows how. */

export type { ChangedLines, Folding } from './changes.ts';
export { Dataset } from './dataset.ts';
export { type DiffOptions, diffFiles } from './diff.ts';
export { type DatasetFiles, openFiles } from './files.ts';
export { type ChangeFormat, formatChanges, skolemising } from './formats.ts';
export type { Counts, DatasetDescription, Manifest, VersionFile, VersionInput } from './manifest.ts';
export { removeVersions } from './retention.ts';
export { type DatasetPlace, type DatasetReport, runDataset, type WholeOutputs } from './run.ts';
export { type Verified, verifyDataset } from './verify.ts';
