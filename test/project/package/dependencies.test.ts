/** Which packages are used, under which licences, and from where. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { EXCEPTIONS, isAllowed, lockedPackages } from './dependencies.ts';

const packages = lockedPackages();

test('every package has a licence that is allowed, or is an exception with a reason', () => {
  expect(packages.length).toBeGreaterThan(300);
  const wrong = packages.filter(({ name, license }) => !isAllowed(license) && EXCEPTIONS[name]?.license !== license);
  expect(wrong.map(({ name, version, license }) => `${name}@${version}: ${license || 'no licence'}`)).toEqual([]);
});

test('every exception is needed', () => {
  const needed = packages.filter(({ license }) => !isAllowed(license)).map(({ name }) => name);
  expect(Object.keys(EXCEPTIONS).filter((name) => !needed.includes(name))).toEqual([]);
});

test('nothing with another licence than the allowed ones is installed with the program', () => {
  expect(packages.filter(({ installed, license }) => installed && !isAllowed(license))).toEqual([]);
});

test.each([
  ['MIT', true],
  ['MIT OR GPL-3.0-only', true],
  ['MIT AND GPL-3.0-only', false],
  ['(MIT OR GPL-3.0-only) AND ISC', true],
  ['(GPL-3.0-only OR AGPL-3.0-only) AND ISC', false],
  ['MIT AND ISC OR GPL-3.0-only', true],
  ['SEE LICENSE IN LICENSE.md', false],
  ['', false],
])('%s: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

test('every package comes from the public registry of npm, with a digest', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8');
  const { packages: locked } = JSON.parse(text) as { packages: Record<string, { resolved?: string; integrity?: string }> };
  const others = Object.entries(locked).filter(
    ([path, { resolved = '', integrity }]) =>
      path !== '' && ((resolved !== '' && !resolved.startsWith('https://registry.npmjs.org/')) || integrity === undefined),
  );
  expect(others.map(([path]) => path)).toEqual([]);
});
