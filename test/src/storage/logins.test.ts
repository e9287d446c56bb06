/** Which addresses a login of SOURCE_LOGINS is sent to. */
import { expect, test } from '@jest/globals';
import { Secret } from '../../../src/core/secret.ts';
import { loginFor, readLogins } from '../../../src/storage/logins.ts';

const LOGINS = readLogins([new Secret('https://host/own/ X-Key: abc')]);

test.each([
  ['https://host/own/people.csv', true],
  ['https://host/own/a%20b/people.csv', true],
  ['https://host/own/a%2Fb.csv', true],
  ['https://host/own/%2e%2e%2Fown/people.csv', true],
  ['https://host/own/100%25.csv', true],
  ['https://host/other/people.csv', false],
  ['https://host/own/../other/people.csv', false],
  ['https://host/own/..%2Fother/people.csv', false],
  ['https://host/own/..%2fother', false],
  ['https://host/own/%2e%2e%2Fother', false],
  ['https://host/own/..%5Cother', false],
  ['https://host/own/..%252Fother', false],
  ['https://host/own/x/..%2F..%2Fother', false],
  ['https://host/own%2Fpeople.csv', false],
  ['https://host/%2e%2e%2Fown/people.csv', false],
  ['https://host/own/..%2F%2Fevil.example/', false],
  ['https://other/own/people.csv', false],
])('%s: %s', (url, isSent) => {
  expect(loginFor(new URL(url), LOGINS).headers).toEqual(isSent ? { 'x-key': 'abc' } : {});
});
