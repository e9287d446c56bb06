/**
 * Datasets that share statements in a property graph. A property may stand for statements of several datasets, so the server keeps what each dataset states,
 * in a node for each subject (`stated` in `cypher.ts`).
 */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import type { Statement } from '../../nquads/statement.ts';
import { KEY, type Names, nodeKey } from '../../property-graph/names.ts';
import { type SharedStatements, TargetBusy, type VersionBatch } from '../target.ts';
import { changeInto } from './change.ts';
import type { BoltConnection, Work } from './connect.ts';
import { stated } from './cypher.ts';
import { writeAll } from './write.ts';

/** Of the statements of subjects that are read together. */
const MOST_CHARACTERS = 4_000_000;
/** Of the statements of one subject: they are held in memory, several times. */
const MOST_OF_A_SUBJECT = 64_000_000;

/**
 * Adds and removes statements of one dataset.
 *
 * **Claim.** Nodes and relationships then have what the statements of all datasets that share give, if they had it before. **Proof.** The nodes of the
 * subjects are locked, so what all datasets state about them does not change meanwhile. A statement leaves the union of their sets if it is removed from
 * this dataset and no other one has it. The change of the union is a change as `changeInto` takes it: what leaves, what is added, and all that stays of
 * subjects of which something leaves. Nodes of statements are changed in the same transaction. A repeated change finds its sets changed, so nothing leaves.
 *
 * All of these nodes are locked before those of the graph, and in one order, so that two writers never deadlock.
 */
export async function changeShared(work: Work, { removed, added }: VersionBatch, dataset: string, names: Names): Promise<void> {
  const changes = new Map<string, Change>();
  const changeOf = ({ subject }: Statement): Change => {
    const key = nodeKey(subject);
    const known = changes.get(key) ?? { subject, removed: [], added: [] };
    changes.set(key, known);
    return known;
  };
  for (const one of removed) changeOf(one).removed.push(one);
  for (const one of added) changeOf(one).added.push(one);
  for (const keys of await lock(work, [...changes.keys()].sort())) {
    const union: Record<'removed' | 'added' | 'kept', Statement[]> = { removed: [], added: [], kept: [] };
    const rows: unknown[] = [];
    const { records } = await work.run(stated.read, { keys });
    for (const record of records) {
      const key = record.get('key') as string;
      const change = changes.get(key) as Change;
      const { [KEY]: _, [dataset]: own = [], ...others } = record.get('stated') as Readonly<Record<string, readonly string[]>>;
      const next = new Set(own);
      for (const one of change.removed) next.delete(textOf(one));
      for (const one of change.added) next.add(textOf(one));
      const after = new Set([...next, ...Object.values(others).flat()]);
      const leaving = own.filter((text) => !after.has(text));
      union.added.push(...change.added);
      for (const text of leaving) union.removed.push(statementOf(change.subject, text));
      if (leaving.length > 0) for (const text of after) union.kept.push(statementOf(change.subject, text));
      rows.push({ iri: key, properties: { [dataset]: next.size === 0 ? null : [...next] } });
    }
    await changeInto(work, union, names);
    await writeAll(work, stated.store, { rows });
  }
}

interface Change {
  readonly subject: string;
  readonly removed: Statement[];
  readonly added: Statement[];
}

/**
 * Locks the nodes of subjects, which it makes if they are missing.
 *
 * @returns the keys in groups whose statements fit into memory together
 * @throws Fault limit/exceeded
 */
async function lock(work: Work, keys: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { records } = await work.run(stated.lock, { keys });
  const groups: string[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const key = record.get('key') as string;
    if (record.get('removed') === true) throw new TargetBusy(`A node was removed meanwhile: ${excerpt(key)}`);
    const size = Number(record.get('size'));
    if (size > MOST_OF_A_SUBJECT) throw tooLarge(key, size);
    if (characters + size > MOST_CHARACTERS) {
      groups.push([]);
      characters = 0;
    }
    groups.at(-1)?.push(key);
    characters += size;
  }
  return groups;
}

const tooLarge = (key: string, size: number): Fault =>
  new Fault(
    'limit/exceeded',
    `The datasets state ${size} characters about ${excerpt(key)}, and at most ${MOST_OF_A_SUBJECT} can be shared`,
    {
      hint: 'Write this dataset without --shared (SHARE_STATEMENTS) to a database that has no other one',
    },
  );

/** Of a statement, in characters, without its subject. */
const textOf = ({ predicate, object, graph }: Statement): string => fromBytes(`${predicate}\t${object}\t${graph}`);

function statementOf(subject: string, text: string): Statement {
  const [predicate = '', object = '', graph = ''] = toBytes(text).split('\t');
  return { subject, predicate, object, graph, line: 0 };
}

export function sharedStatements(connection: BoltConnection): SharedStatements {
  return {
    prepare: async (signal) => connection.schema(stated.constraint(await connection.agent(signal)), signal),
    async *read({ id }, signal) {
      for await (const rows of connection.rows(stated.all, { id }, signal))
        yield rows.map((row) => statementOf(`<${toBytes(row.get('iri') as string)}>`, row.get('statement') as string));
    },
  };
}
