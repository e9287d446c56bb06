/** User errors and their messages; no partial output is left. Cases that only look wrong work. */
import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FaultCode, FaultPlace } from '../../../src/core/fault.ts';
import { freePort } from '../../servers/process/port.ts';
import { BROKEN_PARQUET } from './binary/parquet.ts';
import { BROKEN_WORKBOOKS } from './binary/workbooks.ts';
import { BROKEN_INPUTS } from './broken-inputs.ts';
import { csv, json, latin1, utf16, xml, zipped } from './files.ts';
import { mountSmallDisk, permissionsMissing, plainUser, smallDiskMissing } from './machine.ts';
import { CSV, encoded, idAsIri, JSON_PATH, statement } from './mappings.ts';
import { attempt, type Ended, type Files, startQuadmill, withFiles } from './trial.ts';
import { WRONG_MAPPINGS } from './wrong-mappings.ts';

async function expectFault(files: Files, code: FaultCode, place: FaultPlace, words: readonly string[], input?: string): Promise<void> {
  const inputs = input === undefined ? [] : [{ name: undefined, url: input }];
  const { fault, told, left } = await attempt(files, { inputs });
  expect(told).not.toBe('');
  expect(fault?.code).toBe(code);
  expect(fault?.place).toMatchObject(place);
  for (const word of words) expect(told).toContain(word);
  expect(left).toEqual([]);
}

describe('a broken input ends the run with a fault that names file and place:', () => {
  test.each(BROKEN_INPUTS)('%s', async (_, files, code, place, words) => {
    await expectFault(files, code, place, words);
  });

  test('a cell that is longer than a record may be', async () => {
    const { fault, told, left } = await attempt(csv(`id,name\n1,Ada\n2,"${'x'.repeat(100_000)}"\n`), { maxRecordBytes: 50_000 });
    expect(fault?.code).toBe('limit/exceeded');
    expect(fault?.place).toMatchObject({ line: 3, record: 1, byte: 14 });
    expect(told).toContain('longer than the 50000 bytes that are allowed');
    expect(left).toEqual([]);
  });
});

describe('a broken workbook ends the run with a fault that names file and place:', () => {
  test.each(BROKEN_WORKBOOKS)('%s', async (_, files, code, place, words) => {
    await expectFault(files, code, place, words);
  });
});

describe('a broken Parquet file ends the run with a fault that names file and place:', () => {
  test.each(BROKEN_PARQUET)('%s', async (_, files, code, place, words) => {
    await expectFault(files, code, place, words);
  });
});

describe('a wrong mapping ends the run with a fault that names the statement:', () => {
  test.each(WRONG_MAPPINGS)('%s', async (_, files, code, place, words) => {
    await expectFault(files, code, place, words);
  });
});

describe('an input that cannot be had ends the run with a fault that names it:', () => {
  const server = createServer((request, response) => {
    const path = request.url as string;
    if (path.startsWith('/cut')) {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': 1000 }).write('id,name\n1,Ada\n');
      setTimeout(() => response.destroy(), 50);
    } else response.writeHead(Number(path.slice(1, 4))).end();
  });
  let address: string;
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((done) => server.close(done)));

  test.each<[path: string, code: FaultCode, words: string]>([
    ['404/people.csv', 'source/missing', 'answered 404 Not Found'],
    ['403/people.csv', 'source/refused', 'answered 403 Forbidden'],
    ['503/people.csv', 'source/unreadable', 'answered 503 Service Unavailable'],
    ['cut/people.csv', 'source/unreadable', 'the server closed the connection'],
    ['404/people.csv?token=secret', 'source/missing', 'token=******'],
  ])('%s', async (path, code, words) => {
    await expectFault({ 'mapping.ttl': CSV }, code, {}, [`${address}/${path.replace('secret', '******')}`, words], `${address}/${path}`);
  });

  test('a port without a listener', async () => {
    const url = `http://127.0.0.1:${await freePort()}/people.csv`;
    await expectFault({ 'mapping.ttl': CSV }, 'source/unreadable', { input: url }, [url, 'connection refused'], url);
  });

  test.each<[url: string, code: FaultCode, words: readonly string[]]>([
    ['people.pdf', 'source/type', ["extension 'pdf'", 'XML, JSON, CSV', 'people.pdf']],
    ['people', 'source/type', ['no file extension', 'XML, JSON, CSV']],
    ['people.json', 'source/type', ['is JSON', 'as CSV', 'mapping.ttl:4:', 'Give a CSV file']],
    ['ftp://example.com/people.csv', 'source/refused', ["'ftp:'", 'file: URL']],
    ['peple.csv', 'source/missing', ['There is no file peple.csv', 'has people.csv']],
  ])('%s', async (input, code, words) => {
    await expectFault(csv('id,name\n'), code, {}, words, input);
  });
});

const UMLAUTS = '{"people":[{"id":1,"name":"Zoë"}]}';
const UMLAUTS_XML = '<people><person id="1"><name>Zoë</name></person></people>';

describe('what only looks odd works:', () => {
  test.each<[name: string, files: Files]>([
    ['CSV with a byte order mark', csv('\ufeffid,name\n1,Zoë\n')],
    ['JSON with a byte order mark', json(`\ufeff${UMLAUTS}`)],
    ['XML with a byte order mark', xml(`\ufeff${UMLAUTS_XML}`)],
    ['CSV in UTF-16 with a byte order mark', csv(utf16('\ufeffid,name\n1,Zoë\n'))],
    ['JSON in UTF-16 with a byte order mark', json(utf16(`\ufeff${UMLAUTS}`))],
    ['XML in UTF-16 with a byte order mark', xml(utf16(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${UMLAUTS_XML}`))],
    ['CSV in UTF-16 that the mapping declares', { ...csv(utf16('id,name\n1,Zoë\n')), 'mapping.ttl': encoded(CSV, 'UTF-16') }],
    ['JSON in UTF-16 that the mapping declares', { ...json(utf16(UMLAUTS)), 'mapping.ttl': encoded(JSON_PATH, 'UTF-16') }],
    ['XML in Latin-1 that the document declares', xml(latin1(`<?xml version="1.0" encoding="iso-8859-1"?>${UMLAUTS_XML}`))],
    ['a gzip file', zipped(gzipSync('id,name\n1,Zoë\n'))],
  ])('%s', async (_, files) => {
    const { told, output, left } = await attempt(files);
    expect([told, output, left]).toEqual(['', statement('1', 'Zoë'), ['out.nq']]);
  });

  const LONG = 'x'.repeat(16 * 2 ** 20);
  test.each<[name: string, files: () => Files]>([
    ['CSV', () => csv(`id,name\n1,${LONG}\n`)],
    ['JSON', () => json(`{"people":[{"id":1,"name":"${LONG}"}]}`)],
    ['XML', () => xml(`<people><person id="1"><name>${LONG}</name></person></people>`)],
  ])('a text of 16 MB in %s', async (_, files) => {
    const { told, output } = await attempt(files());
    expect(told).toBe('');
    // not toBe: a difference of 16 MB is not readable
    expect(output === statement('1', LONG)).toBe(true);
  });

  test.each<[name: string, files: Files, why: string]>([
    ['CSV with a header alone', csv('id,name\n'), 'people.csv has no records'],
    ['JSON without records', json('{"people":[]}'), '$.people[*] found nothing in people.json'],
    ['XML without records', xml('<people/>'), '/people/person found nothing in people.xml'],
    ['a JSON member that no record has', json('{"people":[{"id":1,"nam":"Ada"}]}'), 'no object map had a value'],
  ])('%s gives an empty output and a reason', async (_, files, why) => {
    const { told, output, report } = await attempt(files);
    expect([told, output]).toEqual(['', '']);
    expect(report?.triplesMaps[0]?.empty).toContain(why);
  });
});

describe('a value that makes no IRI', () => {
  const FILES: Files = { 'mapping.ttl': idAsIri(CSV), 'people.csv': 'id,name\nhttp://e.org/1,Ada\nhttp://e.org/a b,Zoe\n' };
  const PLACE = { record: 1, expression: 'id', value: '"http://e.org/a b"', mapping: 'mapping.ttl:6:18' };
  const GOOD = '<http://e.org/1> <http://example.com/name> "Ada" .\n';

  test('ends a strict run with its record', async () => {
    const place = { ...PLACE, mapping: expect.stringMatching(/^mapping\.ttl:6:/) as unknown as string };
    await expectFault(FILES, 'record/term', place, ['people.csv', 'may not hold the character " "', 'Use a template']);
  });

  test.each(['skip', 'quarantine'] as const)('is counted and reported under %s', async (onError) => {
    const { output, report, rejections } = await attempt(FILES, { onError });
    expect([output, report?.rejected]).toEqual([GOOD, 1]);
    expect(rejections.map(({ triplesMap, fault }) => [triplesMap, fault.code, fault.place.record, fault.place.value])).toEqual([
      ['http://example.com/base/#Person', 'record/term', PLACE.record, PLACE.value],
    ]);
  });

  test('ends the run when there are more of them than allowed', async () => {
    const { fault, told, left } = await attempt(FILES, { onError: 'skip', maxRejected: 0 });
    expect([fault?.code, left]).toEqual(['record/limit', []]);
    expect(told).toContain('More than 0 records were rejected; the last: An IRI may not hold');
  });
});

const PEOPLE = csv('id,name\n1,Ada\n');
const WITH_A_BAD_RECORD: Files = { 'mapping.ttl': idAsIri(CSV), 'people.csv': 'id,name\nhttp://e.org/1,Ada\nhttp://e.org/a b,Zoe\n' };
const TO_FILE = ['run', 'mapping.ttl', '-o', 'out.nq'];

/** Runs the program over `files`; `there` lists new files in the directory, and remaining temporary files. */
function quadmill(files: Files, args: readonly string[]): Promise<Ended & { readonly there: readonly string[] }> {
  return withFiles({ ...files, 'tmp/.keep': '' }, async (directory) => {
    const ended = await startQuadmill(directory, args).ended;
    const there = await readdir(directory, { recursive: true });
    return { ...ended, there: there.filter((name) => !(name in files) && name !== 'tmp' && name !== join('tmp', '.keep')) };
  });
}

describe('the program', () => {
  test.each<[name: string, files: Files, args: readonly string[], code: number, words: readonly string[]]>([
    ['an option that is not there', PEOPLE, [...TO_FILE, '--no-distinkt'], 2, ['--no-distinkt', 'did you mean --no-distinct?']],
    ['a mapping that is not Turtle', { 'mapping.ttl': '<a> <b>' }, TO_FILE, 2, ['mapping.ttl:1:', 'cannot be parsed']],
    ['a column that is not there', csv('id\n1\n'), TO_FILE, 2, ['no column "name"', 'mapping.ttl:7:']],
    ['an input that is not there', { 'mapping.ttl': CSV }, TO_FILE, 1, ['There is no file', 'people.csv']],
    ['a broken input', csv('id,name\n1,"A'), TO_FILE, 1, ['never closed', 'line 2']],
    ['a bad value', WITH_A_BAD_RECORD, TO_FILE, 1, ['record 1', 'value "http://e.org/a b"']],
  ])('says what is wrong in one line, ends with its code and leaves nothing: %s', async (_, files, args, code, words) => {
    const ended = await quadmill(files, args);
    expect([ended.code, ended.out, ended.there]).toEqual([code, '', []]);
    expect(ended.err).toMatch(/^quadmill: /);
    expect(ended.err).not.toMatch(/\n {4}at /);
    for (const word of words) expect(ended.err).toContain(word);
  });

  test('ends with 0 and makes the directory of its output', async () => {
    const { code, err, there } = await quadmill(PEOPLE, ['run', 'mapping.ttl', '-o', 'new/er/out.nq']);
    expect([code, err]).toEqual([0, '']);
    expect(there).toEqual(expect.arrayContaining([join('new', 'er', 'out.nq')]));
  });

  test('writes rejected records with their reasons under quarantine', async () => {
    await withFiles({ ...WITH_A_BAD_RECORD, 'tmp/.keep': '' }, async (directory) => {
      const { code, err } = await startQuadmill(directory, [...TO_FILE, '--on-error', 'quarantine']).ended;
      expect(code).toBe(0);
      expect(err).toContain(`1 record was rejected, see ${join(directory, 'out.nq.rejected.ndjson')}`);
      const rejected = (await readFile(join(directory, 'out.nq.rejected.ndjson'), 'utf8')).trimEnd().split('\n');
      expect(rejected.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({
          triplesMap: 'http://example.com/base/#Person',
          code: 'record/term',
          message: expect.stringContaining('may not hold the character " "'),
          place: expect.objectContaining({
            input: join(directory, 'people.csv'),
            record: 1,
            expression: 'id',
            value: '"http://e.org/a b"',
          }),
        }),
      ]);
    });
  });

  test.each<[output: string, files: Files, words: string]>([
    ['people.csv/out.nq', PEOPLE, 'people.csv/out.nq cannot be written: a part of the path is not a directory'],
    ['graphs.nq', { ...PEOPLE, 'graphs.nq/other.nq': '' }, 'graphs.nq cannot be written: there is a directory of that name'],
    ['/dev/full', PEOPLE, '/dev/full cannot be written: the disk is full'],
  ])('cannot write to %s', async (output, files, words) => {
    const { code, err, there } = await quadmill(files, ['run', 'mapping.ttl', '-o', output]);
    expect([code, there.filter((name) => name !== 'graphs.nq')]).toEqual([1, []]);
    expect(err).toContain(words);
  });

  const permissions = when(permissionsMissing);
  permissions('cannot write to a directory of another user', async () => {
    await withFiles({ ...PEOPLE, 'tmp/.keep': '' }, async (directory) => {
      await mkdir(join(directory, 'closed'), { mode: 0o555 });
      const { code, err } = await startQuadmill(directory, ['run', 'mapping.ttl', '-o', 'closed/out.nq'], plainUser).ended;
      expect([code, err]).toEqual([1, `quadmill: ${join(directory, 'closed', 'out.nq')} cannot be written: no permission\n`]);
    });
  });

  permissions('cannot read a file of another user', async () => {
    await withFiles({ ...PEOPLE, 'tmp/.keep': '' }, async (directory) => {
      await chmod(join(directory, 'people.csv'), 0);
      const { code, err } = await startQuadmill(directory, ['run', 'mapping.ttl'], plainUser).ended;
      expect(code).toBe(1);
      expect(err).toContain(`No permission to read ${join(directory, 'people.csv')}`);
    });
  });

  when(smallDiskMissing)('leaves nothing on a disk that is too small for its output', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `${i},Name ${i}\n`).join('');
    await withFiles({ ...csv(`id,name\n${rows}`), 'tmp/.keep': '', 'small/.keep': '' }, async (directory) => {
      const disk = mountSmallDisk(join(directory, 'small'), 512);
      try {
        const { code, err } = await startQuadmill(directory, ['run', 'mapping.ttl', '-o', 'small/out.nq']).ended;
        expect([code, err]).toEqual([1, `quadmill: ${join(directory, 'small', 'out.nq')} cannot be written: the disk is full\n`]);
        expect(await readdir(join(directory, 'small'))).toEqual([]);
      } finally {
        disk?.end();
      }
    });
  });

  test('leaves nothing when it is interrupted in the middle of a long run, and ends with 130', async () => {
    const rows = `id,name\n1,Ada\na b,Zoe\n${'1,Ada\n'.repeat(8_000_000)}`;
    await withFiles({ 'mapping.ttl': idAsIri(CSV), 'people.csv': rows, 'tmp/.keep': '' }, async (directory) => {
      const args = [...TO_FILE, '--no-distinct', '--on-error', 'quarantine', '--base', 'http://example.com/'];
      const program = startQuadmill(directory, args);
      const part = join(directory, `.out.nq.${program.pid}.part`);
      let over = false;
      void program.ended.then(() => {
        over = true;
      });
      while (!over && ((await stat(part).catch(() => undefined))?.size ?? 0) === 0) await sleep(10);
      expect(over).toBe(false);
      process.kill(program.pid, 'SIGINT');
      const { code, err } = await program.ended;
      expect([code, err]).toEqual([130, 'quadmill: interrupted; nothing was written\n']);
      expect((await readdir(directory, { recursive: true })).sort()).toEqual(['mapping.ttl', 'people.csv', 'tmp', 'tmp/.keep']);
    });
  });
});

/** `test`, or a skipped test that names what is missing. */
function when(missing: string | undefined): (name: string, body: () => Promise<void>) => void {
  return (name, body) => (missing === undefined ? test(name, body) : test.skip(`${name} (not tested: ${missing})`, body));
}
