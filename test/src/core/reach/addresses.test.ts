/** Which addresses are private, as literals and behind names of a resolver of the test's own; a server on loopback that must not be asked. */
import dns, { type LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { isPrivateAddress } from '../../../../src/core/reach/addresses.ts';
import type { Reach } from '../../../../src/core/reach/reach.ts';
import { readText } from '../../../../src/storage/open.ts';

const CLOSED: Reach = { privateAddresses: false, hosts: [], mappingHosts: [], directories: [], withheld: [] };

test.each<[address: string, isPrivate: boolean]>([
  ['0.0.0.0', true],
  ['0.255.255.255', true],
  ['1.1.1.1', false],
  ['8.8.8.8', false],
  ['9.255.255.255', false],
  ['10.0.0.0', true],
  ['10.255.255.255', true],
  ['11.0.0.0', false],
  ['100.63.255.255', false],
  ['100.64.0.0', true],
  ['100.127.255.255', true],
  ['100.128.0.0', false],
  ['100.100.100.200', true],
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['128.0.0.0', false],
  ['169.253.255.255', false],
  ['169.254.169.254', true],
  ['169.254.170.2', true],
  ['169.255.0.0', false],
  ['172.15.255.255', false],
  ['172.16.0.0', true],
  ['172.31.255.255', true],
  ['172.32.0.0', false],
  ['192.0.0.192', true],
  ['192.0.2.1', true],
  ['192.167.255.255', false],
  ['192.168.0.1', true],
  ['192.169.0.0', false],
  ['198.17.255.255', false],
  ['198.18.0.1', true],
  ['198.51.100.7', true],
  ['203.0.113.9', true],
  ['223.255.255.255', false],
  ['224.0.0.1', true],
  ['239.255.255.250', true],
  ['240.0.0.1', true],
  ['255.255.255.255', true],
  ['::', true],
  ['::1', true],
  ['0:0:0:0:0:0:0:1', true],
  ['::127.0.0.1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:7f00:1', true],
  ['::FFFF:10.0.0.1', true],
  ['0:0:0:0:0:ffff:a9fe:a9fe', true],
  ['::ffff:8.8.8.8', false],
  ['::ffff:0:127.0.0.1', true],
  ['64:ff9b::127.0.0.1', true],
  ['64:ff9b::808:808', false],
  ['64:ff9b:1::1', true],
  ['100::1', true],
  ['2001::1', true],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', true],
  ['2001:db8::1', true],
  ['2001:4860:4860::8888', false],
  ['2002:7f00:1::', true],
  ['2002:a00:1::1', true],
  ['2002:808:808::1', false],
  ['2606:4700:4700::1111', false],
  ['fc00::1', true],
  ['fd00:ec2::254', true],
  ['fe80::1', true],
  ['fe80::1%eth0', true],
  ['febf::1', true],
  ['fec0::1', true],
  ['ff02::1', true],
  ['localhost', true],
  ['', true],
])('%s: %s', (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate);
});

describe('a server on this machine', () => {
  let server: Server;
  let port: number;
  let hits = 0;
  let elsewhere = '';
  /** What the resolver of the test says. */
  let names: Readonly<Record<string, readonly string[]>> = {};
  let lookups = 0;

  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      hits++;
      if (url === '/redirect') response.writeHead(302, { location: elsewhere }).end();
      else response.end('a secret');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ({ port } = server.address() as AddressInfo);
    jest.spyOn(dns, 'lookup').mockImplementation(((host: string, options: { all?: boolean }, done: (...result: unknown[]) => void) => {
      lookups++;
      const found: LookupAddress[] = (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (found.length === 0) done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }));
      else if (options.all === true) done(null, found);
      else done(null, found[0]?.address, found[0]?.family);
    }) as unknown as typeof dns.lookup);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  afterEach(() => {
    hits = 0;
    lookups = 0;
  });

  const read = (url: string, reach: Reach | undefined = CLOSED) => readText(url, 1000, { workingDirectory: '/', reach });
  const at = (host: string, path = '/'): string => `http://${host}:${port}${path}`;

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    'user:password@127.0.0.1',
    '１２７.0.0.1',
    '①②⑦.0.0.1',
  ])('is not asked as %s', async (host) => {
    await expect(read(at(host))).rejects.toMatchObject({ code: 'request/forbidden', hint: expect.stringContaining('ALLOWED_HOSTS') });
    expect([hits, lookups]).toEqual([0, 0]);
  });

  test.each<[string, readonly string[]]>([
    ['localhost', ['127.0.0.1']],
    ['localhost', ['::1', '127.0.0.1']],
    ['inside.example', ['127.0.0.1']],
    ['mixed.example', ['93.184.216.34', '127.0.0.1']],
    ['mapped.example', ['::ffff:127.0.0.1']],
    ['metadata.google.internal', ['169.254.169.254']],
    ['private.example', ['10.1.2.3']],
  ])('is not asked as %s, which is %s', async (host, addresses) => {
    names = { [host]: addresses };
    await expect(read(at(host))).rejects.toMatchObject({
      code: 'request/forbidden',
      message: expect.stringContaining('one of this machine or of a private network'),
    });
    expect([hits, lookups]).toEqual([0, 1]);
  });

  test('is not asked by a name that has another address the next time: the connection goes to the address that was checked', async () => {
    let asked = 0;
    const spied = dns.lookup as unknown as jest.Mock<(...given: unknown[]) => void>;
    const before = spied.getMockImplementation() as (...given: unknown[]) => void;
    spied.mockImplementation((...given) => {
      names = { 'rebinding.example': asked++ === 0 ? ['203.0.114.1'] : ['127.0.0.1'] };
      before(...given);
    });
    try {
      const ending = new AbortController();
      const first = readText(at('rebinding.example'), 1000, { workingDirectory: '/', reach: CLOSED, signal: ending.signal });
      setTimeout(() => ending.abort(), 300);
      await expect(first).rejects.toMatchObject({ code: expect.stringMatching(/^(?:run\/cancelled|source\/)/) });
      expect([hits, asked]).toEqual([0, 1]);
      await expect(read(at('rebinding.example'))).rejects.toMatchObject({ code: 'request/forbidden' });
      expect([hits, asked]).toEqual([0, 2]);
    } finally {
      spied.mockImplementation(before);
    }
  });

  test('is not asked by way of a redirect', async () => {
    names = { 'open.example': ['127.0.0.1'] };
    for (const target of [at('127.0.0.1'), at('[::1]'), at('hidden.example'), 'file:///etc/passwd', 'gopher://127.0.0.1/']) {
      elsewhere = target;
      names = { ...names, 'hidden.example': ['127.0.0.1'] };
      const reach = { ...CLOSED, mappingHosts: [`open.example:${port}`] };
      await expect(read(at('open.example', '/redirect'), reach)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:request\/forbidden|source\/.+)$/),
      });
      // The redirect itself, and nothing behind it.
      expect(hits).toBe(1);
      hits = 0;
    }
  });

  test.each<[says: string, hosts: readonly string[], host: string, reached: boolean]>([
    ['a listed host, also when its address is private', ['listed.example'], 'listed.example', true],
    ['a listed host in other letters', ['listed.example'], 'LISTED.example', true],
    ['a listed host with a full stop at its end', ['listed.example'], 'listed.example.', true],
    ['a host below a listed one', ['*.example'], 'listed.example', true],
    ['a host far below a listed one', ['*.example'], 'a.listed.example', true],
    ['the listed domain itself is not below it', ['*.listed.example'], 'listed.example', false],
    ['a name that ends alike', ['*.isted.example'], 'listed.example', false],
    ['another host', ['other.example'], 'listed.example', false],
    ['a listed host with its port', ['listed.example:PORT'], 'listed.example', true],
    ['a listed host with another port', ['listed.example:1'], 'listed.example', false],
    ['a listed address', ['127.0.0.1'], '127.0.0.1', true],
    ['a listed address, written otherwise', ['127.0.0.1'], '2130706433', true],
    ['an address that is not listed', ['127.0.0.2'], '127.0.0.1', false],
    ['a public address that is not listed', ['127.0.0.1'], '93.184.216.34', false],
    ['an address of IPv6 with its port, without a server', ['[::1]:PORT'], '[::1]', true],
    ['an address of IPv6 that is not listed', ['[::2]:PORT'], '[::1]', false],
  ])('%s', async (_, hosts, host, reached) => {
    names = Object.fromEntries(['listed.example', 'listed.example.', 'a.listed.example'].map((name) => [name, ['127.0.0.1']]));
    const reach = { ...CLOSED, hosts: hosts.map((entry) => entry.replace('PORT', String(port))) };
    const answer = await read(at(host), reach).catch((error) => error);
    if (!reached) expect(answer).toMatchObject({ code: 'request/forbidden' });
    else if (host === '[::1]') expect(answer).toMatchObject({ code: expect.stringMatching(/^source\//) });
    else expect(answer).toBe('a secret');
  });

  test('is asked where private addresses are allowed, and by what options name', async () => {
    names = { localhost: ['127.0.0.1'] };
    expect(await read(at('localhost'), { ...CLOSED, privateAddresses: true })).toBe('a secret');
    expect(await readText(at('127.0.0.1'), 1000, { workingDirectory: '/', reach: undefined })).toBe('a secret');
    // A connection that is kept from a run that may does not serve one that may not.
    await expect(read(at('127.0.0.1'))).rejects.toMatchObject({ code: 'request/forbidden' });
  });
});
