/** The format xz, written by the program xz. */
import { Duplex, Readable, Writable } from 'node:stream';
import { startXz, type XzProgram } from '../../storage/packed/xz-program.ts';

/** 100 MB of N-Quads become 5.5 MB in 2.4 s of processor time; by level 2 they take 5 s and no less room, by level 6 29 s and 4.8 MB. */
const LEVEL = 1;

/** Takes bytes and gives them compressed; memory of the process: 10 MB. @throws Fault sink/failed — there is no program xz */
export async function createXz(): Promise<Duplex> {
  const program = await startXz('sink/failed', undefined, '--compress', `-${LEVEL}`);
  const { child } = program;
  const stream = Duplex.from({ writable: inputOf(program), readable: Readable.from(outputOf(program), { objectMode: false }) });
  return stream.on('close', () => child.kill());
}

/** A pipe that breaks says nothing: the end of the process says why. */
function inputOf({ child, exited }: XzProgram): Writable {
  const settle = (done: (error?: Error) => void) => (error?: Error | null) =>
    error ? void exited.then((message) => done(new Error(message ?? error.message))) : done();
  return new Writable({
    write: (chunk: Buffer, _, done) => void child.stdin.write(chunk, settle(done)),
    final: (done) => void child.stdin.end(settle(done)),
  });
}

/** Ends only after the process did, so that no file without its end is taken for whole. */
async function* outputOf({ child, ended }: XzProgram): AsyncGenerator<Buffer, void, undefined> {
  yield* child.stdout;
  const message = await ended;
  if (message !== undefined) throw new Error(message);
}
