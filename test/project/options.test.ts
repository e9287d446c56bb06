/** Every option has code that reads it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';
import { OPTION_NAMES, optionRow } from '../../src/config/options/options.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';

/** The program outside of the table of options, without comments and types. */
const program = ['src', 'queues', 'workers', 'api', 'bin']
  .flatMap((room) => readdirSync(join(PROJECT_ROOT, room), { recursive: true }).map((path) => join(room, String(path))))
  .filter((path) => path.endsWith('.ts') && !path.startsWith(join('src', 'config', 'options')))
  .map((path) => readFileSync(join(PROJECT_ROOT, path), 'utf8'))
  .filter((text) => OPTION_NAMES.some((name) => text.includes(name)))
  .map((text) => transformSync(text, { loader: 'ts', minifyWhitespace: true }).code)
  .join('\n');

/** A member (`snapshot.NAME`), or one that is taken apart (`{NAME,OTHER:other}`); the name within a message is neither. */
const isRead = (name: string): boolean => new RegExp(`[.{,]${name}(?![\\w ])`).test(program);

test.each(OPTION_NAMES)('%s is read', (name) => {
  const { own } = optionRow(name);
  // An own option of a service is read by way of the common one.
  expect(isRead(name) || (own !== undefined && isRead(own.of))).toBe(true);
});
