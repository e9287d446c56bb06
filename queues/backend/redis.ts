/** The queue in Redis or a compatible server: one, a master that sentinels watch, or a cluster. */
import type { Duplex } from 'node:stream';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import type { Driver } from './driver.ts';
import type { FairQueueing, PriorityBand } from './fair-queueing.ts';
import { datasetLinesIn, jobChangesIn } from './jobs/redis.ts';
import type { RecoverStalledJobs } from './jobs/stalled-jobs.ts';
import { explainError, explainRedis } from './redis-errors.ts';
import type { RedisAddress } from './redis-url.ts';
import type { SettingsStore } from './settings.ts';

const CONNECT_MS = 2_000;
/** What a ping has written goes away. */
const ALIVE_MS = 60_000;

/** @throws Fault service/unavailable — the servers cannot be reached; config/invalid — they are not of the kind that the address says */
export async function openRedis(
  address: RedisAddress,
  name: string,
  description: string,
  afterClose?: () => Promise<void>,
): Promise<Driver> {
  let closed = false;
  // BullMQ duplicates the consumers' connection with its options; no copy may keep reconnecting after `close`.
  const retryStrategy = (times: number): number | null => (closed ? null : Math.min(50 * 2 ** Math.min(times, 6), 1_000));
  // Commands of producers fail while the connection is down; those of consumers wait for it.
  const producer = connect(address, { enableOfflineQueue: false, maxRetriesPerRequest: 0, connectTimeout: CONNECT_MS, retryStrategy });
  try {
    await waitUntilReady(producer, address, description);
    if (address.kind === 'server') await assertNoNode(producer, description);
  } catch (error) {
    closed = true;
    producer.disconnect();
    throw error;
  }
  const consumer = connect(address, { maxRetriesPerRequest: null, connectTimeout: CONNECT_MS, retryStrategy });
  // BullMQ's scripts change several keys at once. A cluster keeps those with one tag in braces on one node.
  const prefix = address.kind === 'cluster' ? `{${name}}` : name;
  return {
    kind: 'redis',
    prefix,
    description,
    factory: undefined,
    connection: (role) => (role === 'producer' ? producer : consumer),
    settings: settingsHash(producer, `${prefix}:quadmill:settings`),
    fairQueueing: fairQueueingHash(producer, prefix),
    jobChanges: jobChangesIn(producer, prefix),
    datasetLines: datasetLinesIn(producer, prefix),
    recoverStalled: recoverStalledBy(producer, prefix),
    // BullMQ's objects report the errors of these connections.
    onError: () => undefined,
    async ping() {
      // A server that is full or read-only answers PING.
      await producer.set(`${prefix}:quadmill:alive`, Date.now(), 'PX', ALIVE_MS);
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

/** A client of a cluster has the same commands. */
export function connect(address: RedisAddress, options: RedisOptions): Redis {
  const client = clientOf(address, options);
  // BullMQ's objects report connection errors; without any listener an error would end the process.
  client.on('error', () => undefined);
  client.setMaxListeners(0);
  if (client instanceof Cluster) client.on('+node', joinWrites);
  else joinWrites(client);
  return client as Redis;
}

/**
 * Has the commands of one turn of the event loop written together. Each write is a call of the system here, and wakes the server there: many
 * small runs cost both less this way. Pipelines would change what becomes of commands when the connection breaks.
 */
function joinWrites(client: Redis): void {
  client.on('connect', () => {
    const { stream } = client as unknown as { readonly stream: Duplex };
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    let joining = false;
    stream.write = (...given: unknown[]): boolean => {
      if (!joining) {
        joining = true;
        stream.cork();
        process.nextTick(() => {
          joining = false;
          stream.uncork();
        });
      }
      return write(...given);
    };
  });
}

function clientOf(address: RedisAddress, options: RedisOptions): Redis | Cluster {
  if (address.kind === 'socket') return new Redis({ ...options, path: address.socket });
  const tls = address.tls === undefined ? {} : { tls: address.tls };
  if (address.kind === 'server') return new Redis(address.url, { ...options, ...tls });
  const { hosts, username, password } = address;
  const { retryStrategy, enableOfflineQueue, ...rest } = options;
  const common: RedisOptions = { ...rest, ...tls, username, password };
  if (address.kind === 'cluster') {
    return new Cluster([...hosts], {
      redisOptions: common,
      ...(enableOfflineQueue === undefined ? {} : { enableOfflineQueue }),
      clusterRetryStrategy: retryStrategy as ClusterOptions['clusterRetryStrategy'],
      // The names of certificates are those that the nodes announce, not the addresses that they stand for.
      dnsLookup: (name, found) => found(null, name),
    });
  }
  return new Redis({
    ...common,
    ...(enableOfflineQueue === undefined ? {} : { enableOfflineQueue }),
    retryStrategy,
    db: address.database,
    sentinels: [...hosts],
    name: address.master,
    sentinelUsername: address.sentinelUsername,
    sentinelPassword: address.sentinelPassword,
    ...(address.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: address.tls }),
    sentinelRetryStrategy: retryStrategy as RedisOptions['sentinelRetryStrategy'],
    // After a fail-over the former master is a replica: the connection asks the sentinels again and repeats the command.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  });
}

async function waitUntilReady(client: Redis, address: RedisAddress, description: string): Promise<void> {
  let lastError: Error | undefined;
  const isReady = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), CONNECT_MS);
    const end = (ready: boolean): void => {
      clearTimeout(timer);
      resolve(ready);
    };
    client.once('ready', () => end(true));
    client.on('error', (error) => {
      lastError = error;
      if (explainError(error, address).hint !== undefined) end(false);
    });
  });
  if (isReady) return;
  const { why, hint } = await explainRedis(lastError, address, CONNECT_MS);
  throw new Fault('service/unavailable', `The queue (${description}) cannot be reached: ${why}`, { hint, cause: lastError });
}

/** A node of a cluster refuses most of the keys, and says so at the first of them alone. */
async function assertNoNode(client: Redis, description: string): Promise<void> {
  if (!/^cluster_enabled:1/m.test(await client.info('cluster'))) return;
  throw new Fault('config/invalid', `The queue (${description}) is a node of a Redis Cluster`, {
    hint: 'Name nodes of the cluster in QUEUE_URL as redis+cluster://host:port,other:port',
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

/**
 * BullMQ's score of a waiting job is its priority times 2^32 plus a counter of arrivals. The current tag of the queue is stored under the
 * empty caller.
 */
const NEXT_START_TAG = `
local above, width, halved, pending, caller = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
if redis.call('EXISTS', KEYS[5]) == 1 then return false end
local unit = 4294967296
local from, to = string.format('%.0f', (above + 1) * unit), string.format('(%.0f', (above + width + 1) * unit)
local score = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, 1)[2]
local place = 1 + pending
if score or redis.call('ZCARD', KEYS[3]) + redis.call('LLEN', KEYS[4]) > 0 then
  place = 1
  if score then
    place = math.max(math.floor(tonumber(score) / unit) - above, tonumber(redis.call('HGET', KEYS[2], '') or 1))
  else
    for _, last in ipairs(redis.call('HVALS', KEYS[2])) do place = math.max(place, tonumber(last)) end
  end
  redis.call('HSET', KEYS[2], '', string.format('%.17g', place))
  local last = caller ~= '' and tonumber(redis.call('HGET', KEYS[2], caller) or '')
  if last then place = math.max(place, last + 2 ^ (-last / halved)) end
else
  redis.call('DEL', KEYS[2])
end
place = string.format('%.17g', place)
if caller ~= '' then redis.call('HSET', KEYS[2], caller, place) end
return place`;

function fairQueueingHash(client: Redis, prefix: string): FairQueueing {
  client.defineCommand('quadmillNextStartTag', { numberOfKeys: 5, lua: NEXT_START_TAG });
  const { quadmillNextStartTag } = client as unknown as {
    quadmillNextStartTag(...values: readonly (string | number)[]): Promise<string | null>;
  };
  /** @param id no job has an empty one */
  const take = ({ queue, offset, width, halfLife }: PriorityBand, caller: string, pending: number, id: string): Promise<string | null> => {
    const keyOf = (name: string): string => `${prefix}:${queue}:${name}`;
    const turns = `${prefix}:quadmill:turns:${queue}:${offset}`;
    const keys = [keyOf('prioritized'), turns, keyOf('delayed'), keyOf('active'), keyOf(id)];
    return quadmillNextStartTag.call(client, ...keys, offset, width, halfLife, pending, caller);
  };
  return {
    nextStartTag: async (band, caller = '', pending = 0) => Number(await take(band, caller, pending, '')),
    async startTagOf(id, band, caller, pending) {
      const tag = await take(band, caller, pending, id);
      return tag === null ? undefined : Number(tag);
    },
  };
}

/** Uses BullMQ's keys and events: marks of the previous check, the sorted set of priorities, and the marker that wakes waiting workers. */
const RECOVER_STALLED = `
local check, stalled, active, wait, prioritized, delayed, counter, marker, events, meta = unpack(KEYS)
local job, interval, first, longest, back = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local call = redis.call
-- A process that sleeps, or waits for the queue, says this late.
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if call('EXISTS', check) == 1 then return {} end
call('SET', check, now, 'PX', interval)
local most = call('HGET', meta, 'opts.maxLenEvents') or 10000
local function tell(...) call('XADD', events, 'MAXLEN', '~', most, '*', 'event', ...) end
local function toTurn(id, push, from)
  local priority = tonumber(call('HGET', job .. id, 'priority')) or 0
  if priority > 0 then call('ZADD', prioritized, priority * 4294967296 + call('INCR', counter) % 4294967296, id) else call(push, wait, id) end
  if call('HEXISTS', meta, 'paused') == 0 then call('ZADD', marker, 0, '0') end
  tell('waiting', 'jobId', id, 'prev', from)
end
for _, id in ipairs(call('ZRANGEBYSCORE', delayed, 0, (now + 1) * 4096 - 1, 'LIMIT', 0, 1000)) do
  call('ZREM', delayed, id)
  call('HSET', job .. id, 'delay', 0)
  toTurn(id, 'LPUSH', 'delayed')
end
local lost = {}
if back == '1' then call('DEL', stalled) end
for _, id in ipairs(call('SMEMBERS', stalled)) do
  if call('EXISTS', job .. id .. ':lock') == 0 and call('LREM', active, 1, id) > 0 and call('EXISTS', job .. id) == 1 then
    local pause = math.min(longest, first * 2 ^ (call('HINCRBY', job .. id, 'stc', 1) - 1))
    if pause > 0 then
      call('HSET', job .. id, 'delay', pause)
      call('ZADD', delayed, (now + pause) * 4096, id)
      tell('delayed', 'jobId', id, 'delay', now + pause)
    else
      toTurn(id, 'RPUSH', 'active')
    end
    tell('stalled', 'jobId', id)
    lost[#lost + 1] = id
  end
end
call('DEL', stalled)
for _, id in ipairs(call('LRANGE', active, 0, -1)) do call('SADD', stalled, id) end
-- A job that its worker gave back wakes no worker.
if call('ZCARD', prioritized) + call('LLEN', wait) > 0 and call('HEXISTS', meta, 'paused') == 0 then call('ZADD', marker, 0, '0') end
local due = call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
if #lost > 0 and due then call('ZADD', marker, tonumber(due) / 4096, '1') end
return lost`;

function recoverStalledBy(client: Redis, prefix: string): RecoverStalledJobs {
  client.defineCommand('quadmillRecover', { numberOfKeys: RECOVER_STALLED_KEYS.length, lua: RECOVER_STALLED });
  const { quadmillRecover } = client as unknown as { quadmillRecover(...values: readonly (string | number)[]): Promise<readonly string[]> };
  return (queue, intervalMs, { initialMs, maxMs }, isBack) => {
    const keys = RECOVER_STALLED_KEYS.map((name) => `${prefix}:${queue}:${name}`);
    return quadmillRecover.call(client, ...keys, `${prefix}:${queue}:`, intervalMs, initialMs, maxMs, isBack ? 1 : 0);
  };
}

const RECOVER_STALLED_KEYS = [
  'stalled-check',
  'stalled',
  'active',
  'wait',
  'prioritized',
  'delayed',
  'pc',
  'marker',
  'events',
  'meta',
] as const;
