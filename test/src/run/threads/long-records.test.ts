/** Records whose lines are written while they are made, by threads that share tables. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { executeRun } from '../../../../src/run/run.ts';
import type { QuadSink } from '../../../../src/sinks/sink.ts';

describe('a run', () => {
  const RECORDS = 8;
  const VALUES = 40_000;
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-long-'));
    // Of one record come 12 MB of lines: more than the buffers of a thread hold.
    const record = (id: number): string =>
      JSON.stringify({ s: id % 2, v: Array.from({ length: VALUES }, (_, i) => id * (VALUES / 2) + i) });
    writeFileSync(join(directory, 'a.jsonl'), Array.from({ length: RECORDS }, (_, id) => `${record(id)}\n`).join(''));
    writeFileSync(
      join(directory, 'mapping.ttl'),
      `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#A> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "a.jsonl" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:subjectMap [ rml:template "http://e/{s}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:template "http://e/${'x'.repeat(250)}/{v[*]}" ] ] .`,
    );
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  async function run(
    threads: number,
    memoryBudgetBytes = RUN_DEFAULTS.memoryBudgetBytes,
  ): Promise<{ readonly lines: number; readonly digest: string }> {
    let lines = 0;
    const sum = Buffer.alloc(16);
    const sink: QuadSink = {
      // The disk is slow, so buffers run out.
      async write(text) {
        await turn();
        for (const line of text.split('\n').slice(0, -1)) {
          lines++;
          const own = createHash('md5').update(line).digest();
          for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) ^ (own[i] as number);
        }
      },
      commit: async () => [],
      abort: async () => undefined,
    };
    const request = {
      ...RUN_DEFAULTS,
      runId: 'long',
      mappings: [join(directory, 'mapping.ttl')],
      inputs: [],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill'),
      threads,
      threadBytes: 200_000,
      memoryBudgetBytes,
    };
    const { quads } = await executeRun(request, sink, {});
    expect(lines).toBe(quads);
    return { lines, digest: sum.toString('hex') };
  }

  test('of records with very many statements of the same subjects ends, and makes each statement once', async () => {
    const one = await run(1);
    // Half of the values of a record are in the next one, which has the other subject.
    expect(one.lines).toBe(RECORDS * VALUES);
    for (const threads of [2, 3]) expect(await run(threads)).toEqual(one);
    // Tables without memory: while a record is made, the writing thread also stores what is undecided of it.
    expect(await run(3, 2 ** 16)).toEqual(one);
  }, 120_000);
});
