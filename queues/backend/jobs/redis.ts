/** Changes of single jobs, and lines of runs, in Redis. Changes use the keys of BullMQ: the hash of a job, its lock, and the lists and sets of ids. */
import type { Redis } from 'ioredis';
import type { JobChanges, Lock } from './changes.ts';
import type { DatasetLines } from './lines.ts';

/** The key of a lock that has expired is gone: the job is still active, and was neither started nor lost since. */
const HOLDS = `
local function holds(job, lock, active, id, token, starts, losses)
  local holder = redis.call('GET', lock)
  if holder then return holder == token end
  if (redis.call('HGET', job, 'ats') or '0') ~= starts or (redis.call('HGET', job, 'stc') or '0') ~= losses then return false end
  for _, one in ipairs(redis.call('LRANGE', active, 0, -1)) do
    if one == id then return true end
  end
  return false
end`;

/** The data is the text of a JSON object, never an empty one. Of two fields with one name the later counts, for `JSON.parse` as for us. */
const AMEND = `${HOLDS}
local job, lock, active = unpack(KEYS)
local fields, id, token, starts, losses = unpack(ARGV)
if token ~= '' and not holds(job, lock, active, id, token, starts, losses) then return 0 end
local data = redis.call('HGET', job, 'data')
if not data then return 0 end
redis.call('HSET', job, 'data', string.sub(data, 1, -2) .. ',' .. string.sub(fields, 2))
return 1`;

const TAKE = `
local job, lock, wait, prioritized, delayed, active = unpack(KEYS)
local id, token, duration = unpack(ARGV)
if redis.call('EXISTS', job) == 0 then return 0 end
if redis.call('ZREM', prioritized, id) + redis.call('ZREM', delayed, id) + redis.call('LREM', wait, 1, id) == 0 then return 0 end
redis.call('LPUSH', active, id)
redis.call('SET', lock, token, 'PX', duration)
return 1`;

/** Reading the whole data is left out where no field, at whatever depth, looks like the mark. Of two fields with one name the later counts. */
const CONFIRM = `${HOLDS}
local job, lock, active, stalled = unpack(KEYS)
local duration, id, token, starts, losses = unpack(ARGV)
if not holds(job, lock, active, id, token, starts, losses) then return 'lost' end
redis.call('SET', lock, token, 'PX', duration)
redis.call('SREM', stalled, id)
local data = redis.call('HGET', job, 'data')
if data and string.find(data, '"cancelled":true', 1, true) and cjson.decode(data).cancelled == true then return 'cancelled' end
return 'held'`;

type Script = (...values: readonly (string | number)[]) => Promise<unknown>;

export function jobChangesIn(client: Redis, prefix: string): JobChanges {
  client.defineCommand('quadmillAmend', { numberOfKeys: 3, lua: AMEND });
  client.defineCommand('quadmillTake', { numberOfKeys: 6, lua: TAKE });
  client.defineCommand('quadmillConfirm', { numberOfKeys: 4, lua: CONFIRM });
  const { quadmillAmend, quadmillTake, quadmillConfirm } = client as unknown as Readonly<Record<string, Script>> & {
    readonly [name in 'quadmillAmend' | 'quadmillTake' | 'quadmillConfirm']: Script;
  };
  const keyOf = (queue: string, name: string): string => `${prefix}:${queue}:${name}`;
  const jobAndLock = (queue: string, id: string): readonly string[] => [keyOf(queue, id), keyOf(queue, `${id}:lock`)];
  const held = (id: string, { token, starts, losses }: Lock): readonly (string | number)[] => [id, token, starts, losses];
  return {
    async amend(queue, id, fields, lock = { token: '', starts: 0, losses: 0 }) {
      const keys = [...jobAndLock(queue, id), keyOf(queue, 'active')];
      return (await quadmillAmend.call(client, ...keys, JSON.stringify(fields), ...held(id, lock))) === 1;
    },
    async take(queue, id, token, lockMs) {
      const lists = ['wait', 'prioritized', 'delayed', 'active'].map((name) => keyOf(queue, name));
      return (await quadmillTake.call(client, ...jobAndLock(queue, id), ...lists, id, token, lockMs)) === 1;
    },
    async confirm(queue, id, lock, lockMs) {
      const keys = [...jobAndLock(queue, id), keyOf(queue, 'active'), keyOf(queue, 'stalled')];
      return (await quadmillConfirm.call(client, ...keys, lockMs, ...held(id, lock))) as 'held' | 'cancelled' | 'lost';
    },
  };
}

const JOIN_LINE = `
local runs = redis.call('LRANGE', KEYS[1], 0, -1)
for before, run in ipairs(runs) do
  if run == ARGV[1] then return {runs[1], before - 1} end
end
redis.call('RPUSH', KEYS[1], ARGV[1])
return {runs[1] or ARGV[1], #runs}`;

const LEAVE_LINE = `
redis.call('LREM', KEYS[1], 1, ARGV[1])
return redis.call('LINDEX', KEYS[1], 0)`;

/** One list for each dataset. */
export function datasetLinesIn(client: Redis, prefix: string): DatasetLines {
  client.defineCommand('quadmillJoinLine', { numberOfKeys: 1, lua: JOIN_LINE });
  client.defineCommand('quadmillLeaveLine', { numberOfKeys: 1, lua: LEAVE_LINE });
  const { quadmillJoinLine, quadmillLeaveLine } = client as unknown as {
    readonly [name in 'quadmillJoinLine' | 'quadmillLeaveLine']: Script;
  };
  const keyOf = (dataset: string): string => `${prefix}:quadmill:line:${dataset}`;
  return {
    async join(dataset, run) {
      const [head, before] = (await quadmillJoinLine.call(client, keyOf(dataset), run)) as [string, number];
      return { head, before };
    },
    leave: async (dataset, run) => ((await quadmillLeaveLine.call(client, keyOf(dataset), run)) as string | null) ?? undefined,
  };
}
