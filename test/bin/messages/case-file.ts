/**
 * Files of cases: what is given and what the user reads, side by side.
 *
 * `=== name` begins a case, `--- name` a file of it. After the name of a file may stand how its text is stored (`latin1`, `utf16`, `hex`,
 * `gzip`), or `= NAME` for a mapping of `faults/mappings.ts`. `--- args` holds the command line, by default `run mapping.ttl -o out.nq`.
 * `--- told` is what standard output and standard error show, and the exit code. Lines before the first case say what the cases have in
 * common.
 */
import { gzipSync } from 'node:zlib';
import { CSV, encoded, idAsIri, JSON_PATH, XPATH } from '../faults/mappings.ts';
import type { Files } from '../faults/trial.ts';

export interface Case {
  readonly name: string;
  readonly files: Files;
  readonly args: readonly string[];
  readonly told: string;
}

const MAPPINGS: Readonly<Record<string, string>> = {
  CSV,
  JSON: JSON_PATH,
  XML: XPATH,
  'CSV of UTF-8': encoded(CSV, 'UTF-8'),
  'CSV with ids as IRIs': idAsIri(CSV),
};

const STORED: Readonly<Record<string, (text: string) => string | Uint8Array>> = {
  latin1: (text) => Buffer.from(text, 'latin1'),
  utf16: (text) => Buffer.from(text, 'utf16le'),
  hex: (text) => Buffer.from(text.replace(/\s/g, ''), 'hex'),
  gzip: (text) => gzipSync(text),
};

export function casesIn(text: string): readonly Case[] {
  const [, ...cases] = text.split(/^=== /m);
  return cases.map(caseOf);
}

function caseOf(text: string): Case {
  const [heading, ...sections] = text.split(/^--- /m) as [string, ...string[]];
  const files: Record<string, string | Uint8Array> = {};
  let args = 'run mapping.ttl -o out.nq';
  let told = '';
  for (const section of sections) {
    const end = section.indexOf('\n');
    const head = section.slice(0, end);
    const content = section.slice(end + 1);
    const [, name, how] = /^(\S+) ?(.*)$/.exec(head) as RegExpExecArray;
    if (name === 'told') told = content;
    else if (name === 'args') args = content.trim();
    else files[name as string] = contentOf(how as string, content);
  }
  return { name: heading.trim(), files, args: args.split(' '), told: told.trimEnd() };
}

function contentOf(how: string, text: string): string | Uint8Array {
  if (how === '') return text;
  if (how === 'without its last line feed') return text.replace(/\n$/, '');
  const mapping = MAPPINGS[how.replace(/^= /, '')];
  if (mapping !== undefined) return mapping;
  const store = STORED[how];
  if (store === undefined) throw new Error(`no way to store a file is called ${how}`);
  return store(text);
}

/** The text with what each case tells now. */
export function withTold(text: string, told: readonly string[]): string {
  const [preface, ...cases] = text.split(/^(?==== )/m) as [string, ...string[]];
  const now = cases.map((one, i) => `${one.replace(/^--- told\n[^]*$/m, '').trimEnd()}\n--- told\n${told[i]}\n`);
  return `${preface}${now.join('\n')}`;
}
