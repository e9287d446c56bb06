/**
 * The thread between a mapping thread, which waits, and a Java process, which answers through pipes. A mapping thread that waits cannot serve
 * pipes itself.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { parentPort, workerData } from 'node:worker_threads';
import { plainEnvironment } from '../../core/reach/environment.ts';
import type { FromRelay, RelayData, ToRelay } from './messages.ts';

const ERROR_CHARACTERS = 4_000;
/** How Java ends by `-XX:+ExitOnOutOfMemoryError`, and what it says then. A method may end it with the same code. */
const OUT_OF_MEMORY = 3;
const OUT_OF_MEMORY_WORDS = 'Terminating due to java.lang.OutOfMemoryError';

const port = parentPort;
if (port === null) throw new Error('the relay is started as a worker thread');
const { port: channel, signal, command, args, directory, greeting } = workerData as RelayData;

let child: ChildProcessWithoutNullStreams | undefined;

function tell(message: FromRelay, transfer: ArrayBuffer[] = []): void {
  channel.postMessage(message, transfer);
  Atomics.add(signal, 0, 1);
  Atomics.notify(signal, 0);
}

/** The process and those that it has started. Its pipes close with the last of them. */
function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Starts the process and greets it; its first answer says whether it has all methods. */
function start(): void {
  // A separate process group: what the code starts ends with it.
  const own = spawn(command, args, { cwd: directory, env: plainEnvironment('JAVA_HOME'), stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  child = own;
  let complaints = '';
  let parts: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  const end = (code: number | null, reason: string): void => {
    if (ended) return;
    ended = true;
    if (child === own) child = undefined;
    const outOfMemory = code === OUT_OF_MEMORY && complaints.includes(OUT_OF_MEMORY_WORDS);
    tell({ kind: 'ended', outOfMemory, reason: complaints.trim() === '' ? reason : `${reason}: ${complaints.trim()}` });
  };
  own.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-ERROR_CHARACTERS);
  });
  own.on('error', (error: NodeJS.ErrnoException) => end(null, error.code === 'ENOENT' ? 'there is no java here' : error.message));
  own.on('exit', () => killGroup(own));
  own.on('close', (code, how) => end(code, how === null ? `it ended with ${code}` : `it was ended by ${how}`));
  // The end of the process reports the same.
  own.stdin.on('error', () => undefined);
  own.stdout.on('data', (part: Buffer) => {
    parts.push(part);
    bytes += part.length;
    if (bytes < 4) return;
    const whole = parts.length === 1 ? part : Buffer.concat(parts, bytes);
    const length = whole.readInt32LE(0) + 4;
    if (bytes < length) {
      parts = [whole];
      return;
    }
    parts = [];
    bytes = 0;
    const answer = new Uint8Array(whole.subarray(4, length));
    tell({ kind: 'answer', bytes: answer }, [answer.buffer as ArrayBuffer]);
  });
  own.stdin.write(greeting);
}

channel.on('message', (message: ToRelay) => {
  switch (message.kind) {
    case 'start':
      start();
      return;
    case 'ask':
      child?.stdin.write(message.bytes);
      return;
    case 'kill':
      if (child !== undefined) killGroup(child);
      return;
  }
});
