/**
 * Messages of the output plugin `pgoutput`, protocol version 1, with values in the text format: PostgreSQL's own text for every column.
 *
 * @see https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
 */
import { isUtf8 } from 'node:buffer';
import { Fault } from '../../core/fault.ts';

/** A table as the messages that follow show it. */
export interface Relation {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly RelationColumn[];
}

export interface RelationColumn {
  readonly name: string;
  readonly type: number;
  readonly modifier: number;
}

/** By the columns of the relation; null: NULL; undefined: stored out of line and not changed, so the log does not have it. */
export type Tuple = readonly (string | null | undefined)[];

export type LogMessage =
  /** @property lsn of the commit; @property at milliseconds since 1970 */
  | { readonly kind: 'begin'; readonly lsn: bigint; readonly xid: number; readonly at: number }
  /** @property end where the next transaction may begin */
  | { readonly kind: 'commit'; readonly end: bigint }
  | {
      readonly kind: 'change';
      readonly relation: Relation;
      /** The whole row as it was, or its replica identity with nulls for the other columns; undefined: the identity stays. */
      readonly old: Tuple | undefined;
      /** undefined: the row is deleted. */
      readonly row: Tuple | undefined;
    }
  | { readonly kind: 'truncate'; readonly relations: readonly Relation[] };

const MS_TO_2000 = 946_684_800_000;

const NUL = 0;

/** Remembers the relations of one connection. */
export class Pgoutput {
  readonly #relations = new Map<number, Relation>();
  readonly #input: string;
  /** The server stores any bytes, without an encoding. */
  readonly #isAscii: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(input: string, isAscii: boolean) {
    this.#input = input;
    this.#isAscii = isAscii;
  }

  /**
   * @returns undefined: a message that changes no rows
   * @throws Fault source/malformed — not a message of the plugin; source/encoding — a text that is not UTF-8
   */
  read(bytes: Buffer): LogMessage | undefined {
    this.#bytes = bytes;
    this.#at = 1;
    try {
      return this.#message(String.fromCharCode(bytes[0] ?? NUL));
    } catch (error) {
      throw error instanceof Fault ? error : this.#malformed('ends too early');
    }
  }

  #message(kind: string): LogMessage | undefined {
    switch (kind) {
      case 'B': {
        const lsn = this.#uint64();
        return { kind: 'begin', lsn, at: Number(this.#uint64() / 1000n) + MS_TO_2000, xid: this.#uint32() };
      }
      case 'C':
        this.#at += 9; // flags, LSN of the commit
        return { kind: 'commit', end: this.#uint64() };
      case 'R':
        this.#relation();
        return undefined;
      case 'I':
      case 'U':
      case 'D':
        return this.#change();
      case 'T': {
        const count = this.#uint32();
        this.#at++; // CASCADE, RESTART IDENTITY
        return { kind: 'truncate', relations: Array.from({ length: count }, () => this.#known()) };
      }
      case 'O': // origin
      case 'Y': // type
      case 'M': // logical message
        return undefined;
      default:
        throw this.#malformed(`begins with ${JSON.stringify(kind)}`);
    }
  }

  #relation(): void {
    const id = this.#uint32();
    // The schema pg_catalog is written as an empty text.
    const schema = this.#string() || 'pg_catalog';
    const name = this.#string();
    this.#at++; // replica identity
    const columns = Array.from({ length: this.#uint16() }, () => {
      this.#at++; // whether the column is part of the replica identity
      return { name: this.#string(), type: this.#uint32(), modifier: this.#uint32() | 0 };
    });
    this.#relations.set(id, { id, schema, name, columns });
  }

  #known(): Relation {
    const id = this.#uint32();
    const relation = this.#relations.get(id);
    if (relation === undefined) throw this.#malformed(`names a relation ${id} that it has not described`);
    return relation;
  }

  #change(): LogMessage {
    const relation = this.#known();
    let old: Tuple | undefined;
    let row: Tuple | undefined;
    while (this.#at < this.#bytes.length) {
      const kind = String.fromCharCode(this.#bytes[this.#at++] as number);
      const tuple = this.#tuple(relation);
      if (kind === 'N') row = tuple;
      else old = tuple;
    }
    return { kind: 'change', relation, old, row };
  }

  #tuple(relation: Relation): Tuple {
    const count = this.#uint16();
    const tuple = new Array<string | null | undefined>(count);
    for (let i = 0; i < count; i++) {
      const kind = this.#bytes[this.#at++];
      if (kind === NULL) tuple[i] = null;
      else if (kind === UNCHANGED) tuple[i] = undefined;
      else if (kind === TEXT) tuple[i] = this.#text(relation, i);
      else throw this.#malformed('has a value that is not text');
    }
    return tuple;
  }

  #text(relation: Relation, column: number): string {
    const start = this.#at + 4;
    const end = start + this.#uint32();
    this.#at = end;
    if (end > this.#bytes.length) throw this.#malformed('ends too early');
    if (this.#isAscii && !isUtf8(this.#bytes.subarray(start, end)))
      throw new Fault(
        'source/encoding',
        `Column ${relation.columns[column]?.name} of ${relation.schema}.${relation.name} has a text that is not UTF-8`,
        {
          place: { input: this.#input, value: JSON.stringify(this.#bytes.toString('utf8', start, Math.min(end, start + 80))) },
          hint: "The database's encoding is SQL_ASCII, which keeps any bytes. Replication needs text that is UTF-8",
        },
      );
    return this.#bytes.toString('utf8', start, end);
  }

  #string(): string {
    const end = this.#bytes.indexOf(NUL, this.#at);
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  #uint16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  #uint32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  #uint64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigUInt64BE(this.#at - 8);
  }

  #malformed(what: string): Fault {
    return new Fault('source/malformed', `A message of the replication log ${what}`, { place: { input: this.#input } });
  }
}

const NULL = 110; // n
const UNCHANGED = 117; // u
const TEXT = 116; // t
