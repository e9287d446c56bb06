/** The fault of V8 from which `src/oxigraph` keeps the process. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { built } from '../../support/project-root.ts';

/**
 * Deoptimises a function during its call of a WebAssembly function that returns a reference, as oxigraph's do:
 * `(import "from" "js" (func)) (func (export "reference") (result externref) call 0 ref.null extern)`.
 */
const DEOPTIMISE = `
const { setFlagsFromString } = await import('node:v8');
setFlagsFromString('--allow-natives-syntax');
const code = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 8, 2, 0x60, 0, 0, 0x60, 0, 1, 0x6f,
  2, 11, 1, 4, ...Buffer.from('from'), 2, ...Buffer.from('js'), 0, 0,
  3, 2, 1, 1,
  7, 13, 1, 9, ...Buffer.from('reference'), 0, 1,
  10, 8, 1, 6, 0, 0x10, 0, 0xd0, 0x6f, 0x0b,
]);
let inside = () => {};
const { instance } = await WebAssembly.instantiate(code, { from: { js: () => inside() } });
const { reference } = instance.exports;
const caller = eval('(function caller(reference, object) { return [reference(), object.x]; })');
const optimise = eval(\`(function () {
  %PrepareFunctionForOptimization(caller);
  caller(reference, { x: 1 });
  caller(reference, { x: 1 });
  %OptimizeFunctionOnNextCall(caller);
  caller(reference, { x: 1 });
})\`);
optimise();
inside = eval('(function () { %DeoptimizeFunction(caller); })');
process.stdout.write(JSON.stringify(caller(reference, { x: 1 })));
`;

const run = (before: string) =>
  spawnSync(process.execPath, ['--input-type=module', '--eval', before + DEOPTIMISE], { encoding: 'utf8', timeout: 60_000 });

describe('a caller of WebAssembly that is deoptimised during its call', () => {
  // Where Node does not fail any more, the module is not needed.
  (process.version.startsWith('v20.') ? test : test.skip)('ends the process without the module, on Node 20', () => {
    const { status, stdout } = run('');
    expect(status).not.toBe(0);
    expect(stdout).toBe('');
  });

  test('goes on with it', () => {
    const { status, stdout, stderr } = run(`await import(${JSON.stringify(built('src/oxigraph/oxigraph.js').href)});`);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '[null,1]', stderr: '' });
  });
});
