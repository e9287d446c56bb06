/**
 * Lists with many members, and many lists, in a heap of 256 MB: a million records once (GATHER_RECORDS makes it more), fewer where the counters of
 * the lists do not fit.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const QUADMILL = join(import.meta.dirname, '../../../../bin/quadmill.js');
const HEAP_MB = 256;
const MANY = Number(process.env.GATHER_RECORDS ?? 1_000_000);
const FEWER = 300_000;
const KEYS = 100_000;
const LIMIT_MS = 600_000;

let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-gathers-'));
  for (const records of [MANY, FEWER]) await writeRecords(records);
}, LIMIT_MS);
afterAll(() => rmSync(directory, { recursive: true }));

async function writeRecords(records: number): Promise<void> {
  const file = createWriteStream(join(directory, `${records}.csv`));
  file.write('key,value\n');
  for (let from = 0; from < records; from += KEYS) {
    const lines = Array.from({ length: KEYS }, (_, i) => `k${((from + i) * 7919) % KEYS},value ${from + i}\n`);
    if (!file.write(lines.join(''))) await new Promise<void>((resolve) => file.once('drain', resolve));
  }
  await finished(file.end());
}

/** Lines by what they end with or hold. */
async function count(): Promise<{ readonly first: number; readonly nil: number; readonly heads: number }> {
  const counts = { first: 0, nil: 0, heads: 0 };
  for await (const line of createInterface({ input: createReadStream(join(directory, 'out.nq')) })) {
    if (line.includes('#first> ')) counts.first++;
    else if (line.endsWith('#nil> .')) counts.nil++;
    else if (line.includes('<http://e/p>')) counts.heads++;
  }
  return counts;
}

test.each([
  ['a list for each key', MANY, '{key}', 64, KEYS],
  ['a list for each key, more than the table holds', FEWER, '{key}', 4, KEYS],
  ['a list for each record, more than the table holds', FEWER, '{value}', 4, FEWER],
  ['one list', FEWER, 'all', 4, 1],
])(
  '%s',
  async (_, records, head, memory, lists) => {
    writeFileSync(
      join(directory, 'mapping.ttl'),
      `@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @base <http://e/> .
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${records}.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{key}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [
    rml:template "http://e/list/${head}" ; rml:gather ( [ rml:reference "value" ] ) ; rml:gatherAs rdf:List ] ] .\n`,
    );
    const args = [
      `--max-old-space-size=${HEAP_MB}`,
      QUADMILL,
      'run',
      'mapping.ttl',
      '-o',
      'out.nq',
      '--stats',
      '--memory-mb',
      String(memory),
    ];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', timeout: LIMIT_MS });
    expect([status, stderr]).toEqual([0, expect.stringContaining('peakMemoryBytes')]);
    const { peakMemoryBytes } = JSON.parse(stderr.trim());
    expect(await count()).toEqual({ first: records, nil: lists, heads: Math.max(lists, KEYS) });
    expect(peakMemoryBytes).toBeLessThan(300 * 2 ** 20);
  },
  LIMIT_MS,
);
