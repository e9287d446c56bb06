/** The writer and the store are killed in mid-write; the write goes on, and the store holds what the input says, no more and no less. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FaultData } from '../../../src/core/fault.ts';
import type { WritePosition, WriteProgress, WriteReport, WriteRequest } from '../../../src/write/request.ts';
import { type Fuseki, missingFuseki, startFuseki } from '../../servers/stores/fuseki.ts';
import { built } from '../../support/project-root.ts';
import { dice, type Workspace, workspace } from './writing.ts';

const missing = await missingFuseki();
const SCRIPT = fileURLToPath(built('test/src/write/writer.js'));
const TIMEOUT_MS = 600_000;

type Said = { readonly progress: WriteProgress } | { readonly report: WriteReport } | { readonly fault: FaultData };

interface Writer {
  readonly position: WritePosition | undefined;
  /** Resolves with its last words; undefined: it was killed. */
  readonly ended: Promise<Exclude<Said, { progress: WriteProgress }> | undefined>;
  /** Resolves when there is a position beyond this one, or the process has ended. */
  beyond(position: WritePosition | undefined): Promise<void>;
  kill(): void;
}

function startWriter(request: WriteRequest, directory: string): Writer {
  const file = join(directory, `${request.runId}.json`);
  writeFileSync(file, JSON.stringify(request));
  const child = spawn(process.execPath, [SCRIPT, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let position = request.resume;
  let last: Exclude<Said, { progress: WriteProgress }> | undefined;
  let over = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as Said;
    if ('progress' in said) position = said.progress.position ?? position;
    else last = said;
  });
  const ended = new Promise<typeof last>((resolve) => {
    child.once('close', () => {
      over = true;
      resolve(last);
    });
  });
  return {
    get position() {
      return position;
    },
    ended,
    async beyond(from) {
      while (!over && (position === undefined || position.done <= (from?.done ?? 0))) await sleep(20);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Subjects of five statements in three graphs; each statement once. */
function* lines(count: number, version: number): Generator<string> {
  for (let i = 0; i < count; i++) {
    const subject = Math.floor(i / 5);
    const graph = subject % 3 === 0 ? '' : ` <http://example.com/g${subject % 3}>`;
    const object = i % 5 === 0 ? `<http://example.com/s${(subject * 7) % (count / 5)}>` : `"value ${i} of ${version}, \u00fcber \u{1f600}"`;
    yield `<http://example.com/s${subject}> <http://example.com/p${i % 5}> ${object}${graph} .`;
  }
}

/** What is written, and how many statements. */
export type Kill = readonly [name: string, count: number, mode: Partial<WriteRequest>];

const describeIf = missing === undefined ? describe : describe.skip;

/** For each row: the writer is killed, and the store is. */
export function killSuite(cases: readonly Kill[]): void {
  describeIf(`writing to Fuseki${missing === undefined ? '' : ` (not tested: ${missing})`}`, () => killsOf(cases));
}

function killsOf(cases: readonly Kill[]): void {
  let space: Workspace;
  let fuseki: Fuseki;

  beforeAll(async () => {
    space = workspace();
    const started = await startFuseki();
    if ('skip' in started) throw new Error(started.skip);
    fuseki = started;
  }, TIMEOUT_MS);

  afterAll(async () => {
    await fuseki?.stop();
    space?.remove();
  }, TIMEOUT_MS);

  const post = async (type: string, body: string): Promise<void> => {
    const path = type === 'application/sparql-update' ? '/update' : '';
    const answer = await fetch(`${fuseki.tdb}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  };

  const content = async (): Promise<string[]> => {
    const answer = await fetch(fuseki.tdb, { headers: { accept: 'application/n-quads' } });
    return (await answer.text())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/ *\.$/, ' .'))
      .sort();
  };

  const requestTo = (file: string, mode: Partial<WriteRequest>): WriteRequest => ({
    ...space.request([file], { patienceSeconds: 120, ...mode }),
    target: {
      type: 'fuseki',
      endpoint: fuseki.tdb,
      username: undefined,
      password: undefined,
      ca: undefined,
      requestSeconds: 120,
      connectSeconds: 5,
      database: undefined,
      propertyGraph: { prefixes: {}, keepLanguage: false },
    },
  });

  test.each(cases)(
    'the writer is killed in mid-write, three times (%s)',
    async (_, count, mode) => {
      const { below } = dice(count + (mode.scope ?? '').length);
      await post('application/sparql-update', 'DROP ALL');
      // What an update finds there, and has to go.
      if (mode.mode === 'update') await post('application/n-quads', [...lines(1000, 1)].join('\n'));
      const expected = [...lines(count, 2)].sort();
      const request = requestTo(space.file('input.nq', [...lines(count, 2)].join('\n')), mode);
      let resume: WritePosition | undefined;
      let kills = 0;
      const resumed: number[] = [];
      let report: WriteReport | undefined;
      while (report === undefined) {
        const writer = startWriter({ ...request, resume }, space.directory);
        if (kills < 3) {
          await Promise.race([writer.beyond(resume), sleep(20_000)]);
          await sleep(below(300));
          writer.kill();
        }
        const last = await writer.ended;
        resume = writer.position;
        if (last === undefined && resume !== undefined) resumed.push(resume.quadsWritten);
        if (last === undefined) kills++;
        else if ('fault' in last) throw new Error(JSON.stringify(last.fault));
        else ({ report } = last);
      }
      // At least once it was neither at the beginning nor at the end.
      expect(resumed.filter((done) => done > 0 && done < count)).not.toEqual([]);
      expect(report).toMatchObject({ quadsWritten: count, rejected: 0, statements: count });
      expect(await content()).toEqual(expected);
    },
    TIMEOUT_MS,
  );

  test.each(cases)(
    'the store is killed in mid-write and comes back (%s)',
    async (_, count, mode) => {
      await post('application/sparql-update', 'DROP ALL');
      const writer = startWriter(requestTo(space.file('input.nq', [...lines(count, 3)].join('\n')), mode), space.directory);
      await writer.beyond(undefined);
      await fuseki.crash();
      await sleep(1000);
      await fuseki.restart();
      const last = await writer.ended;
      expect(last).toMatchObject({ report: { quadsWritten: count, rejected: 0, statements: count } });
      expect(await content()).toEqual([...lines(count, 3)].sort());
    },
    TIMEOUT_MS,
  );
}
