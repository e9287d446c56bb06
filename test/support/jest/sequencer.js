/** Asks Jest and git what `arrange` wants to know about each test file. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { arrange } from './order.js';

/** Seconds of the files that take long, measured on two cores; where Jest has run a file before, its own figure counts. */
const SECONDS = JSON.parse(readFileSync(new URL('seconds.json', import.meta.url), 'utf8'));

export default class extends Sequencer {
  sort(tests) {
    const [first] = tests;
    if (first === undefined) return [];
    const root = first.context.config.rootDir;
    const files = tests.map((test) => {
      const path = relative(root, test.path).split(sep).join('/');
      const [status, milliseconds] = this._getCache(test)[test.path] ?? [];
      return { test, path, hasFailed: status === 0, seconds: milliseconds === undefined ? (SECONDS[path] ?? 0) : milliseconds / 1000 };
    });
    return arrange(files, changedFiles(root)).map(({ test }) => test);
  }
}

/** What differs from the commit before the last one: the last commit, and what is not committed yet. None where there is no such commit. */
function changedFiles(root) {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const names = `${git('diff', '--relative', '--name-only', 'HEAD~1')}${git('ls-files', '--others', '--exclude-standard')}`;
    return names.split('\n').filter((name) => name !== '');
  } catch {
    return [];
  }
}
