/** Objects of S3 as inputs, from a real server: read, cut into slices, listed, deleted, and what is said when that fails. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault, Fault } from '../../../../src/core/fault.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { listDirectory } from '../../../../src/storage/list.ts';
import { openInput, probeInput, readText } from '../../../../src/storage/open.ts';
import { deleteUnchanged } from '../../../../src/storage/s3/read.ts';
import type { S3Access } from '../../../../src/storage/s3-access.ts';
import type { OpenOptions } from '../../../../src/storage/storage.ts';
import { locate, type S3Location } from '../../../../src/storage/url.ts';
import { SHARED_START_MS, type SharedS3, sharedS3 } from '../../../servers/shared/shared.ts';
import { SLOW_DOWN, startTroubles, type Troubles } from '../../../servers/stores/s3-troubles.ts';
import { missingS3Proxy, S3_KEYS } from '../../../servers/stores/s3proxy.ts';
import { makeRuns } from '../../sources/web/running.ts';
import { accessTo, putObject } from './storing.ts';

const missing = await missingS3Proxy();
const describeS3 = missing === undefined ? describe : describe.skip;
if (missing !== undefined) test.skip(`S3 is not tested: ${missing}`, () => undefined);

let server: SharedS3;
let troubles: Troubles;
let access: S3Access;
const runs = makeRuns();
const url = (key: string): string => `s3://${server.bucket}/${key}`;
const put = (key: string, body: string | Uint8Array, more = {}): Promise<void> =>
  putObject(accessTo(server.endpoint), server.bucket, key, body, more);
const options = (more: Partial<OpenOptions> = {}): OpenOptions => ({ reach: undefined, workingDirectory: '/', s3: access, ...more });
async function read(key: string, more: Partial<OpenOptions> = {}): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await openInput(url(key), options(more))).bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}
async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => new Error('nothing failed'),
    (thrown) => thrown,
  );
  if (!(error instanceof Fault)) throw error;
  return error;
}
/** A page of a listing; the one without `z.ttl` is followed by another. */
const page = (keys: readonly string[], path: string) => ({
  status: 200,
  body: `<ListBucketResult><Name>b</Name><KeyCount>${keys.length}</KeyCount>${
    path.includes('continuation-token')
      ? '<IsTruncated>false</IsTruncated>'
      : '<IsTruncated>true</IsTruncated><NextContinuationToken>2+</NextContinuationToken>'
  }${keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}</ListBucketResult>`,
});
const at = (key: string): S3Location => locate(url(key), '/') as S3Location;
/** Larger than what arrives at once. */
const BIG = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `${i},name ${i}\n`).join(''));

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await sharedS3();
  troubles = await startTroubles(server.endpoint);
  await put('big.csv', BIG);
}, SHARED_START_MS);
beforeEach(() => {
  if (missing !== undefined) return;
  access = accessTo(troubles.endpoint);
  troubles.trouble = () => undefined;
  troubles.seen.splice(0);
});
afterAll(async () => {
  await troubles?.stop();
  await server?.stop();
  runs.remove();
});

describeS3('an object', () => {
  test('is read, whatever characters its key has, and undone of its compression', async () => {
    for (const key of ['a.csv', 'deep/er/a b+c.csv', '100%25/ü#1?.csv']) {
      await put(key, key);
      expect((await read(key)).toString()).toBe(key);
    }
    await put('a.csv.gz', gzipSync('packed'));
    await put('encoded.csv', gzipSync('encoded'), { ContentEncoding: 'gzip' });
    expect([(await read('a.csv.gz')).toString(), (await read('encoded.csv')).toString()]).toEqual(['packed', 'encoded']);
    expect(await probeInput(url('encoded.csv'), options())).toBeUndefined();
    await put('other.csv', 'x', { ContentEncoding: 'br' });
    expect((await faultOf(read('other.csv'))).message).toMatch(/other\.csv has the content encoding "br"/);
  });

  test('is empty', async () => {
    await put('empty.csv', '');
    expect((await read('empty.csv')).length).toBe(0);
  });

  test('has a limit', async () => {
    expect(await faultOf(read('big.csv', { limits: { inputBytes: 1000, inflationRatio: 0 } }))).toMatchObject({ limit: 'MAX_INPUT_BYTES' });
  });

  test('is read in ranges of the version that was seen, and of no other', async () => {
    await put('ranges.csv', '0123456789');
    const state = await probeInput(url('ranges.csv'), options());
    expect(state?.sizeBytes).toBe(10);
    const range = { from: 3, to: 7, version: state?.version as string };
    expect((await read('ranges.csv', { range })).toString()).toBe('3456');
    await put('ranges.csv', 'abcdefghij');
    expect(await faultOf(read('ranges.csv', { range }))).toMatchObject({ code: 'run/lost' });
    await put('ranges.csv', 'a');
    expect(await faultOf(read('ranges.csv', { range }))).toMatchObject({ code: 'run/lost' });
  });

  test('is mapped, by a mapping that is an object and names it beside itself', async () => {
    await put('maps/people.csv', 'id\n1\n2\n');
    await put(
      'maps/map.ttl',
      `@prefix rml: <http://w3id.org/rml/> . <http://e/M> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ;
        rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
        rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:object "x" ] .`,
    );
    const web = { ...RUN_DEFAULTS.web, s3: access };
    const { lines } = await runs.run('', { web, mappings: [url('maps/map.ttl')] });
    expect(lines).toEqual(['<http://e/1> <http://e/p> "x" .', '<http://e/2> <http://e/p> "x" .']);
    await put('others.csv', 'id\n3\n');
    const bound = [{ name: 'people.csv', url: url('others.csv') }];
    expect((await runs.run('', { web, mappings: [url('maps/map.ttl')], inputs: bound })).lines).toEqual([
      '<http://e/3> <http://e/p> "x" .',
    ]);
  });

  test('is listed with the others of its directory, page by page', async () => {
    for (const name of ['c.ttl', 'a.ttl', 'b.yml', 'x.txt', 'sub/d.ttl']) await put(`list/${name}`, 'x');
    expect(await listDirectory(url('list'), ['ttl', 'yml'], { workingDirectory: '/', reach: undefined, s3: access })).toEqual(
      ['a.ttl', 'b.yml', 'c.ttl'].map((name) => url(`list/${name}`)),
    );
    troubles.trouble = ({ path }) => page(path.includes('continuation-token=2%2B') ? ['list/z.ttl'] : ['list/a.ttl', 'list/b.yml'], path);
    expect(await listDirectory(url('list/'), ['ttl'], { workingDirectory: '/', reach: undefined, s3: access })).toEqual([
      url('list/a.ttl'),
      url('list/z.ttl'),
    ]);
    troubles.trouble = () => undefined;
    expect(await faultOf(listDirectory(url('nothing'), ['ttl'], { workingDirectory: '/', reach: undefined, s3: access }))).toMatchObject({
      code: 'source/missing',
    });
  });

  test('is deleted, unless it may have changed since', async () => {
    await put('gone.csv', 'x');
    expect(await deleteUnchanged(at('gone.csv'), 'gone', access, Date.now() - 60_000)).toBe('changed');
    expect((await read('gone.csv')).toString()).toBe('x');
    expect(await deleteUnchanged(at('gone.csv'), 'gone', access, Date.now() + 60_000)).toBe('deleted');
    expect(await deleteUnchanged(at('gone.csv'), 'gone', access, Date.now() + 60_000)).toBe('missing');
  });
});

describeS3('trouble on the way', () => {
  const isGet = ({ method, path }: { method: string; path: string }): boolean => method === 'GET' && path.includes('big.csv');
  /** Makes this trouble for the first `times` requests of the object. */
  const first = (times: number, trouble: ReturnType<Troubles['trouble']>): void => {
    let left = times;
    troubles.trouble = (asked) => (isGet(asked) && left-- > 0 ? trouble : undefined);
  };

  test('503 SlowDown: the request is repeated', async () => {
    first(2, SLOW_DOWN);
    expect((await read('big.csv')).equals(BIG)).toBe(true);
    expect(troubles.seen.filter(isGet)).toHaveLength(3);
  });

  test('an error with status 200 is none of the object', async () => {
    first(99, { status: 200, body: '<Error><Code>InternalError</Code><Message>We had an error</Message></Error>' });
    expect(describeFault(await faultOf(read('big.csv')))).toMatch(/the answer is not that of an object storage/);
  });

  test('a connection that breaks in the middle, twice: the rest is asked for, with the ETag as a condition', async () => {
    first(2, { cutAfter: 100_000 });
    expect((await read('big.csv')).equals(BIG)).toBe(true);
    const asked = troubles.seen.filter(isGet);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toMatchObject({ range: undefined, ifMatch: undefined });
    for (const again of asked.slice(1))
      expect(again).toMatchObject({ range: expect.stringMatching(/^bytes=[1-9]\d+-/), ifMatch: expect.any(String) });
  });

  test('an object that is replaced meanwhile is a fault', async () => {
    await put('replaced.csv', BIG);
    let count = 0;
    troubles.trouble = async ({ method, path }) => {
      if (method !== 'GET' || !path.includes('replaced.csv')) return undefined;
      if (count++ === 0) return { cutAfter: 100_000 };
      await put('replaced.csv', Buffer.from(BIG).reverse());
      return undefined;
    };
    expect(await faultOf(read('replaced.csv'))).toMatchObject({
      message: expect.stringMatching(/replaced\.csv has changed while it was read/),
    });
  });

  test('a server that always breaks off, and one that falls silent, are given up', async () => {
    first(99, { cutAfter: 0 });
    access = accessTo(troubles.endpoint, { retries: 1 });
    expect(await faultOf(read('big.csv'))).toMatchObject({ code: 'source/unreadable', retriable: true });
    expect(troubles.seen.filter(isGet).length).toBeGreaterThan(1);
    first(99, { stopAfter: 10_000 });
    access = accessTo(troubles.endpoint, { retries: 0, answerSeconds: 1 });
    expect((await faultOf(read('big.csv'))).message).toMatch(/did not answer in time/);
  });

  test('a slow answer is read', async () => {
    first(1, 'slow');
    expect((await read('big.csv')).equals(BIG)).toBe(true);
  });

  test('the end of a run ends the reading', async () => {
    const ending = new AbortController();
    const input = await openInput(url('big.csv'), options({ signal: ending.signal }));
    const reading = (async () => {
      for await (const _ of input.bytes) ending.abort();
    })();
    expect(await faultOf(reading)).toMatchObject({ code: 'run/cancelled' });
  });
});

describeS3('a fault says what to do', () => {
  test.each<[string, () => [string, Partial<S3Access>], string, RegExp]>([
    ['no such object', () => [url('none.csv'), {}], 'source/missing', /^There is no object s3:\/\/.*none\.csv/],
    ['no such bucket', () => ['s3://no-such-bucket/a.csv', {}], 'source/missing', /there is no such bucket/],
    ['a directory', () => [url('deep/'), {}], 'source/refused', /is a directory of objects/],
    ['a wrong secret', () => [url('big.csv'), { keys: keysOf(S3_KEYS.access, 'wrong-secret') }], 'source/refused', /Check AWS_SECRET_KEY/],
    ['an unknown key', () => [url('big.csv'), { keys: keysOf('nobody', 'wrong-secret') }], 'source/refused', /AWS_/],
    // In Jest, the SDK takes an error of Node for no error, and keeps its text alone.
    [
      'no server',
      () => [url('big.csv'), { endpoint: 'http://127.0.0.1:1', retries: 0 }],
      'source/unreadable',
      /connection refused|ECONNREFUSED/,
    ],
  ])('%s', async (_, given, code, says) => {
    const [address, more] = given();
    const fault = await faultOf(readText(address, 1e9, options({ s3: accessTo(server.endpoint, more) })));
    expect([fault.code, describeFault(fault)]).toEqual([code, expect.stringMatching(says)]);
    expect(JSON.stringify(fault) + describeFault(fault) + String(fault.stack) + String(fault.cause)).not.toMatch(
      /wrong-secret|a-test-secret/,
    );
  });

  test('another region, as the server says it', async () => {
    troubles.trouble = () => ({
      status: 400,
      body: '<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong</Message><Region>eu-west-3</Region></Error>',
    });
    expect(describeFault(await faultOf(read('big.csv')))).toMatch(/the bucket is in the region eu-west-3.*S3_REGION=eu-west-3/s);
  });
});

const keysOf = (access: string, secret: string) => ({ access: new Secret(access), secret: new Secret(secret) });

describe('an address', () => {
  test.each([
    ['s3:/bucket/key', /is not the address of an object/],
    ['s3://user:secret@bucket/key', /is not the address of an object/],
    ['s3://bucket/a/../../other/key', /'\.' or '\.\.' in the key/],
    [`s3://bucket/${'k'.repeat(1025)}`, /longer than 1024 bytes/],
  ])('%s is refused', (address, says) => {
    expect(() => locate(address, '/')).toThrow(says);
  });
});
