/** Warnings of a process are lines of its log. In separate processes: what prints them is part of the process. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { compiled } from '../../../src/core/compiled.ts';

/** Standard output and standard error of a process that warns twice; the one with `known` is to be ignored. */
function warns(...nodeArgs: readonly string[]): { readonly out: readonly Record<string, unknown>[]; readonly err: string } {
  const script = `
    const [{ logWarnings }, { createLogger }] = await Promise.all(['warnings', 'observe'].map((name) => import(process.argv[1] + name + '.js')));
    logWarnings(createLogger(), ({ message }) => message.includes('known'));
    process.emitWarning('a known thing');
    process.emitWarning('something else, on redis://user:secret@host', 'OddWarning');`;
  const room = new URL('.', compiled('src/core/telemetry/warnings.js')).href;
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeArgs, '--input-type=module', '-e', script, room], { encoding: 'utf8' });
  return { out: stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])), err: stderr };
}

describe('warnings of Node', () => {
  test('are logged with their stack, and not printed', () => {
    const { out, err } = warns();
    expect([out.length, err]).toEqual([1, '']);
    expect(out[0]).toMatchObject({
      level: 'warn',
      msg: 'process warning',
      error: {
        type: 'OddWarning',
        message: 'something else, on redis://user:******@host',
        stack: expect.stringContaining('\n    at '),
      },
    });
  });

  test('are neither logged nor printed with --no-warnings', () => {
    expect(warns('--no-warnings')).toEqual({ out: [], err: '' });
  });
});
