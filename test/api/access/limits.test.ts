/** Limits by caller, with a clock of the test's own, and who the caller is. */
import { describe, expect, test } from '@jest/globals';
import { makeGuard } from '../../../api/access/guard.ts';
import { addressReader, Buckets } from '../../../api/access/limits.ts';
import { RequestFault } from '../../../api/problem.ts';
import { DEFAULTS, type OptionValues } from '../../../src/config/options/options.ts';
import { secrets } from '../../support/secrets.ts';

describe('a bucket', () => {
  const clock = { now: 0 };
  const open = () => new Buckets(() => clock.now);

  test('gives a minute of requests at once, then one each time that one has come back', () => {
    const buckets = open();
    const taken = (): number => buckets.take('a', 60);
    expect(Array.from({ length: 60 }, taken).every((seconds) => seconds === 0)).toBe(true);
    expect(taken()).toBe(1);
    clock.now += 999;
    expect(taken()).toBe(1);
    clock.now += 1;
    expect([taken(), taken()]).toEqual([0, 1]);
    clock.now += 3_600_000;
    expect(Array.from({ length: 61 }, taken).filter((seconds) => seconds > 0)).toEqual([1]);
  });

  test('says how long to wait, and waiting so long is enough', () => {
    for (const perMinute of [1, 2, 7, 59, 1_000]) {
      const buckets = open();
      while (buckets.take('a', perMinute) === 0);
      const seconds = buckets.wait('a', perMinute);
      expect(seconds).toBeLessThanOrEqual(Math.ceil(60 / perMinute));
      clock.now += seconds * 1_000;
      expect(buckets.take('a', perMinute)).toBe(0);
    }
  });

  test('is one for each caller, has no limit with 0, and a new limit holds at once', () => {
    const buckets = open();
    expect([buckets.take('a', 1), buckets.take('b', 1), buckets.take('a', 1)]).toEqual([0, 0, 60]);
    expect(Array.from({ length: 1_000 }, () => buckets.take('a', 0)).every((seconds) => seconds === 0)).toBe(true);
    expect(buckets.take('c', 1_000)).toBe(0);
    expect([buckets.take('c', 1), buckets.take('c', 1)]).toEqual([0, 60]);
  });

  test('is forgotten where very many came since, so memory is bounded', () => {
    const buckets = open();
    buckets.take('a', 1);
    for (let i = 0; i < 10_000; i++) buckets.take(`other ${i}`, 1);
    expect(buckets.take('a', 1)).toBe(0);
  });
});

describe('the address of a caller', () => {
  const read = addressReader(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);
  test.each<[string, string | undefined, string]>([
    ['198.51.100.1', undefined, '198.51.100.1'],
    ['::ffff:198.51.100.1', undefined, '198.51.100.1'],
    ['198.51.100.1', '203.0.113.5', '198.51.100.1'],
    ['10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['::ffff:10.1.2.3', ' 203.0.113.5 ', '203.0.113.5'],
    ['10.1.2.3', '1.1.1.1, 203.0.113.5', '203.0.113.5'],
    ['10.1.2.3', '203.0.113.5, 192.0.2.7, 10.9.9.9', '203.0.113.5'],
    ['10.1.2.3', 'nonsense', '10.1.2.3'],
    ['10.1.2.3', '203.0.113.5, nonsense', '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '10.5.5.5', '10.5.5.5'],
    ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', undefined, '2001:db8:1:2::/64'],
    ['2001:db8::1', undefined, '2001:db8:0:0::/64'],
    ['fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
    ['::1', undefined, '0:0:0:0::/64'],
    ['fd00::1', '2001:db8::5', '2001:db8:0:0::/64'],
  ])('from %s, forwarded for %p: %s', (socket, forwarded, expected) => {
    expect(read(socket, forwarded)).toBe(expected);
  });

  test.each(['nonsense', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129', '10.0.0.0/x', ''])('the proxy %p is refused', (entry) => {
    expect(() => addressReader([entry])).toThrow(/TRUSTED_PROXIES/);
  });
});

describe('the guard', () => {
  const TOKENS = { API_TOKENS: secrets(['ann:viewer:right-1', 'bob:viewer:right-2']) };
  const guardOf = (options: OptionValues) => {
    const all = { ...DEFAULTS, ...TOKENS, ...options };
    const guard = makeGuard(all, () => all);
    /** The name of the caller, or the status of the refusal with the seconds to wait. */
    return async (address: string, token?: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const request = { headers: { ...headers, ...authorization }, socket: { remoteAddress: address } };
      try {
        return (await guard.admit(request as never, { changes: false })).require('viewer');
      } catch (error) {
        if (!(error instanceof RequestFault)) throw error;
        return `${error.status} ${error.headers['Retry-After'] ?? ''}`.trim();
      }
    };
  };

  test('counts by token, wherever it comes from, and without one by address', async () => {
    const ask = guardOf({ REQUESTS_PER_MINUTE: 2 });
    expect([await ask('1.1.1.1', 'right-1'), await ask('2.2.2.2', 'right-1'), await ask('3.3.3.3', 'right-1')]).toEqual([
      'ann',
      'ann',
      '429 30',
    ]);
    expect(await ask('3.3.3.3', 'right-2')).toBe('bob');
    expect([await ask('3.3.3.3'), await ask('3.3.3.3'), await ask('3.3.3.3'), await ask('4.4.4.4')]).toEqual([
      '401',
      '401',
      '429 30',
      '401',
    ]);
  });

  test('locks an address after wrong tokens, but not who was right before from there, nor other addresses', async () => {
    const ask = guardOf({ WRONG_TOKENS_PER_MINUTE: 3 });
    expect(await ask('1.1.1.1', 'right-1')).toBe('ann');
    for (const guess of ['a', 'b', 'c']) expect(await ask('1.1.1.1', guess)).toBe('401');
    // Also the right one is refused: an answer would tell that it is right.
    expect([await ask('1.1.1.1', 'd'), await ask('1.1.1.1', 'right-2')]).toEqual(['429 20', '429 20']);
    expect([await ask('1.1.1.1', 'right-1'), await ask('2.2.2.2', 'right-2'), await ask('1.1.1.1')]).toEqual(['ann', 'bob', '401']);
  });

  test('locks the address behind a trusted proxy, and believes no other sender', async () => {
    const ask = guardOf({ WRONG_TOKENS_PER_MINUTE: 1, TRUSTED_PROXIES: ['10.0.0.1'] });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    expect(await ask('10.0.0.1', 'a', from('1.1.1.1'))).toBe('401');
    expect(await ask('10.0.0.1', 'right-1', from('1.1.1.1'))).toBe('429 60');
    expect(await ask('10.0.0.1', 'right-1', from('2.2.2.2'))).toBe('ann');
    expect(await ask('5.5.5.5', 'a', from('3.3.3.3'))).toBe('401');
    expect(await ask('5.5.5.5', 'a', from('4.4.4.4'))).toBe('429 60');
  });

  test('counts without tokens by address, and on a loopback address not at all', async () => {
    const open = guardOf({ API_TOKENS: [], HOST: '0.0.0.0', ALLOW_ANONYMOUS: true, REQUESTS_PER_MINUTE: 1 });
    expect([await open('1.1.1.1'), await open('1.1.1.1'), await open('2.2.2.2')]).toEqual(['anonymous', '429 60', 'anonymous']);
    const own = guardOf({ API_TOKENS: [], REQUESTS_PER_MINUTE: 1 });
    expect([await own('127.0.0.1'), await own('127.0.0.1')]).toEqual(['anonymous', 'anonymous']);
  });
});
