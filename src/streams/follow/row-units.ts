/**
 * The rows of a follower as units of the comparison (`datasets/records/changes.ts`).
 *
 * **Claim.** The units of the version before are found, with the contents that they had. **Proof.** A key of a row that is not among those that have
 * changed has the row of the version: each change of a row, and each sweep, notes what the row was (`KeptRows`). An id is that of one key, and goes with the
 * row. So a unit of the index is one of the version if its id is that which its key had there. Entries of a unit are written before the version is
 * published or with it, and are removed with the publication of the version in which its row does not make them.
 *
 * A row that changes keeps its id. So a unit of the comparison also says which of the two versions its content is of: a row that stays has that of the version
 * before.
 */
import { createHash } from 'node:crypto';
import type { Manifest } from '../../datasets/manifest.ts';
import { countsEqual, JoinSides } from '../../datasets/records/joins.ts';
import { bitsOfKey, Tracing } from '../../datasets/records/tracing.ts';
import { type KeptUnits, NotByRecord, type Unit, type UnitKeeper, type Units } from '../../datasets/records/units.ts';
import { newSeed } from '../../datasets/versions/state.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunHooks } from '../../run/request.ts';
import type { Table } from '../../sql/tables.ts';
import { isTopicSource, tableOf } from '../topics/readings.ts';
import type { RowReading } from './reading.ts';
import type { KeptRows } from './state/rows.ts';
import type { FollowState, Kept } from './state/state.ts';

/** Of a unit that is compared: its share in the sets of the comparison, and in the pages that a transaction changes. */
const UNIT_BYTES = 1024;
const CHUNK = 1000;
/** Of rows that are held. */
const MOST_BYTES = 2 ** 25;
/** So many keys wait for entries of their units. */
const MOST_KEYS = 100_000;

/** The names of the tables that the scans of a plan read, by their positions. */
type ScannedTables = readonly string[];

/** A row that is read for a unit. */
interface UnitRow extends Kept {
  readonly unit: Unit;
}

export class RowUnits implements Units {
  readonly removed: Unit[] = [];
  readonly added: Unit[] = [];
  readonly bytes: number;
  readonly #rows: KeptRows;
  readonly #reading: RowReading;
  readonly #tables: ScannedTables;
  readonly #most: number;
  /** Id → key of the row, one-byte text, of rows of the version before that have been met; or the row, as far as memory goes. */
  readonly #met = new Map<number, string | Kept>();
  /** The same of rows that have come, or have another content. */
  readonly #fresh = new Map<number, string | Kept>();
  #bytes = 0;
  /** Ids of rows that have gone, or have another content. */
  readonly #gone = new Set<number>();
  /** Ids of rows that have many entries. */
  readonly #grown = new Set<number>();

  /** @param most so many rows may be met @throws NotByRecord — more have changed */
  constructor(rows: KeptRows, reading: RowReading, tables: ScannedTables, most: number) {
    this.#rows = rows;
    this.#reading = reading;
    this.#tables = tables;
    this.#most = most;
    const scans = new Map<number, number[]>();
    for (const [scan, name] of tables.entries()) {
      const { number } = rows.table(name) ?? {};
      if (number !== undefined) scans.set(number, [...(scans.get(number) ?? []), scan]);
    }
    if (rows.index.touched > most) throw tooMany();
    for (const key of rows.index.keys()) {
      const [old, now] = [rows.findOld(key), rows.find(key)];
      if (old !== undefined && now !== undefined && old.id === now.id && isSame(old, now)) continue;
      const of = scans.get(key.readUInt32BE()) ?? [];
      if (old !== undefined) {
        this.#gone.add(old.id);
        this.#meet(old, this.#met);
        for (const scan of of) this.removed.push(this.#unitOf(old.id, false, scan));
      }
      if (now !== undefined) {
        this.#meet(now, this.#fresh);
        for (const scan of of) this.added.push(this.#unitOf(now.id, true, scan));
      }
    }
    // Sets of more units would not fit in the memory.
    this.bytes = Math.min(2 * rows.index.size - this.removed.length + this.added.length, 2 * most);
  }

  bytesOf(): number {
    return 1;
  }

  scanOf(unit: Unit): number {
    return unit % this.#tables.length;
  }

  stays(unit: Unit): boolean {
    return !this.#gone.has(this.#idOf(unit));
  }

  makers(subjects: Iterable<number>, take: (units: readonly Unit[]) => void): void {
    const { length } = this.#tables;
    this.#rows.index.unitsOf(
      subjects,
      (kept) => this.#isOld(kept),
      (found) => take(found.map((kept) => this.#unitOf(Math.floor(kept / length), false, kept % length))),
    );
  }

  holders(keys: Iterable<number>, take: (units: readonly Unit[]) => void): void {
    this.makers(keys, take);
  }

  addMaker(subject: number, unit: Unit): void {
    const { index } = this.#rows;
    index.note(subject, this.#keptOf(unit), this.#isFresh(unit));
    if (index.isFull)
      this.#rows.save(() => {
        this.#grow(index.write((kept) => this.#keyOf(kept)));
        return {};
      });
  }

  addHolder(key: number, unit: Unit): void {
    this.addMaker(key, unit);
  }

  reading(units: readonly Unit[], took: (units: readonly Unit[]) => void): Pick<RunHooks, 'scan'> {
    return {
      scan: (position, opened) => {
        const chosen = this.#chunksOf(units.filter((unit) => this.scanOf(unit) === position));
        const batches = () => this.#reading.batches(opened, chosen, (row) => took([(row as UnitRow).unit]));
        // What some rows lack, others may have.
        return { ...opened, scan: { ...opened.scan, unmatched: () => [], warnings: () => [] }, batches };
      },
    };
  }

  /** The index is that of the new version. In a transaction. */
  commit(): void {
    const { index } = this.#rows;
    const [removed, added] = [this.removed, this.added].map((units) => Float64Array.from(units, (unit) => this.#keptOf(unit)).sort());
    this.#grow(index.commit(removed as Float64Array, new Set(added), (kept) => this.#keyOf(kept)));
    index.forgetBefore();
    // The next version has them as other units, and drops the entries that they have by now.
    for (const id of this.#grown) if (!this.#gone.has(id)) this.#rows.renew(keyIn(this.#met.get(id) as string | Kept));
  }

  #grow(kept: readonly Unit[]): void {
    for (const one of kept) this.#grown.add(Math.floor(one / this.#tables.length));
  }

  *#chunksOf(units: readonly Unit[]): Generator<readonly UnitRow[]> {
    for (let from = 0; from < units.length; from += CHUNK)
      yield units.slice(from, from + CHUNK).map((unit) => {
        const id = this.#idOf(unit);
        const isFresh = this.#isFresh(unit);
        const met = (isFresh ? this.#fresh : this.#met).get(id) as string | Kept;
        const row =
          typeof met !== 'string' ? met : !isFresh && this.#gone.has(id) ? this.#rows.findOld(keyIn(met)) : this.#rows.find(keyIn(met));
        // Equal rows are one unit.
        return { ...(row as Kept), count: 1, unit };
      });
  }

  /** Whether a unit of the index is one of the version before. */
  #isOld(kept: Unit): boolean {
    const id = Math.floor(kept / this.#tables.length);
    if (this.#met.has(id)) return true;
    if (this.#fresh.has(id)) return false;
    const key = this.#rows.index.keyOf(kept);
    const row = key && this.#rows.find(key);
    if (row?.id !== id) return false;
    if (this.#met.size > this.#most) throw tooMany();
    this.#meet(row, this.#met);
    return true;
  }

  #meet(row: Kept, rows: Map<number, string | Kept>): void {
    this.#bytes += row.bytes.length + row.key.length;
    rows.set(row.id, this.#bytes > MOST_BYTES ? row.key.toString('latin1') : row);
  }

  #unitOf(id: number, isFresh: boolean, scan: number): Unit {
    return (id * 2 + Number(isFresh)) * this.#tables.length + scan;
  }

  #idOf(unit: Unit): number {
    return Math.floor(unit / (2 * this.#tables.length));
  }

  #isFresh(unit: Unit): boolean {
    return Math.floor(unit / this.#tables.length) % 2 === 1;
  }

  /** As the index names it. */
  #keptOf(unit: Unit): Unit {
    return this.#idOf(unit) * this.#tables.length + this.scanOf(unit);
  }

  /** @param kept of a row that has been met */
  #keyOf(kept: Unit): Buffer {
    const id = Math.floor(kept / this.#tables.length);
    return keyIn((this.#fresh.get(id) ?? this.#met.get(id)) as string | Kept);
  }
}

const keyIn = (met: string | Kept): Buffer => (typeof met === 'string' ? Buffer.from(met, 'latin1') : met.key);

/** The same layout and cells. */
const isSame = (a: Kept, b: Kept): boolean => a.layout === b.layout && a.bytes.subarray(a.at).equals(b.bytes.subarray(b.at));

const tooMany = (): NotByRecord => new NotByRecord('most rows have changed, or are needed to know what stays');

/** Keeps the units of the newest version in the rows' index. */
export class KeptRowUnits implements UnitKeeper {
  readonly #rows: KeptRows;
  readonly #reading: RowReading;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #most: number;
  /** What makes the index that of the version which is made. */
  #draft: { readonly seed: number; readonly madeBy: string; readonly commit: () => void } | undefined;

  /** @param tables as the feed names them */
  constructor(rows: KeptRows, reading: RowReading, tables: ReadonlyMap<string, Table>, memoryBudgetBytes: number) {
    this.#rows = rows;
    this.#reading = reading;
    this.#tables = tables;
    this.#most = memoryBudgetBytes / UNIT_BYTES;
  }

  changed(prepared: PreparedRun, version: number, runId: string, madeBy: string): KeptUnits {
    this.#draft = undefined;
    const { index, lost } = this.#rows.state;
    if (index === undefined) throw new NotByRecord(lost ?? 'the rows of the last version are not known');
    if (index.version !== version || index.runId !== runId) throw new NotByRecord('the last version is not of these rows');
    const tables = this.#scanned(prepared);
    const wanted = this.#madeBy(madeBy, prepared, tables);
    if (index.madeBy !== wanted) throw new NotByRecord('the mapping, an option or the columns of a table have changed');
    this.#rows.index.forgetNoted();
    if (this.#rows.index.hasDrafts)
      this.#rows.save(() => {
        this.#rows.index.dropDrafts();
        return {};
      });
    const units = new RowUnits(this.#rows, this.#reading, tables, this.#most);
    const { seed } = index;
    this.#draft = { seed, madeBy: wanted, commit: () => units.commit() };
    return { units, seed };
  }

  record(prepared: PreparedRun, madeBy: string): Pick<RunHooks, 'scan' | 'subject' | 'trace'> {
    this.#draft = undefined;
    const tables = this.#scanned(prepared);
    const rows = this.#rows;
    const { index } = rows;
    rows.save(() => {
      index.clear();
      return { index: undefined };
    });
    const seed = newSeed();
    const keys = new Map<Unit, Buffer>();
    const write = (): Partial<FollowState> => {
      index.write((unit) => keys.get(unit) as Buffer);
      keys.clear();
      return {};
    };
    const note = (bits: number, unit: Unit): void => {
      index.note(bits, unit);
      if (index.isFull) rows.save(write);
    };
    const { hooks, took } = new Tracing(new JoinSides(prepared.plan), seed, {
      subject: note,
      isRoot: () => true,
      // Each has a key that names it.
      repeated: () => undefined,
      key: (key, side, unit) => note(bitsOfKey(key, side, seed), unit),
    });
    this.#draft = { seed, madeBy: this.#madeBy(madeBy, prepared, tables), commit: write };
    return {
      ...hooks,
      scan: (position, opened) => ({
        ...opened,
        batches: () =>
          this.#reading.batches(opened, undefined, ({ id, key }) => {
            if (keys.size >= MOST_KEYS) rows.save(write);
            const unit = id * tables.length + position;
            keys.set(unit, key);
            took([unit]);
          }),
      }),
    };
  }

  forget(reason: string): void {
    this.#draft = undefined;
    this.#rows.save(() => {
      this.#rows.index.clear();
      return { index: undefined, lost: reason };
    });
  }

  /** Makes the index that of a version. In a transaction. @returns what the state says of it */
  commit({ version, runId }: Pick<Manifest, 'version' | 'runId'>): Partial<FollowState> {
    const draft = this.#draft;
    if (draft === undefined) return {};
    this.#draft = undefined;
    draft.commit();
    return { index: { version, runId, seed: draft.seed, madeBy: draft.madeBy }, lost: undefined };
  }

  #scanned({ plan, databases }: PreparedRun): ScannedTables {
    return plan.scans.map((scan) => {
      const { source } = scan;
      const isCounted = countsEqual(scan, plan.checks);
      if (source.kind === 'file') {
        if (!isTopicSource(source)) throw new NotByRecord('the mapping reads more than tables and topics');
        // Messages of several keys may have equal records.
        if (isCounted) throw new NotByRecord(`equal records of ${source.request.topic} count, and no key tells them apart`);
        return tableOf(source);
      }
      const table = source.kind === 'sql' ? databases?.tableOf(source) : undefined;
      const found = [...this.#tables].find(([, { schema, name }]) => schema === table?.schema && name === table.name);
      if (source.kind !== 'sql' || found === undefined) throw new NotByRecord('the mapping reads more than tables and topics');
      // Equal rows are one unit.
      if (isCounted && databases?.keyOf(source).length === 0)
        throw new NotByRecord(`equal rows of ${found[0]} count, and no key tells them apart`);
      return found[0];
    });
  }

  /** What the feed and the database have said of columns decides how their texts are read, and which of them a reference means. */
  #madeBy(madeBy: string, { plan, databases }: PreparedRun, tables: ScannedTables): string {
    const columns = tables.map((name, scan) => {
      const table = this.#rows.table(name);
      const { source, iterations } = plan.scans[scan] as ScanPlan;
      const references = iterations.flatMap((iteration) => iteration.references);
      const key = source.kind === 'sql' ? databases?.keyOf(source) : undefined;
      const described = source.kind === 'sql' ? databases?.tableOf(source)?.columnsByName : undefined;
      const types = [...(described?.values() ?? [])].map((column) => [column.name, column.type, column.datatype]);
      const meant = references.map((reference) => {
        const found = table?.names.filter((column) => nameOf(column) === nameOf(reference)) ?? [];
        return found.length === 0 ? [reference] : found;
      });
      return [name, table?.columns, meant, types, key];
    });
    return createHash('sha256')
      .update(JSON.stringify([madeBy, columns]))
      .digest('hex');
  }
}

/** Equal for an identifier and the names that it may mean. */
const nameOf = (identifier: string): string => identifier.replaceAll(/["`[\]]/g, '').toLowerCase();
