/**
 * What the programs of this folder share. Each maps one kind of workload with everything known beforehand: names and order of columns, which values
 * need escaping, what makes a row new. No engine that reads a mapping can do less, so their time is the bound that the engine is compared with.
 *
 *   node dist/test/bench/bounds/NAME.js FOLDER OUTPUT
 *
 * Text is held as UTF-8 in one-byte strings, as in the engine. At the end a line of JSON with times and memory goes to standard error.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const CHUNK_BYTES = 1 << 20;
const OUTPUT_BYTES = 1 << 20;

export const EX = 'http://example.com/ns#';
export const XSD = 'http://www.w3.org/2001/XMLSchema#';
export const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

export const [folder = '.', output = '/dev/null'] = process.argv.slice(2);

const descriptor = openSync(output, 'w');
const buffer = Buffer.allocUnsafeSlow(OUTPUT_BYTES);
let used = 0;

/** @param text of at most a megabyte */
export function write(text: string): void {
  if (text.length > OUTPUT_BYTES - used) flush();
  used += buffer.write(text, used, 'latin1');
}

function flush(): void {
  for (let from = 0; from < used; ) from += writeSync(descriptor, buffer, from, used - from);
  used = 0;
}

/** Completes the output and reports. */
export function end(quads: number): void {
  flush();
  closeSync(descriptor);
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const peakMemoryBytes = Number(/VmHWM:\s+(\d+)/.exec(ownStatus())?.[1] ?? maxRSS) * 1024;
  console.error(JSON.stringify({ quads, userSeconds: userCPUTime / 1e6, systemSeconds: systemCPUTime / 1e6, peakMemoryBytes }));
}

/** Elsewhere than on Linux there is none. */
function ownStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'latin1');
  } catch {
    return '';
  }
}

/** Calls `act` with the text between line feeds, the first line included. The last line ends with one. */
export function eachLine(file: string, act: (line: string) => void): void {
  const input = openSync(join(folder, file), 'r');
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let rest = '';
  for (let size = readSync(input, chunk); size > 0; size = readSync(input, chunk)) {
    const text = rest + chunk.toString('latin1', 0, size);
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      act(text.slice(from, to));
      from = to + 1;
    }
    rest = text.slice(from);
  }
  closeSync(input);
}

/** The cells of a line of CSV, which holds no line feed within quotes. */
export function cellsOf(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  const cells: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)) {
    cells.push(quoted === undefined ? (plain as string) : quoted.replaceAll('""', '"'));
  }
  return cells;
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '"': '\\"', '\\': '\\\\' };

/** The text of a literal without its quotes. */
export const escaped = (text: string): string =>
  /["\\\n\r]/.test(text) ? text.replace(/["\\\n\r]/g, (one) => ESCAPES[one] as string) : text;

const percentEncoded = new Map<string, string>();

/** A value in a template of an IRI. For columns with few values: each is remembered. */
export function encoded(text: string): string {
  let found = percentEncoded.get(text);
  if (found === undefined) {
    found = text.replace(/[^A-Za-z0-9\-._~\u0080-\u00ff]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
    percentEncoded.set(text, found);
  }
  return found;
}
