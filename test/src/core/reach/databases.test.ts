/**
 * Addresses of databases that lead to a server of this machine past the check of the reach, with the drivers themselves: no connection may come,
 * whatever its protocol.
 */
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Reach } from '../../../../src/core/reach/reach.ts';
import { connectingWithin } from '../../../../src/core/reach/sockets.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { startSqlServer } from '../../../servers/databases/sqlserver.ts';

const CLOSED: Reach = { privateAddresses: false, hosts: [], mappingHosts: [], directories: [], withheld: [] };
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'inside.example': ['127.0.0.1'],
  'mixed.example': ['203.0.114.1', '127.0.0.1'],
  '2130706433': ['127.0.0.1'],
  'public.example': ['203.0.114.1'],
  'listed.example': ['127.0.0.1'],
};

const listening: Server[] = [];
const sockets: Socket[] = [];
/** Connections that may not come. */
let hits = 0;
/** Where a connection is one too many. */
let port: number;

async function listen(connected: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    connected(socket);
  });
  listening.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

beforeEach(async () => {
  hits = 0;
  const answer = (host: string): readonly LookupAddress[] =>
    (NAMES[host] ?? (/^[\d.]+$/.test(host) ? [host] : [])).map((address) => ({ address, family: 4 }));
  jest.spyOn(dns, 'lookup').mockImplementation(((host: string, ...rest: readonly unknown[]) => {
    const [options, done] = [rest[0] as { readonly all?: boolean }, rest.at(-1) as (...result: unknown[]) => void];
    const found = answer(host);
    if (found[0] === undefined) done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }));
    else if (options.all === true) done(null, found);
    else done(null, found[0].address, 4);
  }) as unknown as typeof dns.lookup);
  // What looks a name up again is led to this machine.
  jest
    .spyOn(dns.promises, 'lookup')
    .mockImplementation((async () => [{ address: '127.0.0.1', family: 4 }]) as unknown as typeof dns.promises.lookup);
  port = await listen((socket) => {
    hits++;
    socket.destroy();
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of listening.splice(0)) server.close();
});

async function refusal(url: string, reach: Reach = CLOSED): Promise<{ readonly code: string; readonly message: string }> {
  const address = parseJdbcUrl({ url: url.replaceAll('<port>', String(port)), user: 'u', password: new Secret('p') });
  const session = await openSession(address, { connectSeconds: 2, statementSeconds: 2, lockSeconds: 2, reach });
  await session.close();
  throw new Error(`${url} was connected to`);
}

const at = (host: string): string => `(ADDRESS=(PROTOCOL=TCP)(HOST=${host})(PORT=<port>))`;
const DATA = '(CONNECT_DATA=(SERVICE_NAME=db))';
const described = (...parts: readonly string[]): string => `jdbc:oracle:thin:@(DESCRIPTION=${parts.join('')}${DATA})`;

test.each([
  'jdbc:postgresql://127.0.0.1:<port>/db',
  'jdbc:postgresql://localhost:<port>/db',
  'jdbc:postgresql:db',
  'jdbc:postgresql://2130706433:<port>/db',
  'jdbc:mysql://127.0.0.1:<port>/db',
  'jdbc:mariadb://inside.example:<port>/db',
  'jdbc:sqlserver://127.0.0.1:<port>;databaseName=db',
  'jdbc:sqlserver://inside.example:<port>;databaseName=db',
  'jdbc:sqlserver://;serverName={inside.example};portNumber=<port>',
  'jdbc:oracle:thin:@//127.0.0.1:<port>/db',
  'jdbc:oracle:thin:@//inside.example:<port>/db',
  'jdbc:oracle:thin:@//mixed.example:<port>/db',
  'jdbc:oracle:thin:@inside.example:<port>:SID',
  'jdbc:oracle:thin:@tcps://[::ffff:127.0.0.1]:<port>/db',
  described(at('127.0.0.1')),
])('%s is no database that may be reached', async (url) => {
  await expect(refusal(url)).rejects.toMatchObject({ code: 'request/forbidden' });
  expect(hits).toBe(0);
});

test.each([
  described('(ADDRESS=(PROTOCOL=TCPS)(HOST=public.example)(PORT=1)(HTTPS_PROXY=127.0.0.1)(HTTPS_PROXY_PORT=<port>))'),
  'jdbc:oracle:thin:@tcps://public.example:1/db?https_proxy=127.0.0.1&https_proxy_port=<port>',
  described('(SOURCE_ROUTE=YES)', at('127.0.0.1'), at('public.example')),
  `jdbc:oracle:thin:@(DESCRIPTION=(CONNECT_DATA=(HOST=public.example)(SERVICE_NAME=db))${at('127.0.0.1')})`,
  'jdbc:oracle:thin:@//public.example:1/db))(ADDRESS=(PROTOCOL=TCP)(HOST=127.0.0.1)(PORT=<port>))(CONNECT_DATA=(SERVICE_NAME=db',
  'jdbc:oracle:thin:@//public.example:1/db?description=(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=127.0.0.1)(PORT=<port>)))',
  'jdbc:postgresql://public.example,inside.example:<port>/db',
  'jdbc:mysql:loadbalance://public.example:<port>,inside.example:<port>/db',
  'jdbc:mysql://address=(host=inside.example)(port=<port>)/db',
  'jdbc:mysql://[(host=public.example),(host=127.0.0.1,port=<port>)]/db',
  'jdbc:oracle:thin:@//public.example,127.0.0.1:<port>/db',
  'jdbc:oracle:thin:@//public.example:1521;inside.example:<port>/db?load_balance=on',
  described(at('public.example'), at('127.0.0.1')),
  described('(LOAD_BALANCE=ON)(FAILOVER=ON)', at('public.example'), at('inside.example')),
  described(`(ADDRESS_LIST=${at('public.example')})(ADDRESS_LIST=${at('127.0.0.1')})`),
  `jdbc:oracle:thin:@(DESCRIPTION_LIST=(DESCRIPTION=${at('public.example')}${DATA})(DESCRIPTION=${at('127.0.0.1')}${DATA}))`,
  'jdbc:oracle:thin:@inside',
])('%s is no URL that is read', async (url) => {
  await expect(refusal(url)).rejects.toMatchObject({ code: 'request/invalid' });
  expect(hits).toBe(0);
});

describe('Oracle, whose driver looks names up itself', () => {
  test.each(['jdbc:oracle:thin:@//nowhere.example:<port>/db', described(at('nowhere.example'))])(
    '%s: a name that has no address is never given to the driver',
    async (url) => {
      await expect(refusal(url)).rejects.toMatchObject({ code: 'database/unreachable', message: expect.stringContaining('no such host') });
      expect(hits).toBe(0);
    },
  );

  test.each(['jdbc:oracle:thin:@//public.example:<port>/db', described(at('public.example'))])(
    '%s: a name that has another address when the driver looks it up',
    async (url) => {
      await expect(refusal(url)).rejects.toMatchObject({ code: 'request/forbidden' });
      expect(hits).toBe(0);
    },
  );

  /** A listener that sends every client on. */
  const listener = (target: () => string): Promise<number> =>
    listen((socket) => socket.once('data', () => socket.write(redirection(target().replaceAll('<port>', String(port))))));
  const listed = (own: number): Reach => ({ ...CLOSED, hosts: [`127.0.0.1:${own}`, `listed.example:${own}`] });

  test.each([
    at('127.0.0.1'),
    described(at('localhost')).slice('jdbc:oracle:thin:@'.length),
    '//127.0.0.1:<port>/db',
    at('public.example'),
  ])('a listed server that sends its clients on to %s', async (target) => {
    const own = await listener(() => target);
    for (const host of ['127.0.0.1', 'listed.example'])
      await expect(refusal(`jdbc:oracle:thin:@//${host}:${own}/db`, listed(own))).rejects.toMatchObject({
        code: 'request/forbidden',
        message: expect.stringMatching(/leads on to .*:\d+, which is not followed/),
      });
    expect(hits).toBe(0);
  });

  test('a listed server is reached, and where everything may be reached a redirect is followed', async () => {
    const own = await listener(() => at('127.0.0.1'));
    await expect(refusal(`jdbc:oracle:thin:@//127.0.0.1:${own}/db`, { ...CLOSED, privateAddresses: true })).rejects.toMatchObject({
      code: 'database/unreachable',
    });
    expect(hits).toBe(1);
  });
});

describe('SQL Server, which may send its clients elsewhere', () => {
  test('a listed server that names one that is not listed', async () => {
    const server = await startSqlServer({ routes: { host: '127.0.0.1', port } });
    try {
      const url = `jdbc:sqlserver://127.0.0.1:${server.port};databaseName=db;encrypt=false`;
      await expect(refusal(url, { ...CLOSED, hosts: [`127.0.0.1:${server.port}`] })).rejects.toMatchObject({
        code: 'request/forbidden',
        message: expect.stringContaining(`port ${port}, may not be reached`),
      });
      expect(hits).toBe(0);
      await expect(refusal(url, { ...CLOSED, privateAddresses: true })).rejects.toMatchObject({ code: 'database/unreachable' });
      expect(hits).toBe(1);
    } finally {
      await server.stop();
    }
  });

  test('an instance of a host whose port alone is listed', async () => {
    const url = 'jdbc:sqlserver://listed.example\\main;databaseName=db';
    await expect(refusal(url, { ...CLOSED, hosts: ['listed.example:1433'] })).rejects.toMatchObject({
      code: 'request/forbidden',
      message: expect.stringContaining('port 1434, may not be reached'),
    });
  });
});

test('a guard ends with its work, and bounds nothing beside it', async () => {
  const { connect } = await import('node:net');
  const free = await listen((socket) => socket.end());
  const reached = (to: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: to }, () => resolve(true)).once('error', () => resolve(false));
      sockets.push(socket);
    });
  const reach = { ...CLOSED, hosts: ['127.0.0.1'] };
  const within = await connectingWithin(reach, { host: '127.0.0.1', port: free }, async () => [await reached(free), await reached(port)]);
  expect(within).toEqual([true, false]);
  const pipe = connectingWithin(reach, { host: '127.0.0.1', port: free }, async () => {
    await once(connect('/nowhere.sock'), 'connect');
  });
  await expect(pipe).rejects.toMatchObject({ code: 'request/forbidden', message: expect.stringContaining('/nowhere.sock') });
  expect(hits).toBe(0);
  expect(await reached(port)).toBe(true);
});

/** A packet of Oracle's protocol that sends the client to another address. */
function redirection(target: string): Buffer {
  const data = Buffer.from(target, 'ascii');
  const head = Buffer.alloc(10);
  head.writeUInt16BE(head.length + data.length, 0);
  head[4] = 5;
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([head, data]);
}
