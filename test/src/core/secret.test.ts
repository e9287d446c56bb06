/** A secret is printed by nothing, and reaches a thread. */
import { format, inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { packSecrets, Secret, unpackSecrets } from '../../../src/core/secret.ts';

const secret = new Secret('canary-4711');

const written = (value: unknown): string => {
  const lines: string[] = [];
  pino({ base: null }, { write: (line) => lines.push(line) }).info({ value }, 'said');
  return lines.join('');
};

describe('a secret', () => {
  test.each<[string, () => string]>([
    ['String', () => String(secret)],
    ['a template', () => `${secret}`],
    ['concatenation', () => `a${secret as unknown as string}`],
    ['join', () => [secret, secret].join()],
    ['JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspect', () => inspect({ secret, nested: { list: [secret] } }, { depth: 9, showHidden: true })],
    ['format', () => format('%s %o %j', secret, secret, secret)],
    ['an error', () => inspect(new Error(`no ${secret}`, { cause: { secret } }))],
    ['a log line', () => written({ deep: { secret } })],
    ['its properties', () => JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret), { ...secret }])],
    ['a structured clone', () => inspect(structuredClone(secret))],
    ['a number', () => String(Number(secret))],
  ])('is not printed by %s', (_, print) => {
    expect(print()).not.toContain('canary');
  });

  test('shows that it is one, and gives its text on demand', () => {
    expect(`${secret}|${JSON.stringify(secret)}|${inspect(secret)}`).toBe('******|"******"|******');
    expect(secret.reveal()).toBe('canary-4711');
    expect([Secret.of(undefined), Secret.of('x')]).toEqual([undefined, new Secret('x')]);
  });

  test('is compared by its text in tests', () => {
    expect({ secret }).toEqual({ secret: new Secret('canary-4711') });
    expect({ secret }).not.toEqual({ secret: new Secret('other') });
    expect({ secret }).not.toEqual({ secret: 'canary-4711' });
  });
});

test('what data has in several places stays one object', () => {
  const source = { connection: { password: secret } };
  const plan = { scans: [{ source }, { source }], operator: { input: { source } }, plain: { list: [1] } };
  const packed = packSecrets({ ...plan, again: plan.plain });
  expect(packed.packed.plain).toBe(plan.plain);
  const arrived = unpackSecrets(structuredClone(packed));
  expect(arrived).toEqual({ ...plan, again: plan.plain });
  expect(arrived.scans[1]?.source).toBe(arrived.scans[0]?.source);
  expect(arrived.operator.input.source).toBe(arrived.scans[0]?.source);
  expect(arrived.again).toBe(arrived.plain);
});

test('plain data with secrets is the same after a structured clone', () => {
  const data = { a: [{ password: secret }, 1, undefined], none: null, secret };
  const arrived = unpackSecrets(structuredClone(packSecrets(data)));
  expect(JSON.stringify(arrived)).toBe(JSON.stringify(data));
  expect(arrived.a[0]).toEqual({ password: secret });
  expect(String(arrived.secret)).toBe('******');
  const others = { bytes: new Uint8Array([1]), map: new Map([['k', 1]]) };
  expect(packSecrets(others).packed.map).toBe(others.map);
  expect(packSecrets(others).packed.bytes).toBe(others.bytes);
});
