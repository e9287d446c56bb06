/** A thread of `threads.ts`: executes the units that it receives, one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../core/fault.ts';
import { unpackSecrets } from '../../core/secret.ts';
import type { Plan } from '../../plan/plan.ts';
import { ReservedBudget, SharedBudget } from '../distinct/distinct.ts';
import { withKeys } from '../execute/file-keys.ts';
import { executeScans, type ScansResult } from '../execute/scans.ts';
import { type PreparedRun, prepareRun } from '../prepare/prepare.ts';
import type { RunHooks, RunRequest } from '../request.ts';
import { GroupTables, mapsAlone } from './group.ts';
import { LineSender } from './line-sender.ts';
import type { FromThread, SharedGroup, ThreadData, ToThread, Unit } from './messages.ts';

const port = parentPort;
if (port === null) throw new Error('src/run/threads/thread is started as a worker thread');
const say = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

const { request: packed, snapshots, digest, keyed, budget: buffer } = workerData as ThreadData;
const request = unpackSecrets(packed);
const budget = new SharedBudget(request.memoryBudgetBytes, buffer);
const lines = new LineSender((bytes) => say({ kind: 'lines', bytes }, [bytes.buffer as ArrayBuffer]));
const groups = new Map<number, GroupTables>();
/** Resolves when what was sent last has been written. */
let written: (() => void) | undefined;

/** How often a thread reports its memory: as often as the process looks at its own. */
const MEMORY_MS = 250;

const hooks: RunHooks = {
  progress: (progress) => say({ kind: 'progress', progress }),
  reject: (rejection) => say({ kind: 'rejection', rejection }),
};

function tablesOf(group: SharedGroup, maps: Plan): GroupTables {
  const tables =
    groups.get(group.index) ??
    new GroupTables(group, maps, budget, (undecided, subjects) => {
      say({ kind: 'undecided', group: group.index, lines: undecided, subjects });
      return new Promise((resolve) => {
        written = resolve;
      });
    });
  groups.set(group.index, tables);
  return tables;
}

async function answer(message: ToThread, prepared: PreparedRun, maps: Plan): Promise<void> {
  switch (message.kind) {
    case 'written':
      if (message.buffer === undefined) written?.();
      else lines.free(message.buffer);
      return;
    case 'build': {
      const built = await tablesOf(message.group, maps).build(prepared, request, message.group);
      return say({ kind: 'built', ...built });
    }
    case 'unit':
      return say({ kind: 'done', index: message.unit.index, result: await execute(message.unit, prepared, maps) });
    case 'drop':
      await groups.get(message.group)?.drop();
      groups.delete(message.group);
      return;
    case 'end':
      await prepared.close();
      port?.close();
  }
}

async function execute(unit: Unit, prepared: PreparedRun, maps: Plan): Promise<ScansResult> {
  // What is left of indexes and sets when the unit ends goes back to the other threads.
  const own = new ReservedBudget(0, budget);
  const tables = unit.group === undefined ? undefined : tablesOf(unit.group, maps);
  const result = await (tables === undefined
    ? executeScans(request, prepared, unit.scans, lines, hooks, { budget: own })
    : executeScans(sliceOf(unit), { ...prepared, plan: maps }, unit.scans, lines, hooks, { ...tables.shared, budget: own }));
  own.release();
  await lines.flush();
  await tables?.sender.flush();
  return result;
}

/** Blank nodes of records have labels by slice. */
const sliceOf = ({ index, scans }: Unit): RunRequest => ({ ...request, slice: { index, digest, scans, snapshots } });

try {
  const found = await prepareRun(request, undefined, snapshots);
  if (found.digest !== digest) throw new Fault('run/lost', 'The mapping or the tables that it reads have changed since the run began');
  const prepared = withKeys(found, keyed);
  const maps = mapsAlone(prepared.plan);
  port.on('message', (message: ToThread) => {
    answer(message, prepared, maps).catch((error) => say({ kind: 'failed', fault: Fault.of(error).toJSON() }));
  });
  setInterval(() => {
    const { heapTotal, external } = process.memoryUsage();
    say({ kind: 'memory', bytes: heapTotal + external });
  }, MEMORY_MS).unref();
  say({ kind: 'ready' });
} catch (error) {
  say({ kind: 'failed', fault: Fault.of(error).toJSON() });
}
