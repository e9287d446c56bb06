/** Records whose lines are written while they are made, by threads that share tables. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { LongRecords } from '../../../../src/run/threads/long-records.ts';
import type { QuadSink } from '../../../../src/sinks/sink.ts';

describe('turns', () => {
  test('another thread begins when this one is between two records, which waits until the other one ends', async () => {
    const turns = new LongRecords();
    const events: string[] = [];
    await turns.mapping(async () => {
      expect(turns.pause()).toBeUndefined();
      turns.ask(() => events.push('begun'));
      await turn();
      expect(events).toEqual([]);
      const paused = turns.pause()?.then(() => events.push('goes on'));
      expect(events).toEqual(['begun']);
      await turn();
      expect(events).toEqual(['begun']);
      turns.end();
      await paused;
      expect(events).toEqual(['begun', 'goes on']);
      expect(turns.pause()).toBeUndefined();
    });
  });

  test('one follows another, and this thread maps behind them', async () => {
    const turns = new LongRecords();
    const events: string[] = [];
    turns.ask(() => events.push('first'));
    turns.ask(() => events.push('second'));
    const mapped = turns.mapping(async () => events.push('here'));
    await turn();
    expect(events).toEqual(['first']);
    turns.end();
    await turn();
    expect(events).toEqual(['first', 'second']);
    turns.end();
    await mapped;
    expect(events).toEqual(['first', 'second', 'here']);
  });

  test('a long record of this thread waits for one of another thread, and the other way round', async () => {
    const turns = new LongRecords();
    const events: string[] = [];
    await turns.mapping(async () => {
      await turns.long(async () => {
        turns.ask(() => events.push('there'));
        await turn();
        // This thread makes the record itself, and does not wait.
        expect(turns.pause()).toBeUndefined();
        events.push('here');
      });
      expect(events).toEqual(['here']);
      const next = turns.long(async () => void events.push('again'));
      await turn();
      expect(events).toEqual(['here', 'there']);
      turns.end();
      await next;
      expect(events).toEqual(['here', 'there', 'again']);
    });
  });

  test('what waits ends with the run', async () => {
    const turns = new LongRecords();
    turns.ask(() => undefined);
    const waits = expect(turns.mapping(async () => undefined)).rejects.toThrow('ended');
    turns.fail(new Error('ended'));
    await waits;
    await expect(turns.mapping(async () => undefined)).rejects.toThrow('ended');
  });
});

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

  async function run(threads: number): Promise<{ readonly lines: number; readonly digest: string }> {
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
  }, 120_000);
});
