/** The program xz as a child process: its standard input is packed or unpacked to its standard output. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Fault } from '../../core/fault.ts';
import { plainEnvironment } from '../../core/reach/environment.ts';

const MESSAGE_CHARACTERS = 1_000;

export interface XzProgram {
  readonly child: ChildProcessWithoutNullStreams;
  /** Settles when the process has ended and its output is read: what it says against its input; undefined if all is well. Never rejects. */
  readonly ended: Promise<string | undefined>;
  /** The same, as soon as the process has ended: its output may be unread. */
  readonly exited: Promise<string | undefined>;
}

/**
 * Starts it with one thread, whatever the machine has. It ends when its pipes are closed, also if this process is gone.
 *
 * @param code of the fault
 * @param input for the fault; undefined: an output
 * @throws Fault — it cannot be started
 */
export async function startXz(
  code: 'source/refused' | 'sink/failed',
  input: string | undefined,
  ...options: readonly string[]
): Promise<XzProgram> {
  const child = await spawned(options).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'is not installed' : `cannot be started: ${cause.message}`;
    throw new Fault(code, `The program xz, which reads and writes .tar.xz, ${reason}`, {
      ...(input === undefined ? {} : { place: { input } }),
      hint: 'Install XZ Utils (apt-get install xz-utils, apk add xz, brew install xz), or use .tar.gz',
      cause,
    });
  });
  // The end of the process reports the same.
  child.stdin.on('error', () => undefined);
  let message = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    message = (message + text).slice(0, MESSAGE_CHARACTERS);
  });
  const when = (event: 'exit' | 'close'): Promise<string | undefined> =>
    new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on(event, (status, signal) => resolve(status === 0 ? undefined : message.trim() || `xz ended with ${signal ?? status}`));
    });
  return { child, ended: when('close'), exited: when('exit') };
}

async function spawned(options: readonly string[]): Promise<ChildProcessWithoutNullStreams> {
  const child = spawn('xz', ['--format=xz', '--stdout', '--threads=1', ...options], {
    // Its messages are read here. In a group of processes without this one, an interrupt from the terminal lets a run end in order.
    env: { ...plainEnvironment(), LC_ALL: 'C' },
    stdio: 'pipe',
    detached: true,
    windowsHide: true,
  });
  // Before every other event.
  await once(child, 'spawn');
  return child;
}
