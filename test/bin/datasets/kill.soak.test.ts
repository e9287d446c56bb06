/** Runs into a dataset that are killed at any moment: the dataset is at the version before, or at the new one, and the next run makes it whole. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { Random } from '../../support/random.ts';

const COMMAND = join(PROJECT_ROOT, 'bin', 'quadmill.js');
const KILLS = Number(process.env.KILLS ?? 40);
const ROWS = 4000;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-kill-'));
  writeFileSync(
    join(directory, 'm.ttl'),
    `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<#P> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "p.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/p/{id}" ; rml:class ex:P ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`,
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

function quadmill(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  expect([args, status, stderr]).toEqual([args, 0, stderr]);
  return stdout;
}

const sorted = (text: string): string => text.split('\n').toSorted().join('\n');

test(`${KILLS} kills`, async () => {
  const random = new Random(1);
  const rows = new Map<number, number>();
  const write = (): void => {
    for (let i = 0; i < 50; i++) {
      const id = random.between(0, ROWS);
      if (random.chance(0.3)) rows.delete(id);
      else rows.set(id, random.between(0, 9));
    }
    writeFileSync(join(directory, 'p.csv'), `id,name\n${[...rows].map(([id, name]) => `${id},${name}`).join('\n')}\n`);
  };
  for (let id = 0; id < ROWS; id++) rows.set(id, 0);
  let version = 0;
  /** Of a run that is not killed. */
  let milliseconds = 250;
  const ends = { before: 0, after: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    write();
    const run = spawn(process.execPath, [COMMAND, 'run', 'm.ttl', '--dataset', 'd'], { cwd: directory, stdio: 'ignore' });
    const ended = new Promise((resolve) => run.once('exit', resolve));
    // Half of them in the short time in which files are compared and published.
    if (random.chance(0.5)) while (!existsSync(join(directory, 'd', 'state', 'temporary')) && run.exitCode === null) await sleep(1);
    await Promise.race([sleep(random.between(0, Math.ceil(milliseconds * 1.2))), ended]);
    run.kill('SIGKILL');
    await ended;
    // Whatever is there can be read, and is one of the two.
    if (existsSync(join(directory, 'd', 'dataset.json'))) {
      const log = quadmill('dataset', 'log', 'd', '--format', 'json').trim().split('\n').filter(Boolean);
      expect([version, version + 1]).toContain(log.length);
      ends[log.length === version ? 'before' : 'after']++;
    }
    const started = performance.now();
    quadmill('run', 'm.ttl', '--dataset', 'd', '-o', 'whole.nq');
    milliseconds = performance.now() - started;
    quadmill('run', 'm.ttl', '-o', 'plain.nq');
    const plain = sorted(readFileSync(join(directory, 'plain.nq'), 'utf8'));
    expect(sorted(readFileSync(join(directory, 'whole.nq'), 'utf8'))).toBe(plain);
    expect(sorted(quadmill('dataset', 'export', 'd'))).toBe(plain);
    version = quadmill('dataset', 'log', 'd', '--format', 'json').trim().split('\n').length;
  }
  expect(ends.before).toBeGreaterThan(0);
  expect(ends.after).toBeGreaterThan(0);
}, 3_600_000);
