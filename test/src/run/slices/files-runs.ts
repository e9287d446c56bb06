/** Runs over files that are cut into slices: mappings, and runs whose slices are mapped by the threads of one pool, as a fleet would. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { SliceResult } from '../../../../queues/jobs.ts';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { quietLogger } from '../../../../src/core/telemetry/observe.ts';
import type { RunRequest, RunSlice } from '../../../../src/run/request.ts';
import type { RunResult, Task } from '../../../../workers/task.ts';
import { ThreadPool } from '../../../../workers/threads/pool.ts';

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/ns#> .
  @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .\n`;
export const csvMapping = (maps: string, formulation = 'CSV', iterator = ''): string =>
  `${PREFIXES}<#S> a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "in" ] ;
    rml:referenceFormulation rml:${formulation} ${iterator} .\n${maps}`;

/** Every value of a row, and a blank node for it; a kind that many rows share; a statement that two rules make. */
export const ROWS = csvMapping(`
<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ; rml:class ex:Row ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:b ; rml:objectMap [ rml:reference "b" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:kind ; rml:objectMap [ rml:template "http://example.com/kind/{kind}" ] ] .
<#Kind> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/kind/{kind}" ; rml:class ex:Kind ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "kind" ] ] .
<#Both> rml:logicalSource <#S> ; rml:subjectMap [ rml:constant ex:all ] ;
  rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:template "http://example.com/kind/{kind}" ] ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://example.com/ns#{kind}" ] ; rml:objectMap [ rml:reference "kind" ] ] .
<#Node> rml:logicalSource <#S> ; rml:subjectMap [ rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:kind ; rml:objectMap [ rml:reference "kind" ] ] .
`);

/** Triples of a row and of a kind that many rows share, as subjects, as objects and within each other. */
export const QUOTED = csvMapping(`
<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] .
<#Kind> a rml:NonAssertedTriplesMap ; rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/kind/{kind}" ; rml:class ex:Kind ] .
<#OfKind> rml:logicalSource <#S> ; rml:subjectMap [ rml:quotedTriplesMap <#Kind> ; rml:graph ex:g ] ;
  rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:template "http://example.com/row/{id}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:says ; rml:objectMap [ rml:quotedTriplesMap <#Row> ] ] .
<#Says> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:of ; rml:objectMap [ rml:quotedTriplesMap <#OfKind> ] ] .
<#OfRow> rml:logicalSource <#S> ; rml:subjectMap [ rml:quotedTriplesMap <#Row> ] ;
  rml:predicateObjectMap [ rml:predicate ex:b ; rml:objectMap [ rml:reference "b" ] ] .
`);

export const KEYED = csvMapping(`<#Row> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/row/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] .`);
export const XML = csvMapping(
  `<#X> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/{@i}" ; rml:class ex:X ] .`,
  'XPath',
  '; rml:iterator "/r/x"',
);
export const xml = (iterator: string, id: string, references: readonly string[]): string =>
  csvMapping(
    `<#X> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/{${id}}" ; rml:class ex:X ] ${references
      .map((name, i) => `; rml:predicateObjectMap [ rml:predicate ex:p${i} ; rml:objectMap [ rml:reference "${name}" ] ]`)
      .join(' ')} .`,
    'XPath',
    `; rml:iterator "${iterator}"`,
  );
export const json = (iterator: string, id = 'id', references: readonly string[] = []): string =>
  csvMapping(
    `<#L> rml:logicalSource <#S> ; rml:subjectMap [ rml:template "http://example.com/{${id}}" ; rml:class ex:L ] ${[id, ...references]
      .map(
        (name) => `; rml:predicateObjectMap [ rml:predicate ex:${name.replaceAll(/\W/g, '')} ; rml:objectMap [ rml:reference "${name}" ] ]`,
      )
      .join(' ')} .`,
    'JSONPath',
    `; rml:iterator "${iterator}"`,
  );

/** The mapping of `json` or `xml` with a blank node for each record beside its subject. */
export const withNodes = (mapping: string): string =>
  mapping.replace(
    /rml:class ex:[LX] \]/,
    '$& ; rml:predicateObjectMap [ rml:predicate ex:node ; rml:objectMap [ rml:termType rml:BlankNode ] ]',
  );

let directory: string;
let pool: ThreadPool;
let runs = 0;
export const never = new AbortController().signal;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-slices-'));
  pool = new ThreadPool({ memoryMb: 256 }, quietLogger());
});
afterAll(async () => {
  await pool?.close();
  await rm(directory, { recursive: true, force: true });
});

export interface Given {
  readonly mapping: string;
  /** Name of the file, or a URL. */
  readonly input: string;
  readonly bytes: number;
  readonly more?: Partial<RunRequest>;
  /** Called when the run is cut, before the slices are mapped. */
  readonly between?: () => Promise<void>;
}

async function taskFor({ mapping, input, bytes, more }: Given): Promise<Task> {
  const id = `r${runs++}`;
  const output = join(directory, id);
  await mkdir(output);
  // The same mapping has the same address, and so the same labels, in all runs.
  const mappingUrl = join(directory, `${createHash('sha256').update(mapping).digest('hex')}.ttl`);
  await writeFile(mappingUrl, mapping);
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: id,
    mappings: [mappingUrl],
    inputs: [{ name: 'in', url: input }],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill', `Service-${id}.1`),
    ...more,
  };
  return {
    request,
    slices: { rows: 0, bytes },
    output: { directory: output, name: `Service-${id}`, format: 'nquads', attempt: '1', service: 'S' },
  };
}

export interface Ran {
  readonly result: RunResult;
  /** Of all parts, in their order. */
  readonly lines: readonly string[];
  readonly slices: number;
}

/** A run whose slices are mapped by the threads of one pool, as a fleet would. */
export async function run(given: Given): Promise<Ran> {
  const task = await taskFor(given);
  const mapSlice = (slice: RunSlice): Promise<SliceResult> => {
    const attempt = `1-${slice.index}-1`;
    const request = { ...task.request, slice, spillDirectory: join(directory, 'spill', `${task.output.name}.${attempt}`) };
    return pool.runSlice({ request, slices: { rows: 0, bytes: 0 }, output: { ...task.output, attempt } }, hooks);
  };
  const hooks = { signal: never, progress: () => undefined, assertMayCommit: async () => undefined };
  let slices = 1;
  const share = async (cut: readonly RunSlice[]): Promise<readonly SliceResult[]> => {
    slices = cut.length;
    await given.between?.();
    const results: SliceResult[] = [];
    // As they come back from the queue.
    for (let i = 0; i < cut.length; i += 4) results.push(...(await Promise.all(cut.slice(i, i + 4).map(mapSlice))));
    return JSON.parse(JSON.stringify(results));
  };
  const result = await pool.run(task, { ...hooks, scatter: share });
  const texts = await Promise.all(result.parts.map(({ url }) => readFile(fileURLToPath(url), 'utf8')));
  for (const [i, { sha256 }] of result.parts.entries()) {
    expect(sha256).toBe(
      createHash('sha256')
        .update(texts[i] as string)
        .digest('hex'),
    );
  }
  return { result, lines: texts.flatMap((text) => text.split('\n').slice(0, -1)), slices };
}

export const write = async (name: string, text: string | Buffer): Promise<string> => {
  await writeFile(join(directory, name), text);
  return name;
};

/** A small generator with a seed, so that a failure can be repeated. */
export function dice(seed: number): (below: number) => number {
  let state = (seed * 2654435761) >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
