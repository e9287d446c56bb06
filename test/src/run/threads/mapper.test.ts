/** Units that are mapped before it is known which documents have keys, and behind that. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { findKeys } from '../../../../src/run/execute/key-finder.ts';
import { dataOf, openPrepared, type PreparedRun } from '../../../../src/run/prepare/open.ts';
import { prepareRun } from '../../../../src/run/prepare/prepare.ts';
import { Mapper } from '../../../../src/run/threads/mapper.ts';
import type { FromMapper, Unit } from '../../../../src/run/threads/messages.ts';
import { divide } from '../../../../src/run/threads/units.ts';
import { SharedBudget } from '../../../../src/spill/budget.ts';

const never = new AbortController().signal;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-mapper-'));
  const map = (
    name: string,
    subject: string,
  ): string => `<#${name}> rml:logicalSource <#source> ; rml:subjectMap [ rml:template "http://e/${subject}" ] ;
    rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "v" ] ] .\n`;
  writeFileSync(
    join(directory, 'mapping.ttl'),
    `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#source> rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV .
${map('Row', 'row/{id}')}${map('Group', 'group/{group}')}`,
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Sent {
  readonly statements: readonly string[];
  readonly keyed: number;
}

const requestOf = () => ({
  ...RUN_DEFAULTS,
  runId: 'mapper',
  mappings: [join(directory, 'mapping.ttl')],
  inputs: [],
  workingDirectory: directory,
  spillDirectory: join(directory, 'spill'),
  threads: 2,
  threadBytes: 100,
  keyBytes: 0,
});

/** What two mappers that share tables send for the slices of a document, in turn, if they get the keys after `told` slices. */
async function mapped(ids: readonly string[], told: number, isFound: boolean): Promise<Sent> {
  writeFileSync(join(directory, 'a.csv'), `id,group,v\n${ids.map((id, i) => `${id},g${i % 3},v${i % 5}\n`).join('')}`);
  const request = requestOf();
  const own: PreparedRun = await prepareRun(request, undefined);
  const division = await divide(own, request, never);
  const units: Unit[] = [];
  for (const group of division?.groups ?? []) for await (const unit of group.units) units.push(unit);
  expect(units.length).toBeGreaterThan(4);
  const keys = isFound ? await findKeys(own, [{ position: 0, range: undefined }], request, never) : [];
  const buffer = SharedBudget.open();
  const statements: string[] = [];
  const open = async (): Promise<{ readonly mapper: Mapper; readonly prepared: PreparedRun }> => {
    const prepared = await openPrepared(structuredClone(dataOf(own)), request, {});
    const receive = (message: FromMapper): void => {
      if (message.kind !== 'text') return;
      statements.push(...Buffer.from(message.bytes).toString('latin1').split('\n').slice(0, -1));
      void mapper.receive({ kind: 'written', buffer: message.bytes.buffer as ArrayBuffer });
    };
    const mapper = new Mapper(request, prepared, new SharedBudget(request.memoryBudgetBytes, buffer), receive);
    return { mapper, prepared };
  };
  const mappers = [await open(), await open()];
  for (const [i, unit] of units.entries()) {
    if (i === told) for (const { mapper } of mappers) await mapper.receive({ kind: 'keys', keys });
    await mappers[i % 2]?.mapper.receive({ kind: 'unit', unit });
  }
  for (const { prepared } of [...mappers, { prepared: own }]) await prepared.close();
  await division?.close();
  return { statements: statements.sort(), keyed: keys.length };
}

const distinct = (ids: readonly string[]): readonly string[] =>
  [
    ...new Set(
      ids.flatMap((id, i) => [`<http://e/row/${id}> <http://e/p> "v${i % 5}" .`, `<http://e/group/g${i % 3}> <http://e/p> "v${i % 5}" .`]),
    ),
  ].sort();

test('a thread that opens other functions or tables than the plan was made with refuses the run', async () => {
  writeFileSync(join(directory, 'a.csv'), 'id,group,v\n1,g,v\n');
  const request = requestOf();
  const own = await prepareRun(request, undefined);
  const data = { ...dataOf(own), version: '["another"]' };
  await expect(openPrepared(data, request, {})).rejects.toMatchObject({ code: 'run/lost' });
  await own.close();
});

describe('two mappers, told of keys', () => {
  const ascending = Array.from({ length: 80 }, (_, i) => String(100 + i));
  const repeated = ascending.map((_, i) => String(100 + ((i * 7) % 20)));

  test.each([0, 1, 2, 3, 5])('that were found, before slice %i', async (told) => {
    expect(await mapped(ascending, told, true)).toEqual({ statements: distinct(ascending), keyed: 1 });
  });

  test.each([0, 1, 2, 3, 5])('that are not there, before slice %i', async (told) => {
    expect(await mapped(repeated, told, true)).toEqual({ statements: distinct(repeated), keyed: 0 });
    expect(await mapped(ascending, told, false)).toEqual({ statements: distinct(ascending), keyed: 0 });
  });
});
