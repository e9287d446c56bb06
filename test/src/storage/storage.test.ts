import { getEventListeners } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { resolveInside } from '../../../src/core/reach/safe-path.ts';
import { redact } from '../../../src/core/redact.ts';
import { inputFormat } from '../../../src/storage/input-format.ts';
import { listDirectory } from '../../../src/storage/list.ts';
import { writeAtomically } from '../../../src/storage/local/file.ts';
import { openInput, readText } from '../../../src/storage/open.ts';

let directory: string;
let server: Server;
let address: string;
/** Answers that still send. */
let sending = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-storage-'));
  server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    if (path === '/people.csv') response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8', 'content-length': 5 }).end('a\nÄ\n');
    else if (path === '/people.csv.gz') response.writeHead(200, { 'content-type': 'application/gzip' }).end(gzipSync('a\nb\n'));
    else if (path === '/undone.csv.gz') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a\nb\n'));
    else if (path === '/moved') response.writeHead(302, { location: '/people.csv' }).end();
    else if (path === '/private') response.writeHead(request.headers.authorization === `Basic ${btoa('ada:s3cret')}` ? 200 : 401).end('in');
    else if (path === '/cut') {
      response.writeHead(200, { 'content-length': 100 });
      response.write('only this', () => response.destroy());
    } else if (path === '/endless') {
      sending++;
      response.on('close', () => sending--).writeHead(200);
      const more = (): unknown => !response.destroyed && response.write('x'.repeat(1000), () => setTimeout(more, 1));
      more();
    } else response.writeHead(Number(path?.slice(1)) || 404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await rm(directory, { recursive: true, force: true });
});

async function read(url: string, options: { compression?: 'gzip'; signal?: AbortSignal } = {}): Promise<string> {
  const input = await openInput(url, { reach: undefined, workingDirectory: directory, ...options });
  const parts: Uint8Array[] = [];
  for await (const chunk of input.bytes) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

describe('an input', () => {
  test('is read by relative path, absolute path and file: URL, spaces and umlauts included', async () => {
    const path = join(directory, 'Zürich süd.csv');
    await writeFile(path, 'a,b\n1,2\n');
    expect(await read('Zürich süd.csv')).toBe('a,b\n1,2\n');
    expect(await read(path)).toBe('a,b\n1,2\n');
    expect(await read(pathToFileURL(path).href)).toBe('a,b\n1,2\n');
  });

  test('larger than a chunk comes whole and in order, and tells its size', async () => {
    const content = Array.from({ length: 200_000 }, (_, i) => `${i}\n`).join('');
    await writeFile(join(directory, 'large.txt'), content);
    expect(await read('large.txt')).toBe(content);
    const input = await openInput('large.txt', { reach: undefined, workingDirectory: directory });
    expect(input.sizeBytes).toBe(content.length);
    await input.close();
  });

  test('of no bytes has no chunk', async () => {
    await writeFile(join(directory, 'empty.csv'), '');
    await writeFile(join(directory, 'empty.csv.gz'), '');
    expect(await read('empty.csv')).toBe('');
    expect(await read('empty.csv.gz')).toBe('');
  });

  test('ending in .gz or declared as gzip is unpacked, members in a row included', async () => {
    const packed = Buffer.concat([gzipSync('one\n'), gzipSync('two\n')]);
    await writeFile(join(directory, 'two.csv.gz'), packed);
    await writeFile(join(directory, 'two.bin'), packed);
    expect(await read('two.csv.gz')).toBe('one\ntwo\n');
    expect(await read('two.bin', { compression: 'gzip' })).toBe('one\ntwo\n');
  });

  test('whose gzip is cut off or no gzip at all is malformed', async () => {
    await writeFile(join(directory, 'cut.gz'), gzipSync('x'.repeat(1000)).subarray(0, 20));
    expect((await faultOf(read('cut.gz'))).message).toContain('ends too early');
    await writeFile(join(directory, 'plain.bin'), 'plain');
    expect((await faultOf(read('plain.bin', { compression: 'gzip' }))).code).toBe('source/malformed');
  });

  test('over http follows redirects, knows its media type and size, undoes compression once', async () => {
    expect(await read(`${address}/moved`)).toBe('a\nÄ\n');
    expect(await read(`${address}/people.csv.gz?version=2`)).toBe('a\nb\n');
    expect(await read(`${address}/undone.csv.gz`)).toBe('a\nb\n');
    expect(await read(`${address.replace('//', '//ada:s3cret@')}/private`)).toBe('in');
    const input = await openInput(`${address}/people.csv`, { reach: undefined, workingDirectory: directory });
    expect([input.mediaType, input.sizeBytes]).toEqual(['text/csv', 5]);
    await input.close();
  });

  test('left half-read is closed', async () => {
    for (const url of ['large.txt', `${address}/endless`]) {
      const input = await openInput(url, { reach: undefined, workingDirectory: directory });
      for await (const chunk of input.bytes) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      await input.close();
    }
    // The server hears of it a little later.
    for (let left = 500; sending > 0 && left > 0; left--) await new Promise((done) => setTimeout(done, 10));
    expect(sending).toBe(0);
  });

  test('stops with run/cancelled soon after the signal', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30);
    expect((await faultOf(read(`${address}/endless`, { signal: controller.signal }))).code).toBe('run/cancelled');
    expect((await faultOf(read('large.txt', { signal: controller.signal }))).code).toBe('run/cancelled');
  });
});

describe('an input that cannot be had', () => {
  test('names the path that was looked at and near names', async () => {
    await writeFile(join(directory, 'stations.csv'), '');
    const fault = await faultOf(read('station.csv'));
    expect(fault.code).toBe('source/missing');
    expect(fault.message).toContain(join(directory, 'station.csv'));
    expect(fault.hint).toContain('stations.csv');
  });

  test('names the first directory that is not there', async () => {
    expect((await faultOf(read('no/such/file.csv'))).hint).toContain(join(directory, 'no'));
  });

  test.each([
    ['a directory', () => '.', 'source/refused', 'is a directory'],
    ['an unknown scheme', () => 'ftp://host/key.csv', 'source/refused', "'ftp:'"],
    ['a malformed URL', () => 'http://', 'source/refused', 'not a valid URL'],
    ['a 404', () => `${address}/404`, 'source/missing', 'answered 404'],
    ['a 403', () => `${address}/403`, 'source/refused', 'answered 403'],
    ['a 503', () => `${address}/503`, 'source/unreadable', 'answered 503'],
    ['a 429', () => `${address}/429`, 'source/unreadable', 'answered 429'],
    ['a refused connection', () => 'http://127.0.0.1:1/x.csv', 'source/unreadable', ''],
    ['an unknown host', () => 'http://no-such-host.invalid/x.csv', 'source/unreadable', 'host'],
    ['a connection lost in the middle', () => `${address}/cut`, 'source/unreadable', ''],
    ['TLS that is none', () => `${address.replace('http', 'https')}/x.csv`, 'source/refused', ''],
  ])('because it is %s gives its own fault', async (_, url, code, words) => {
    const fault = await faultOf(read(url()));
    expect([fault.code, fault.retriable]).toEqual([code, code === 'source/unreadable']);
    expect(fault.message).toContain(words);
  });

  const isRoot = process.getuid?.() === 0;
  const permission = isRoot ? test.skip : test;
  permission(`for lack of permission is refused${isRoot ? ' (not tested: root may read everything)' : ''}`, async () => {
    await writeFile(join(directory, 'secret.csv'), '');
    await chmod(join(directory, 'secret.csv'), 0);
    expect((await faultOf(read('secret.csv'))).code).toBe('source/refused');
  });

  test('never shows a password', async () => {
    const fault = await faultOf(read('http://ada:s3cret@127.0.0.1:1/x.csv?token=abc'));
    expect(JSON.stringify(fault)).not.toMatch(/s3cret|abc/);
  });
});

describe('readText', () => {
  test('drops the byte order mark and keeps to its limit', async () => {
    await writeFile(join(directory, 'bom.ttl'), '\ufeff<a> <b> "é" .');
    expect(await readText('bom.ttl', 100, { reach: undefined, workingDirectory: directory })).toBe('<a> <b> "é" .');
    expect((await faultOf(readText('bom.ttl', 10, { reach: undefined, workingDirectory: directory }))).code).toBe('limit/exceeded');
  });

  test('leaves no listener at its signal', async () => {
    const { signal } = new AbortController();
    await writeFile(join(directory, 'many.ttl'), '<a> <b> "c" .');
    await readText('many.ttl', 100, { reach: undefined, workingDirectory: directory, signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends with its signal', async () => {
    const ended = AbortSignal.abort(new Error('stopped'));
    expect((await faultOf(readText('bom.ttl', 100, { reach: undefined, workingDirectory: directory, signal: ended }))).message).toMatch(
      /stopped|cancel/i,
    );
  });

  test('refuses what is not UTF-8', async () => {
    await writeFile(join(directory, 'latin.ttl'), Buffer.from([0x22, 0xe9, 0x22]));
    expect((await faultOf(readText('latin.ttl', 100, { reach: undefined, workingDirectory: directory }))).code).toBe('source/encoding');
  });
});

test('listDirectory gives the files with the wanted extensions, sorted, in the spelling of the request', async () => {
  const mappings = join(directory, 'mappings');
  await mkdir(join(mappings, 'old.ttl'), { recursive: true });
  for (const name of ['b.ttl', 'a.ttl', 'c.TTL', 'notes.txt', 'd.yml']) await writeFile(join(mappings, name), '');
  expect(await listDirectory('mappings', ['ttl'], { workingDirectory: directory, reach: undefined })).toEqual(
    ['a.ttl', 'b.ttl', 'c.TTL'].map((name) => join(mappings, name)),
  );
  expect(await listDirectory(pathToFileURL(mappings).href, ['yml'], { workingDirectory: '/', reach: undefined })).toEqual([
    pathToFileURL(join(mappings, 'd.yml')).href,
  ]);
  expect((await faultOf(listDirectory('mapping', ['ttl'], { workingDirectory: directory, reach: undefined }))).hint).toContain('mappings');
  expect((await faultOf(listDirectory('mappings/a.ttl', ['ttl'], { workingDirectory: directory, reach: undefined }))).code).toBe(
    'source/refused',
  );
  expect((await faultOf(listDirectory(address, ['ttl'], { workingDirectory: directory, reach: undefined }))).code).toBe('source/refused');
});

describe('writeAtomically', () => {
  test('makes directories, replaces the content and leaves nothing else', async () => {
    const path = join(directory, 'written', 'deep', 'config.json');
    await writeAtomically(path, 'one');
    await writeAtomically(path, 'zwölf');
    expect(await readFile(path, 'utf8')).toBe('zwölf');
    expect(await readdir(join(directory, 'written', 'deep'))).toEqual(['config.json']);
  });

  test('fails with the path and cleans up', async () => {
    await mkdir(join(directory, 'taken', 'x'), { recursive: true });
    const fault = await faultOf(writeAtomically(join(directory, 'taken'), 'text'));
    expect([fault.code, fault.message.includes(join(directory, 'taken'))]).toEqual(['sink/failed', true]);
    expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

describe('resolveInside', () => {
  test.each([
    ['a name', 'new.ttl', true],
    ['a deeper name', 'sub/new.ttl', true],
    ['a detour that stays inside', 'sub/../new.ttl', true],
    ['the parent', '../new.ttl', false],
    ['an absolute path elsewhere', '/etc/passwd', false],
    ['a neighbour whose name begins alike', '../inside-too/x.ttl', false],
    ['a link to outside', 'link/x.ttl', false],
    ['a link to nowhere', 'dangling', false],
    ['a link to itself', 'loop/x', false],
    ['a zero character', 'a\0b', false],
  ])('decides about %s', async (_, relative, allowed) => {
    const inside = join(directory, 'inside');
    await mkdir(inside, { recursive: true });
    await mkdir(join(directory, 'inside-too'), { recursive: true });
    for (const [name, target] of Object.entries({ link: '..', dangling: '/no/such/place', loop: 'loop' })) {
      await symlink(target, join(inside, name)).catch(() => undefined);
    }
    if (allowed) expect(await resolveInside(inside, relative)).toBe(join(inside, relative));
    else expect((await faultOf(resolveInside(inside, relative))).code).toBe('request/forbidden');
  });
});

test.each([
  ['/data/people.csv', undefined, 'csv'],
  ['people.CSV.gz', undefined, 'csv'],
  ['people.tsv', undefined, 'tsv'],
  ['map.geojson', undefined, 'json'],
  ['events.ndjson.gz', undefined, 'jsonl'],
  ['places.geojsonl', undefined, 'jsonl'],
  ['places.json-seq', undefined, 'jsonl'],
  ['https://host/places', 'application/geo+json', 'json'],
  ['https://host/places', 'application/geo+json-seq', 'jsonl'],
  ['https://host/events', 'application/json-seq', 'jsonl'],
  ['https://host/events', 'application/stream+json', 'jsonl'],
  ['https://host/events', 'application/x-ndjson', 'jsonl'],
  ['https://host/a.xml?download=1.zip#x', 'text/plain', 'xml'],
  ['https://host/download', 'application/json; charset=utf-8', 'json'],
  ['https://host/v1.2', 'application/atom+xml', 'xml'],
  ['book.XLSX', undefined, 'xlsx'],
  ['book.xlsm', undefined, 'xlsx'],
  ['book.ods.gz', undefined, 'ods'],
  ['https://host/book', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['https://host/book', 'application/vnd.oasis.opendocument.spreadsheet', 'ods'],
])('the format of %s with media type %s is %s', (url, media, format) => {
  expect(inputFormat(url, media)).toBe(format);
});

test.each([
  ['notes.txt', undefined, "'txt'"],
  ['https://host/download', 'text/html', 'text/html'],
  ['README', undefined, 'no file extension'],
])('the input type of %s is refused in words', (url, media, words) => {
  expect(() => inputFormat(url, media)).toThrow(words);
  expect(() => inputFormat(url, media)).toThrow('XML, JSON, CSV, XLSX, ODS');
});

test.each([
  ['http://ada:s3cr:et@host/x', 'http://ada:******@host/x'],
  ['https://h/x?a=1&X-Amz-Signature=abc&token=t#f', 'https://h/x?a=1&X-Amz-Signature=******&token=******#******'],
  ['jdbc:postgresql://h/db?user=u&password=p', 'jdbc:postgresql://h/db?user=u&password=******'],
  ['jdbc:sqlserver://h;user=u;password=p;x=1', 'jdbc:sqlserver://h;user=u;password=******;x=1'],
  ['/plain/path.csv', '/plain/path.csv'],
  ['http://host/monkey=1?monk=2', 'http://host/monkey=1?monk=2'],
])('redact turns %s into %s', (url, redacted) => {
  expect(redact(url)).toBe(redacted);
});
