/** Other versions of Node, fetched through npm: each is a package with the binary in it. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../project-root.ts';

/** `npm ci` empties it. */
const CACHE = join(PROJECT_ROOT, 'node_modules/.cache/node-versions');

/** Name of the package with the binary for this machine, as the package `node` chooses it. */
export function packageOfBinary(platform: string = process.platform, arch: string = process.arch): string {
  if (platform === 'win32') return `node-win-${arch === 'ia32' ? 'x86' : arch}`;
  return `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;
}

/** Path of a binary of that version, `24` or `24.21.0`. @throws Error with what npm says, when the version cannot be had */
export function nodeBinary(version: string): string {
  if (!/^\d+(\.\d+){0,2}$/.test(version)) throw new Error(`${version} is no version of Node: 24, or 24.21.0`);
  const name = packageOfBinary();
  const directory = join(CACHE, version);
  const binary = join(directory, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(binary)) {
    mkdirSync(directory, { recursive: true });
    // Not in the project: the directory has its own package.json from the beginning.
    const args = ['install', '--prefix', directory, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`];
    const { status, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8', timeout: 300_000 });
    if (status !== 0 || !existsSync(binary)) throw new Error(`npm cannot install ${name}@${version}: ${stderr}`);
  }
  return binary;
}

/** Runs the tests whose paths have one of `patterns` with another Node; resolves to the exit code. What tests start runs with it, too. */
export function testWith(binary: string, patterns: readonly string[], say: (text: string) => void): Promise<number> {
  const child = spawn(binary, [join(PROJECT_ROOT, 'node_modules/jest/bin/jest.js'), '--silent', ...patterns], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules', COUNTS_FILE: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', say);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** What differs most between versions of Node: threads, streams, HTTP, files, and what the engine's compiler makes of ours. */
export const REPRESENTATIVE: readonly string[] = [
  'test/src/mapping/golden',
  'test/src/run/golden',
  'test/src/run/threads',
  'test/src/run/spill',
  'test/src/sources/',
  'test/src/sinks/',
  'test/src/storage/',
  'test/conformance/',
  'test/project/package/package.test',
  'test/queues/backend/bullmq',
  'test/service/service.test',
];
