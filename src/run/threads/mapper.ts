/** In a thread: executes units of a run, one after the other. */
import type { Plan } from '../../plan/plan.ts';
import { type MemoryBudget, ReservedBudget } from '../../spill/budget.ts';
import { withKeys } from '../execute/key-finder.ts';
import type { StatementSink } from '../execute/outputs.ts';
import { executeScans, type ScansResult } from '../execute/scans.ts';
import { mapsAlone } from '../execute/sides.ts';
import type { PreparedRun } from '../prepare/open.ts';
import type { RunHooks, RunRequest } from '../request.ts';
import { GroupTables } from './group.ts';
import type { FromMapper, SharedGroup, ToMapper, UndecidedStatements, Unit } from './messages.ts';
import { TextSender } from './text-sender.ts';

export class Mapper {
  readonly #request: RunRequest;
  #prepared: PreparedRun;
  readonly #maps: Plan;
  /** From which all threads take. */
  readonly #budget: MemoryBudget;
  readonly #send: (message: FromMapper, transfer?: ArrayBuffer[]) => void;
  readonly #hooks: RunHooks;
  readonly #sender: TextSender;
  #sink: StatementSink;
  readonly #groups = new Map<number, GroupTables>();
  /** What was undecided has been stored. */
  #stored: () => void = () => undefined;

  constructor(
    request: RunRequest,
    prepared: PreparedRun,
    budget: MemoryBudget,
    send: (message: FromMapper, transfer?: ArrayBuffer[]) => void,
  ) {
    this.#request = request;
    this.#prepared = prepared;
    this.#maps = mapsAlone(prepared.plan);
    this.#budget = budget;
    this.#send = send;
    this.#hooks = {
      progress: (progress) => send({ kind: 'progress', progress }),
      reject: (rejection) => send({ kind: 'rejection', rejection }),
      loss: () => send({ kind: 'loss' }),
    };
    this.#sender = new TextSender((bytes, output) => send({ kind: 'text', bytes, output }, [bytes.buffer as ArrayBuffer]));
    this.#sink = this.#sender;
  }

  /** @throws Fault the first one of a record or a document, which ends the run */
  async receive(message: ToMapper): Promise<void> {
    switch (message.kind) {
      case 'keys':
        // Units that were mapped before this have compared subjects, those behind it do not. No two records of the document have the same key. So no
        // record repeats a statement of one that was mapped before, with tables or without.
        this.#prepared = withKeys(this.#prepared, message.keys);
        return;
      case 'forms':
        this.#sink = { forms: message.forms, write: (text, output) => this.#sender.write(text, output) };
        return;
      case 'written':
        if (message.buffer === undefined) this.#stored();
        else this.#sender.free(message.buffer);
        return;
      case 'build': {
        const built = await this.#tablesOf(message.group).build(this.#prepared, this.#request, message.group);
        return this.#send({ kind: 'built', ...built });
      }
      case 'unit':
        return this.#send({ kind: 'done', index: message.unit.index, result: await this.#execute(message.unit) });
      case 'drop':
        await this.#groups.get(message.group)?.drop();
        this.#groups.delete(message.group);
    }
  }

  #tablesOf(group: SharedGroup): GroupTables {
    const send = (statements: UndecidedStatements): Promise<void> =>
      new Promise((resolve) => {
        this.#stored = resolve;
        this.#send({ kind: 'undecided', group: group.index, statements });
      });
    const tables = this.#groups.get(group.index) ?? new GroupTables(group, this.#maps, this.#budget, send);
    this.#groups.set(group.index, tables);
    return tables;
  }

  async #execute(unit: Unit): Promise<ScansResult> {
    // What is left of indexes and sets when the unit ends goes back to the other threads.
    const own = new ReservedBudget(0, this.#budget);
    const { group, scans } = unit;
    let result: ScansResult;
    if (group === undefined) result = await executeScans(this.#request, this.#prepared, scans, this.#sink, this.#hooks, { budget: own });
    else {
      const tables = this.#tablesOf(group);
      const prepared = { ...this.#prepared, plan: this.#maps };
      const shared = { ...tables.shared, budget: own };
      result = await executeScans(this.#sliceOf(unit), prepared, scans, this.#sink, this.#hooks, shared);
      await tables.sender.flush();
    }
    own.release();
    await this.#sender.flush();
    return result;
  }

  /** Seeds of functions are those of the slice. */
  #sliceOf({ index, scans }: Unit): RunRequest {
    return { ...this.#request, slice: { index, digest: this.#prepared.digest, scans, snapshots: {} } };
  }
}
