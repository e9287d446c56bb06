/** Runs the loader of a store. */
import { spawn } from 'node:child_process';
import { Fault } from '../core/fault.ts';

export interface Program {
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** What the user gets it from, for the message when it is missing. */
  readonly from: string;
  /** What to do after a failure. */
  readonly hint: string;
}

/** What is kept of the output, from its end. */
const KEPT_CHARACTERS = 4_000;
const SHOWN_LINES = 12;

/**
 * @returns the end of what it has written to its standard output
 * @throws Fault config/invalid — it is not there
 * @throws Fault target/refused — it has failed: with the last lines of its output
 */
export async function runProgram({ command, args, from, hint }: Program, signal: AbortSignal): Promise<string> {
  const [file = '', ...first] = command;
  const child = spawn(file, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGTERM' });
  const output = { stdout: '', all: '' };
  const keep = (text: string, chunk: string): string => (text + chunk).slice(-KEPT_CHARACTERS);
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout = keep(output.stdout, chunk);
    output.all = keep(output.all, chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output.all = keep(output.all, chunk);
  });
  const ended = await new Promise<{ readonly error?: Error; readonly code?: number | null; readonly by?: NodeJS.Signals | null }>(
    (resolve) => {
      child.once('error', (error) => resolve({ error }));
      child.once('close', (code, by) => resolve({ code, by }));
    },
  );
  signal.throwIfAborted();
  if (ended.error !== undefined) {
    throw new Fault('config/invalid', `The loader ${file} cannot be started: ${ended.error.message}`, {
      hint: `It comes with ${from}; --loader names the command that starts it`,
      cause: ended.error,
    });
  }
  if (ended.code === 0) return output.stdout;
  const lines = output.all.trim().split('\n').slice(-SHOWN_LINES).join('\n  ');
  throw new Fault(
    'target/refused',
    `The loader ${file} has failed (${ended.code === null ? `signal ${ended.by}` : `exit code ${ended.code}`}):\n  ${lines}`,
    { hint },
  );
}
