/** What happens to servers when the process that started them is gone before it could end them, for example by `kill -9`. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Waits for the end of its standard input, which is the end of the process that started it, or for the word that nothing is left to do. A server
 * that does not go by its signal is killed; the directory goes last, since an ending server may still write into it.
 */
const SCRIPT = `
read -r word && [ "$word" = done ] && exit
if [ -n "$1" ]; then
  kill -s "$2" "$1" 2>/dev/null
  tries=0
  while kill -0 "$1" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] || kill -s KILL "$1"
    sleep 0.1
  done
fi
[ -z "$3" ] || { rm -rf "$3" || { sleep 1; rm -rf "$3"; }; }
`;

/** Tells the guard that all is done. */
export type Release = () => void;

/**
 * From now on `server` ends, and then `directory` goes, when this process ends without having ended the server. A server that ends by
 * itself, or is ended by this process, needs no guard any more. Undefined stands for no server or no directory.
 */
export function guard(server: ChildProcess | undefined, directory: string | undefined, signal = 'KILL'): Release {
  // A separate group: what interrupts the tests by Ctrl-C must not take the guard along.
  const parameters = ['-c', SCRIPT, 'guard', String(server?.pid ?? ''), signal, directory ?? ''];
  const shell = spawn('/bin/sh', parameters, { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // It may be gone already, for example killed by hand.
  shell.stdin.on('error', () => undefined);
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  const release = (): void => void shell.stdin.end('done\n');
  server?.once('exit', release);
  return release;
}
