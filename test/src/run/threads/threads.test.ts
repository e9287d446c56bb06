/** Groups of scans in threads: the same graph, the same faults. Through the built program, since threads run from `dist`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { built } from '../../../support/project-root.ts';

const QUADMILL = join(import.meta.dirname, '../../../../bin/quadmill.js');
let directory: string;

const map = (
  name: string,
) => `<#${name}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${name}.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/${name}/{id}" ; rml:class <http://example.com/ns#${name}> ] ;
  rml:predicateObjectMap [ rml:predicate <http://example.com/ns#iri> ; rml:objectMap [ rml:reference "v" ; rml:termType rml:IRI ] ] .\n`;

const run = (...options: string[]) =>
  spawnSync(process.execPath, [QUADMILL, 'run', 'mapping.ttl', ...options], { cwd: directory, encoding: 'utf8', maxBuffer: 2 ** 26 });

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-threads-'));
  const names = ['a', 'b', 'c', 'd'];
  writeFileSync(
    join(directory, 'mapping.ttl'),
    `@prefix rml: <http://w3id.org/rml/> .\n@base <http://example.com/> .\n${names.map(map).join('')}`,
  );
  for (const name of names) {
    const rows = Array.from({ length: 20_000 }, (_, i) => `${i},http://example.com/v/${i % 100}`);
    if (name === 'c') rows[15_000] = '15000,not an iri';
    writeFileSync(join(directory, `${name}.csv`), `id,v\n${rows.join('\n')}\n`);
  }
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('--threads', () => {
  test('three threads write what one writes', () => {
    const [one, three] = ['1', '3'].map((threads) => run('--on-error', 'skip', '--threads', threads, '--stats'));
    expect([one?.status, three?.status]).toEqual([0, 0]);
    const lines = (text = '') => text.split('\n').sort();
    expect(lines(three?.stdout)).toEqual(lines(one?.stdout));
    const counts = (text = '') => {
      const { records, quads, rejected } = JSON.parse(text.trim().split('\n').at(-1) as string);
      return { records, quads, rejected };
    };
    expect(counts(three?.stderr)).toEqual({ records: 80_000, quads: 159_998, rejected: 1 });
    expect(counts(one?.stderr)).toEqual(counts(three?.stderr));
  });

  test('a fault in one thread ends the run and leaves nothing', () => {
    const { status, stderr } = run('--threads', '3', '-o', 'out.nq');
    expect(status).toBe(1);
    expect(stderr).toContain('record 15000');
    expect(readdirSync(directory).filter((name) => name.includes('out'))).toEqual([]);
  });

  test('a run tells what its threads hold', async () => {
    const { executeRun } = (await import(built('src/run/run.js').href)) as typeof import('../../../../src/run/run.ts');
    let held = 0;
    let heard: () => void = () => undefined;
    const told = new Promise<void>((resolve) => {
      heard = resolve;
    });
    // The threads wait for the sink with what they have made, and the sink for their reports.
    const sink = { write: () => told, commit: async () => [], abort: async () => undefined };
    const memory = (bytes: number): void => {
      held = Math.max(held, bytes);
      heard();
    };
    const request = { ...RUN_DEFAULTS, runId: 'r1', mappings: ['mapping.ttl'], inputs: [], workingDirectory: directory };
    const { quads } = await executeRun(
      { ...request, onError: 'skip', threads: 2, threadBytes: 1_000, spillDirectory: join(directory, 'spill') },
      sink,
      { memory },
    );
    expect(quads).toBe(159_998);
    // An empty heap of V8 has some megabytes.
    expect(held).toBeGreaterThan(2 ** 22);
  });

  test('the limit of rejected records holds for all threads together', () => {
    const { status, stderr } = run('--threads', '3', '--on-error', 'skip', '--max-rejected', '0');
    expect(status).toBe(1);
    expect(stderr).toContain('More than 0 records were rejected');
  });
});
