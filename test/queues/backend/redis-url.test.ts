/** Redis as `QUEUE_URL` names it. */
import { expect, test } from '@jest/globals';
import { isRedisUrl, parseRedisUrl } from '../../../queues/backend/redis-url.ts';
import { Fault } from '../../../src/core/fault.ts';

test.each([
  ['redis://h:1/2', { kind: 'server', secure: false, url: 'redis://h:1/2' }],
  ['rediss://u:p@h', { kind: 'server', secure: true, url: 'rediss://u:p@h' }],
  [
    'redis+sentinel://a,b:7/main',
    {
      kind: 'sentinel',
      secure: false,
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 7 },
      ],
      master: 'main',
      database: 0,
    },
  ],
  [
    'rediss+sentinel://us%40er:p%3Aw%2F@[::1]:9/my%20main/3',
    {
      kind: 'sentinel',
      secure: true,
      hosts: [{ host: '::1', port: 9 }],
      username: 'us@er',
      password: 'p:w/',
      master: 'my main',
      database: 3,
    },
  ],
  [
    'redis+cluster://:only@a.example, 10.0.0.1:7/0',
    {
      kind: 'cluster',
      secure: false,
      hosts: [
        { host: 'a.example', port: 6_379 },
        { host: '10.0.0.1', port: 7 },
      ],
      username: undefined,
      password: 'only',
    },
  ],
])('%s', (url, expected) => {
  expect(isRedisUrl(url)).toBe(true);
  expect(parseRedisUrl(url)).toEqual(expected);
});

test.each([
  ['redis+sentinel://u:hunter2@a', /does not name the master/],
  ['redis+sentinel://u:hunter2@a/', /does not name the master/],
  ['redis+sentinel://u:hunter2@a/main/x', /names the database 'x'/],
  ['redis+sentinel://u:hunter2@a/main/1/2', /names the database '1\/2'/],
  ['redis+sentinel://u:hunter2@/main', /names the host ''/],
  ['redis+sentinel://u:hunter2@a:0/main', /names the host 'a:0'/],
  ['redis+sentinel://u:hunter2@a:70000/main', /names the host 'a:70000'/],
  ['redis+sentinel://u:hunter2@a,,b/main', /names the host ''/],
  ['redis+sentinel://u:hunter2@a/m%zz', /name of the master/],
  ['redis+cluster://u:hunter2%zz@a', /login/],
  ['redis+cluster://u:hunter2@a/1', /a cluster has the database 0 alone/],
  ['redis+cluster://u:hunter2@a?family=6', /'\?family=6' at its end/],
  ['redis+cluster://u:hunter2@[::1', /names the host '\[::1'/],
])('%s is refused: %s', (url, message) => {
  const parse = (): unknown => parseRedisUrl(url);
  expect(parse).toThrow(Fault);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow(/hunter2/);
  expect(() => parse()).toThrow(expect.objectContaining({ code: 'config/invalid', hint: expect.stringMatching(/^Write it as redis/) }));
});

test.each(['redis', 'rediss', 'redis+sentinel', 'rediss+cluster'])(
  'a password of %s that is not encoded is refused, and not shown',
  (scheme) => {
    for (const [index, password] of ['hun/ter2', 'hun?ter2', 'hun#ter2', 'hun@ter2', '12/hunter2', '12?hunter2', '12#hunter2'].entries()) {
      const parse = (): unknown => parseRedisUrl(`${scheme}://user:${password}@host:6379/${index}`);
      expect(parse).toThrow(/login with characters that end it too early/);
      expect(parse).not.toThrow(/hun|ter2|12/);
    }
  },
);

test('a parameter may have an @', () => {
  expect(parseRedisUrl('redis://h:1/2?name=a@b')).toMatchObject({ kind: 'server' });
});

test.each(['redis:', 'redisx://a', 'postgres://a', 'redis+other://a'])('%s', (url) => {
  expect(isRedisUrl(url)).toBe(url === 'redis:');
});
