/** The queue in Redis (or what speaks like it). */
import { Redis, type RedisOptions } from 'ioredis';
import { Fault } from '../../src/fault.ts';
import { redact } from '../../src/redact.ts';
import type { Turns } from '../turns.ts';
import type { Driver } from './driver.ts';
import type { SettingsStore } from './settings.ts';

const CONNECT_MS = 2_000;

/** Where a server is: a URL, or a socket of this machine. */
export type RedisAddress = { readonly url: string } | { readonly socket: string };

/** @throws Fault service/unavailable — the server cannot be reached */
export async function openRedis(
  address: RedisAddress,
  prefix: string,
  description: string,
  afterClose?: () => Promise<void>,
): Promise<Driver> {
  let closed = false;
  // BullMQ duplicates the consumers' connection, options included; none of the copies may go on trying after the end.
  const retryStrategy = (times: number): number | null => (closed ? null : Math.min(50 * 2 ** Math.min(times, 6), 1_000));
  // Commands of producers fail while the connection is away; those of consumers wait for it.
  const producer = connect(address, { enableOfflineQueue: false, maxRetriesPerRequest: 0, connectTimeout: CONNECT_MS, retryStrategy });
  try {
    await ready(producer, description);
  } catch (error) {
    closed = true;
    producer.disconnect();
    throw error;
  }
  const consumer = connect(address, { maxRetriesPerRequest: null, connectTimeout: CONNECT_MS, retryStrategy });
  return {
    kind: 'redis',
    description,
    factory: undefined,
    connection: (role) => (role === 'producer' ? producer : consumer),
    settings: settingsHash(producer, `${prefix}:quadmill:settings`),
    turns: turnsHash(producer, prefix),
    async ping() {
      await producer.ping();
    },
    async close() {
      closed = true;
      producer.disconnect();
      consumer.disconnect();
      await afterClose?.();
    },
  };
}

export function describeRedis(url: string): string {
  return `Redis at ${redact(url)}`;
}

export function connect(address: RedisAddress, options: RedisOptions): Redis {
  const client = 'url' in address ? new Redis(address.url, options) : new Redis({ ...options, path: address.socket });
  // BullMQ's objects report what happens on a connection; without any listener an error would end the process.
  client.on('error', () => undefined);
  client.setMaxListeners(0);
  return client;
}

function ready(client: Redis, description: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: Error | undefined;
    const fail = (): void => {
      const why = last === undefined ? `no answer within ${CONNECT_MS / 1000} s` : last.message;
      reject(new Fault('service/unavailable', `The queue (${description}) cannot be reached: ${why}`, { cause: last }));
    };
    const timer = setTimeout(fail, CONNECT_MS);
    client.on('error', (error) => {
      last = error;
    });
    client.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const COMPARE_AND_SET = `
local present = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] == '0' then
  if present then return 0 end
elseif present ~= ARGV[3] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1`;

function settingsHash(client: Redis, hash: string): SettingsStore {
  return {
    async read(keys) {
      const values = await client.hmget(hash, ...keys);
      return values.map((value) => value ?? undefined);
    },
    async compareAndSet(key, expected, value) {
      return (await client.eval(COMPARE_AND_SET, 1, hash, key, expected === undefined ? '0' : '1', expected ?? '', value)) === 1;
    },
  };
}

/** BullMQ's score of a waiting job is its priority times 2^32, and the order of arrival. */
const TAKE_TURN = `
local above, width, halved, pending, caller = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local unit = 4294967296
local from, to = string.format('%.0f', (above + 1) * unit), string.format('(%.0f', (above + width + 1) * unit)
local score = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, 1)[2]
local place = 1 + pending
if score then
  place = math.floor(tonumber(score) / unit) - above
  local last = caller ~= '' and tonumber(redis.call('HGET', KEYS[2], caller) or '')
  if last then place = math.max(place, last + 2 ^ (-last / halved)) end
else
  redis.call('DEL', KEYS[2])
end
place = string.format('%.17g', place)
if caller ~= '' then redis.call('HSET', KEYS[2], caller, place) end
return place`;

function turnsHash(client: Redis, prefix: string): Turns {
  client.defineCommand('quadmillTakeTurn', { numberOfKeys: 2, lua: TAKE_TURN });
  const { quadmillTakeTurn } = client as unknown as { quadmillTakeTurn(...values: readonly (string | number)[]): Promise<string> };
  return {
    async take({ queue, above, width, halvedAfter }, caller = '', pending = 0) {
      const keys = [`${prefix}:${queue}:prioritized`, `${prefix}:quadmill:turns:${queue}:${above}`];
      return Number(await quadmillTakeTurn.call(client, ...keys, above, width, halvedAfter, pending, caller));
    },
  };
}
