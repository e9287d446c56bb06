/** The commands of docs/migrating.md, as they stand there. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { PEOPLE, peopleMapping } from '../support/service/inputs.ts';
import { withFiles } from './faults/trial.ts';

const page = await readFile(join(PROJECT_ROOT, 'docs/migrating.md'), 'utf8');
const COMMANDS = [...page.matchAll(/^```sh\n(.*?)\n```/gms)].map(([, command]) => command as string);

test.each(COMMANDS)('%s', async (command) => {
  const files = { 'mapping.ttl': peopleMapping('csv', 'people.csv'), 'people.csv': PEOPLE.csv, 'people-2026.csv': PEOPLE.csv };
  await withFiles(files, async (directory) => {
    await mkdir(join(directory, 'bin'));
    await symlink(join(PROJECT_ROOT, 'bin/quadmill.js'), join(directory, 'bin/quadmill'));
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('npx quadmill', `${process.execPath} bin/quadmill`)], {
      cwd: directory,
    });
    const [, output] = / -o (\S+)/.exec(command) ?? [];
    const told = output === undefined ? stdout : await readFile(join(directory, output), 'utf8');
    expect(told).toContain(command.includes(' check ') ? 'nothing wrong' : 'Ann');
  });
});

test('options that the page names are those of the command', async () => {
  const { stdout: help } = await promisify(execFile)(process.execPath, [join(PROJECT_ROOT, 'bin/quadmill.js'), 'run', '--help']);
  // The right column of the tables, which is about Quadmill.
  const right = [...page.matchAll(/^\| .* \| (.*) \|$/gm)].map(([, cell]) => cell as string).join(' ');
  const named = [...new Set([...right.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option))];
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((option) => !help.includes(`${option} `) && !help.includes(`${option}\n`))).toEqual([]);
});
