/** Connection strings of Spark Connect. */
import { expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { parseSparkAddress } from '../../../src/spark/address.ts';

const BARE = { tls: false, userId: 'quadmill', agent: 'quadmill', headers: {} };

test.each([
  ['sc://spark', { ...BARE, server: 'spark:15002' }],
  ['sc://spark:80/', { ...BARE, server: 'spark:80' }],
  ['sc://[::1]:7/', { ...BARE, server: '[::1]:7' }],
  [
    'sc://spark:443/;use_ssl=true;user_id=Ada%20L;user_agent=etl',
    { ...BARE, server: 'spark:443', tls: true, userId: 'Ada L', agent: 'etl' },
  ],
  ['sc://spark/;token=a%3Db=c', { ...BARE, server: 'spark:15002', tls: true, headers: { authorization: 'Bearer a=b=c' } }],
  [
    'sc://127.0.0.1/;token=a;use_ssl=false;x-cluster-id=7',
    { ...BARE, server: '127.0.0.1:15002', headers: { authorization: 'Bearer a', 'x-cluster-id': '7' } },
  ],
])('reads %s', (text, address) => {
  expect(parseSparkAddress(text)).toEqual(address);
});

test.each([
  ['local[*]', 'is no address of a server'],
  ['sc://', 'is no address of a server'],
  ['sc://spark:99999', 'is no address of a server'],
  ['sc://spark/database', 'is no address of a server'],
  ['sc://user:secret@spark', 'is no address of a server'],
  ['sc://spark/;token', 'a parameter that is no NAME=VALUE'],
  ['sc://spark/;token=secret;token=secret', 'the parameter token twice'],
  ['sc://spark/;token=secret%', 'a value of token with a percent sign that encodes nothing'],
  ['sc://spark/;token=secret%0A', 'a token that no header may have'],
  ['sc://spark/;x-key=secret%00', 'a value of x-key that no header may have'],
  ['sc://spark/;Ä=secret', 'the parameter "Ä", which is no name of a header'],
  ['sc://spark/;use_ssl=yes', 'another use_ssl than true or false'],
  ['sc://spark/;token=secret;use_ssl=false', 'would send its token to spark without TLS'],
  ['sc://spark/;session_id=secret', 'the parameter session_id, which is not supported'],
])('refuses %s, and does not show what may be a secret', (text, message) => {
  const read = (): unknown => parseSparkAddress(text);
  expect(read).toThrow(Fault);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/secret/);
});
