/** Reads YAML files of the project for tests, with the parser that comes with the test runner. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project-root.ts';

const { safeLoadAll } = createRequire(import.meta.url)('js-yaml') as { safeLoadAll(text: string): unknown[] };

/** Whatever YAML came: each test knows its own. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into documents of every shape
export type Yaml = any;

/** The documents of a file of the project. @throws with line and column, for invalid YAML and for a duplicate key */
export function readYaml(path: string): readonly Yaml[] {
  return safeLoadAll(readFileSync(join(PROJECT_ROOT, path), 'utf8'));
}
