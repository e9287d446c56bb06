/** `npm run bench -- --flame DIRECTORY`: where the time of a run goes, as a flame graph and as shares of rooms. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../../conformance/summary.ts';
import { built } from '../../support/project-root.ts';
import { node } from '../measure.ts';
import type { Workload } from '../workloads.ts';
import { flameGraph, framesOf, type Profile, sharesOf } from './flame.ts';

/** The modules of `tsc` instead of the bundle: their names tell the rooms. */
const START = 'import(process.argv[1]).then(({ main }) => main(process.argv.slice(2))).then((code) => { process.exitCode = code; })';
const ROOMS_SHOWN = 12;

/** Writes `flame-WORKLOAD.svg` and prints the shares. Statements go nowhere. */
export async function profileWorkload(name: string, workload: Workload, data: string, directory: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'quadmill-profile-'));
  try {
    const profiling = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', scratch];
    const run = ['run', workload.mapping, ...workload.options, '--threads', '1', '-o', '/dev/null'];
    const { code, err } = await node([...profiling, '-e', START, built('bin/main.js').href, ...run], join(data, workload.folder));
    if (code !== 0) throw new Error(`quadmill ended with code ${code}: ${err}`);
    const [file] = (await readdir(scratch)).filter((one) => one.endsWith('.cpuprofile'));
    const root = framesOf(JSON.parse(await readFile(join(scratch, file as string), 'utf8')) as Profile);
    const path = join(directory, `flame-${name}.svg`);
    await writeFile(path, flameGraph(root, `quadmill run, ${name}, Node ${process.version}`));
    const shares = sharesOf(root).slice(0, ROOMS_SHOWN);
    console.log(`\n${path}\n${table([['room', 'share'], ...shares.map(([room, share]) => [room, `${(100 * share).toFixed(1)} %`])])}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
