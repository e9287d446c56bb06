/** What tests of the writer have in common: a directory of inputs, a request, random statements. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_LIMITS } from '../../../src/core/limits.ts';
import type { RejectedStatement, Statement } from '../../../src/nquads/statement.ts';
import type { WriteHooks, WritePosition, WriteProgress, WriteRequest } from '../../../src/write/request.ts';
import { lineOf } from './memory-target.ts';

export interface Workspace {
  readonly directory: string;
  /** Writes a file and gives its path. */
  file(name: string, content: string | Uint8Array): string;
  request(inputs: readonly string[], more?: Partial<WriteRequest>): Omit<WriteRequest, 'target'>;
  remove(): void;
}

export function workspace(): Workspace {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-write-'));
  mkdirSync(join(directory, 'in'));
  let runs = 0;
  return {
    directory,
    file(name, content) {
      const path = join(directory, 'in', name);
      writeFileSync(path, content);
      return path;
    },
    request: (inputs, more = {}) => ({
      runId: `run-${++runs}`,
      inputs,
      workingDirectory: directory,
      mode: 'insert',
      scope: 'property',
      blankNodes: 'skolem',
      skolemBase: 'http://example.org/.well-known/genid/',
      maxRejected: Number.POSITIVE_INFINITY,
      patienceSeconds: 30,
      memoryBudgetBytes: 64 * 2 ** 20,
      limits: NO_LIMITS,
      spillDirectory: join(directory, 'spill'),
      reach: undefined,
      resume: undefined,
      ...more,
    }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Hooks that record their calls. */
export interface Heard extends WriteHooks {
  readonly rejected: readonly RejectedStatement[];
  readonly last: WriteProgress | undefined;
  readonly positions: readonly WritePosition[];
}

export function listening(signal: AbortSignal = new AbortController().signal): Heard {
  const rejected: RejectedStatement[] = [];
  const positions: WritePosition[] = [];
  let last: WriteProgress | undefined;
  return {
    signal,
    rejected,
    positions,
    get last() {
      return last;
    },
    reject: (one) => void rejected.push(one),
    progress(progress) {
      last = progress;
      if (progress.position !== undefined) positions.push(progress.position);
    },
  };
}

/** A small generator with a seed, so that a failure can be repeated. */
export function dice(seed: number) {
  let state = (seed * 2654435761) >>> 0 || 1;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return { below, pick };
}

/** Statements that meet each other: few subjects, predicates, objects and graphs; subjects mostly stand together. */
export function randomStatements(seed: number, count: number): Statement[] {
  const { below, pick } = dice(seed);
  const graphs = ['', '', '<http://e/g1>', '<http://e/g2>', '<http://e/g3>'];
  const subjects = Math.max(2, count >> 2);
  const found: Statement[] = [];
  let subject = '<http://e/s0>';
  for (let line = 1; line <= count; line++) {
    if (below(3) === 0) subject = `<http://e/s${below(subjects)}>`;
    const object = pick([`<http://e/o${below(9)}>`, `"${below(9)}"`, `"v${below(9)}"@en`, `"${below(9)}"^^<http://e/d>`]);
    found.push({ subject, predicate: `<http://e/p${below(4)}>`, object, graph: pick(graphs), line });
  }
  return found;
}

export const textOf = (statements: readonly Statement[]): string => statements.map((one) => `${lineOf(one)}\n`).join('');

export const contentOf = (statements: readonly Statement[]): string[] => [...new Set(statements.map(lineOf))].sort();
