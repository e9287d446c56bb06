/** The cases of the public suites, as their manifest lists them. Fields that the harness does not use are left out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ExpectedOutput {
  readonly file: string;
  /** `default`: what the run writes; `target`: what the logical target of that name must hold. */
  readonly role: 'default' | 'target';
  readonly mediaType: string;
  readonly compression?: string;
  readonly encoding?: string;
}

export interface Case {
  readonly suite: string;
  readonly id: string;
  /** Relative to the manifest; all other paths are relative to it. */
  readonly dir: string;
  readonly format: string;
  readonly mappingLanguage: 'RML' | 'RML-legacy' | 'R2RML' | 'DirectMapping';
  readonly mapping: string | null;
  readonly inputs: readonly string[];
  readonly databaseScript: string | null;
  readonly expectsError: boolean;
  readonly expectedOutputs: readonly ExpectedOutput[];
  readonly baseIRI: string;
  /** Source as the mapping spells it → file of the case. */
  readonly sourceOverrides?: Readonly<Record<string, string>>;
  /** Why the case is broken or disputed. */
  readonly contested?: readonly string[];
}

/** undefined when the folder has no manifest. A case for any database is one for each that we have. */
export function readManifest(directory: string): readonly Case[] | undefined {
  try {
    const { cases } = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as { cases: readonly Case[] };
    return cases.flatMap((test) =>
      test.format === 'SQL' ? ['MySQL', 'PostgreSQL'].map((format) => ({ ...test, format, id: `${test.id}-${format}` })) : [test],
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
