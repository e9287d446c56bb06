import { describe, expect, test } from '@jest/globals';
import { Secret } from '../../../src/core/secret.ts';
import { databaseOptions, parseChanges, securityFor } from '../../../src/streams/feeds.ts';

describe('the address of topics', () => {
  test.each([
    ['kafka://localhost:9092/shop.public.{table}', ['localhost:9092'], 'shop.public.{table}', 'shop.transaction'],
    ['kafka://a:1,b:2,[::1]:3/a.b.shop.{table}', ['a:1', 'b:2', '[::1]:3'], 'a.b.shop.{table}', 'a.b.transaction'],
    ['kafka://a:1/{table}', ['a:1'], '{table}', undefined],
    ['kafka://a:1/x.{table}', ['a:1'], 'x.{table}', undefined],
  ])('%s', (address, brokers, pattern, transactionTopic) => {
    expect(parseChanges(address)).toEqual({ brokers, pattern, transactionTopic });
  });

  test.each([
    'kafka://a:1',
    'kafka://a/x.y.{table}',
    'kafka://a:1/x.y.z',
    'kafka://a:1/{table}.{table}',
    'kafka://user:secret@a:1/x.y.{table}',
    'http://a:1/x.y.{table}',
    'kafka://a:1/x y.{table}',
  ])('%s is refused, without a login in the message', (address) => {
    const refused = (): unknown => parseChanges(address);
    expect(refused).toThrow(/is not the address of topics/);
    expect(refused).not.toThrow(/secret/);
  });
});

test('what a feed makes on a server is named by the dataset', () => {
  const sql = { connectSeconds: 1, statementSeconds: 0, lockSeconds: 0 };
  const options = databaseOptions(
    {} as never,
    { sql, reach: undefined },
    { tables: new Map() },
    { id: 'ffffffff-1c11-4d2b-8b33-0123456789ab' },
  );
  expect(options).toMatchObject({
    slot: 'quadmill_ffffffff1c114d2b8b330123456789ab',
    publication: 'quadmill_ffffffff1c114d2b8b330123456789ab',
  });
  expect(options.serverId).toBeLessThan(2 ** 32);
});

test('brokers that only a mapping names get no login', () => {
  const login = { mechanism: 'plain', username: 'quadmill', password: new Secret('secret') } as const;
  const security = { login, tls: {} };
  const access = { security, registryUrl: undefined, trusted: ['a:1', 'b:2'] };
  expect(securityFor(['b:2', 'a:1'], access)).toBe(security);
  expect(securityFor(['a:1', 'c:3'], access)).toEqual({ login: undefined, tls: {} });
  expect(securityFor(['c:3'], { security, registryUrl: undefined })).toBe(security);
});
