/** Epochs by record: which way they take, and what the index of the rows has then. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import type { ChangeEvent } from '../../../../src/streams/events.ts';
import { type EpochReport, follow, ROWS } from '../../../../src/streams/follow/follower.ts';
import { KeptRows } from '../../../../src/streams/follow/state/rows.ts';
import { tablesOfTopics } from '../../../../src/streams/follow/tables.ts';
import { MemoryLog } from './memory-feed.ts';

const HEAD =
  '@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @base <http://e/m> .\n';
const FLAT = `${HEAD}<#M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:a ; rr:objectMap [ rr:column "a" ] ] .`;
const SOURCE = (name: string) => `[ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "${name}" ]`;
const FIELD = (name: string, of = name) => `rml:field [ rml:fieldName "${name}" ; rml:reference "${of}" ]`;
/** The name of a customer is in the subject that an order makes. */
const VIEW = `${HEAD}<#C> rml:viewOn ${SOURCE('c')} ; ${FIELD('id')} ; ${FIELD('name')} .
<#O> rml:viewOn ${SOURCE('t')} ; ${FIELD('id')} ; ${FIELD('a')} ;
  rml:innerJoin [ rml:parentLogicalView <#C> ; rml:joinCondition [ rml:child "a" ; rml:parent "id" ] ; ${FIELD('of', 'name')} ] .
<#M> rml:logicalSource <#O> ; rml:subjectMap [ rml:template "http://e/{of}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:template "http://e/{id}" ] ] .`;

describe('epochs by record', () => {
  let directory: string;
  let log: MemoryLog;
  const epochs: EpochReport[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-by-record-'));
    log = new MemoryLog();
    epochs.length = 0;
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const state = (): string => join(directory, 'dataset', 'state');
  const row = (table: string, id: number, values: object): ChangeEvent =>
    ({ kind: 'row', table, key: `[${id}]`, position: undefined, row: { id: String(id), ...values } }) as ChangeEvent;
  const rows = (count: number, a: string): ChangeEvent[] => Array.from({ length: count }, (_, id) => row('t', id, { a }));
  const drop = (id: number): ChangeEvent => ({ kind: 'delete', table: 't', key: `[${id}]`, position: undefined });
  const files = () => openFiles(join(directory, 'dataset'), directory, USUAL_S3_ACCESS);
  const catchUp = async (mapping: string, run: Partial<RunRequest> = {}): Promise<void> => {
    writeFileSync(join(directory, 'mapping.ttl'), mapping);
    await follow(
      {
        place: { files: files(), stateDirectory: state() },
        request: {
          ...RUN_DEFAULTS,
          inputs: [],
          mappings: ['mapping.ttl'],
          workingDirectory: directory,
          spillDirectory: directory,
          ...run,
        },
        source: { tables: async (of, request) => tablesOfTopics(of, request, 'kafka:memory'), open: async () => log.feed() },
        epochSeconds: 5,
        epochRecords: 10_000,
        untilCaughtUp: true,
        retain: 0,
      },
      { stop: new AbortController().signal, epoch: (report) => void epochs.push(report) },
    );
  };
  const last = () => {
    const { made } = epochs.at(-1) as EpochReport;
    return [made.changesBy, made.added, made.removed, made.reason];
  };
  const size = async (): Promise<number> => {
    const dataset = await Dataset.open(files());
    let lines = '';
    for await (const text of dataset.graph(dataset.current, undefined, { directory, memoryBudgetBytes: 2 ** 20 })) lines += text;
    return lines.split('\n').length - 1;
  };
  const index = async () => {
    const kept = await KeptRows.open(join(state(), ROWS), undefined);
    const { size: units, entries, touched } = kept.index;
    await kept.close();
    return { units, entries, touched };
  };

  test('the index has what the rows of the version have, and nothing of rows that have gone', async () => {
    log.append(rows(100, 'x'));
    await catchUp(FLAT);
    expect(last()).toEqual(['output', 100, 0, 'it is the first version']);
    expect(await index()).toEqual({ units: 100, entries: 100, touched: 0 });
    for (let n = 0; n < 5; n++) {
      log.append([...rows(10, `y${n}`), drop(20 + n), row('t', 200 + n, { a: 'new' })]);
      await catchUp(FLAT);
      expect(last()).toEqual(['record', 11, 11, undefined]);
      expect(await index()).toEqual({ units: 100, entries: 100, touched: 0 });
    }
    expect(await size()).toBe(100);
  });

  test('a row that goes and comes back as it was, and a change that is taken back, make no version', async () => {
    log.append(rows(100, 'x'));
    await catchUp(FLAT);
    log.append([drop(1), row('t', 2, { a: 'y' }), row('t', 1, { a: 'x' }), row('t', 2, { a: 'x' })]);
    await catchUp(FLAT);
    expect(last()).toEqual(['record', 0, 0, undefined]);
    expect(await index()).toEqual({ units: 100, entries: 100, touched: 0 });
  });

  test('equal rows of a table without a key make a change when the first one comes or the last one goes', async () => {
    const bag = (a: string): ChangeEvent => ({ kind: 'row', table: 't', key: undefined, position: undefined, row: { id: a, a } });
    const gone = (a: string): ChangeEvent => ({ kind: 'delete', table: 't', key: undefined, position: undefined, before: { id: a, a } });
    log.append(Array.from({ length: 50 }, (_, n) => bag(String(n % 25))));
    await catchUp(FLAT);
    log.append([gone('1'), bag('2'), gone('3'), gone('3'), bag('new'), bag('new')]);
    await catchUp(FLAT);
    expect(last()).toEqual(['record', 1, 1, undefined]);
    expect(await index()).toEqual({ units: 25, entries: 25, touched: 0 });
  });

  test('a truncate of few rows is by record, and one of most of them by output, against the graph of the versions', async () => {
    log.append([...rows(100, 'x'), ...Array.from({ length: 5 }, (_, id) => row('c', id, { name: `n${id}` }))]);
    const both = `${FLAT}\n<#N> rr:logicalTable [ rr:tableName "c" ] ; rr:subjectMap [ rr:template "http://e/c{id}" ] ; rr:predicateObjectMap [ rr:predicate ex:n ; rr:objectMap [ rr:column "name" ] ] .`;
    await catchUp(both);
    log.append([{ kind: 'truncate', table: 'c', position: undefined }, row('c', 1, { name: 'new' })]);
    await catchUp(both);
    expect(last()).toEqual(['record', 1, 5, undefined]);
    expect(await index()).toEqual({ units: 101, entries: 101, touched: 0 });
    log.append([{ kind: 'truncate', table: 't', position: undefined }, row('t', 1, { a: 'x' }), row('t', 2, { a: 'y' })]);
    await catchUp(both);
    expect(last()).toEqual(['output', 1, 99, 'most records have changed, or are needed to know what stays']);
    expect(await index()).toEqual({ units: 3, entries: 3, touched: 0 });
    log.append([row('t', 2, { a: 'z' })]);
    await catchUp(both);
    expect(last()).toEqual(['record', 1, 1, undefined]);
    expect(await size()).toBe(3);
  });

  test('more changes than the memory takes, another mapping, and rejected records are by output; then it is by record again', async () => {
    log.append(rows(100, 'x'));
    await catchUp(FLAT);
    log.append(rows(20, 'y'));
    await catchUp(FLAT, { memoryBudgetBytes: 16384 });
    expect(last()).toEqual(['output', 20, 20, 'most rows have changed, or are needed to know what stays']);
    const other = FLAT.replace('ex:a', 'ex:b');
    await catchUp(other);
    expect(last()).toEqual(['output', 100, 100, 'the mapping, an option or the columns of a table have changed']);
    log.append([row('t', 1, { a: 'z' })]);
    await catchUp(other);
    expect(last()).toEqual(['record', 1, 1, undefined]);
    const typed = other.replace('rr:column "a"', 'rr:column "id" ; rr:datatype <http://www.w3.org/2001/XMLSchema#date>');
    await catchUp(typed, { onError: 'skip', maxRejected: 1e9, datatypeCheck: 'error' });
    const [by, , , reason] = last();
    expect([by, reason]).toEqual(['output', 'the mapping, an option or the columns of a table have changed']);
    log.append([row('t', 1, { a: 'w' })]);
    await catchUp(typed, { onError: 'skip', maxRejected: 1e9, datatypeCheck: 'error' });
    expect(last()[3]).toBe('records were rejected, or have lost statements');
  });

  test('entries of what partners were do not gather', async () => {
    log.append([...Array.from({ length: 20 }, (_, id) => row('t', id, { a: String(id % 10) })), ...names(0)]);
    await catchUp(VIEW);
    const first = await index();
    for (let n = 1; n <= 36; n++) {
      log.append([row('c', 1, { name: `name ${n}` })]);
      await catchUp(VIEW);
      expect(last()).toEqual(['record', 2, 2, undefined]);
    }
    const { units, entries } = await index();
    expect(units).toBe(first.units);
    expect(entries).toBeLessThan(first.entries + 2 * 17);
    expect(await size()).toBe(20);
  });

  const names = (n: number): ChangeEvent[] => Array.from({ length: 10 }, (_, id) => row('c', id, { name: `name ${n} ${id}` }));
});
