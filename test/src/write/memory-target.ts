/** A store of the writer's contract in memory, for tests of the writer alone. It can refuse, be slow, fail and be killed at any call. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../src/core/fault.ts';
import type { Statement } from '../../../src/nquads/statement.ts';
import type { BatchSizes, GraphReplacement, GraphTarget, TargetProbe, UpdateScope } from '../../../src/targets/target.ts';

export type CallKind = 'probe' | 'prepare' | 'insert' | 'replace' | 'replaceGraph' | 'fill' | 'commit' | 'abort';

export interface Call {
  readonly kind: CallKind;
  readonly statements: readonly Statement[];
}

export interface Behaviour {
  readonly sizes?: Partial<BatchSizes>;
  readonly takesBlankNodes?: boolean;
  readonly takesTripleTerms?: boolean;
  /** Why a statement is refused. */
  readonly refuse?: (statement: Statement) => string | undefined;
  readonly delayMs?: number;
  /** Before the call has an effect; may throw, or never come back. */
  readonly before?: (call: Call, position: number) => void | Promise<void>;
  /** After it had its effect. */
  readonly after?: (call: Call, position: number) => void | Promise<void>;
}

export const lineOf = ({ subject, predicate, object, graph }: Statement): string =>
  `${subject} ${predicate} ${object}${graph === '' ? '' : ` ${graph}`} .`;

/** What lasts when a target is closed or killed. */
export class MemoryStore {
  readonly lines = new Map<string, Statement>();
  readonly staged = new Map<string, { readonly graph: string; readonly lines: Map<string, Statement> }>();

  get content(): string[] {
    return [...this.lines.keys()].sort();
  }

  add(statements: readonly Statement[]): void {
    for (const statement of statements) this.lines.set(lineOf(statement), statement);
  }

  removeWhere(matches: (statement: Statement) => boolean): void {
    for (const [line, statement] of this.lines) if (matches(statement)) this.lines.delete(line);
  }
}

const keyOf = ({ graph, subject, predicate }: Statement, scope: UpdateScope): string =>
  scope === 'graph' ? graph : scope === 'subject' ? `${graph} ${subject}` : `${graph} ${subject} ${predicate}`;

/** What a store that held `before` holds after an update by `input`. */
export function updated(before: readonly Statement[], input: readonly Statement[], scope: UpdateScope): string[] {
  const keys = new Set(input.map((statement) => keyOf(statement, scope)));
  const kept = before.filter((statement) => !keys.has(keyOf(statement, scope)));
  return [...new Set([...kept, ...input].map(lineOf))].sort();
}

export interface MemoryTarget extends GraphTarget {
  readonly store: MemoryStore;
  readonly calls: readonly Call[];
  /** Most requests that were under way at the same time. */
  readonly mostInFlight: number;
  count(kind: CallKind): number;
}

export function memoryTarget(behaviour: Behaviour = {}, store = new MemoryStore()): MemoryTarget {
  const calls: Call[] = [];
  let inFlight = 0;
  let mostInFlight = 0;

  async function call(kind: CallKind, statements: readonly Statement[], effect: () => void): Promise<void> {
    const one = { kind, statements };
    const position = calls.push(one) - 1;
    inFlight++;
    mostInFlight = Math.max(mostInFlight, inFlight);
    try {
      await behaviour.before?.(one, position);
      if (behaviour.delayMs !== undefined) await sleep(behaviour.delayMs);
      const reason = statements.map((statement) => behaviour.refuse?.(statement)).find((found) => found !== undefined);
      if (reason !== undefined) throw new Fault('target/refused', reason);
      effect();
      await behaviour.after?.(one, position);
    } finally {
      inFlight--;
    }
  }

  return {
    store,
    calls,
    get mostInFlight() {
      return mostInFlight;
    },
    count: (kind) => calls.filter((one) => one.kind === kind).length,
    describe: () => 'memory',
    sizes: { first: 50, least: 1, most: 400, inFlight: 3, ...behaviour.sizes },
    takesBlankNodes: behaviour.takesBlankNodes ?? false,
    takesTripleTerms: behaviour.takesTripleTerms ?? false,
    async probe(): Promise<TargetProbe> {
      await call('probe', [], () => undefined);
      return { product: 'memory', milliseconds: 0 };
    },
    prepare: () => call('prepare', [], () => undefined),
    insert: (statements) => call('insert', statements, () => store.add(statements)),
    replace(statements, scope) {
      const keys = new Set(statements.map((statement) => keyOf(statement, scope)));
      return call('replace', statements, () => {
        store.removeWhere((statement) => keys.has(keyOf(statement, scope)));
        store.add(statements);
      });
    },
    async replaceGraph(graph, key): Promise<GraphReplacement> {
      await call('replaceGraph', [], () => store.staged.set(key, { graph, lines: new Map() }));
      return {
        insert: (statements) =>
          call('fill', statements, () => {
            for (const statement of statements) store.staged.get(key)?.lines.set(lineOf(statement), statement);
          }),
        commit: () =>
          call('commit', [], () => {
            const staged = store.staged.get(key);
            if (staged === undefined) return;
            store.removeWhere((statement) => statement.graph === graph);
            store.add([...staged.lines.values()]);
            store.staged.delete(key);
          }),
        abort: () => call('abort', [], () => store.staged.delete(key)),
      };
    },
    close: async () => undefined,
  };
}
