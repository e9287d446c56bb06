/**
 * Prepared statements of PGlite: each is parsed once per session and then executed by name, in one message.
 *
 * PGlite's own `query` parses and plans every time and crosses into WebAssembly six times, which is most of the cost of the short
 * statements of a queue.
 */
import { type messages, type PGlite, parse, protocol, type Results } from '@electric-sql/pglite';

interface Prepared {
  readonly name: string;
  /** Type identifiers of the parameters, in order. */
  readonly parameters: readonly number[];
  /** Description of the result columns; empty for a statement without result. */
  readonly columns: readonly messages.BackendMessage[];
}

/** The queue has about a hundred distinct statements; the limit bounds the memory of the session. */
const MAX_PREPARED = 1_000;
/** The columns of a table have changed since the statement was parsed. @see PostgreSQL, appendix A, feature_not_supported */
const RESULT_CHANGED = '0A000';

export class PreparedStatements {
  private readonly database: PGlite;
  private readonly known = new Map<string, Prepared>();
  private count = 0;

  constructor(database: PGlite) {
    this.database = database;
  }

  /** Runs one statement. Only one call at a time: the caller holds the session. */
  async run(text: string, values: readonly unknown[]): Promise<Results | undefined> {
    const known = this.known.get(text);
    if (known === undefined && this.known.size >= MAX_PREPARED) return this.database.query(text, [...values]);
    try {
      return await this.execute(known ?? (await this.prepare(text)), values);
    } catch (error) {
      if (known === undefined || (error as { code?: string }).code !== RESULT_CHANGED) throw error;
      this.known.delete(text);
      if (this.database.isInTransaction()) throw error;
      return this.execute(await this.prepare(text), values);
    }
  }

  private async execute({ name, parameters, columns }: Prepared, values: readonly unknown[]): Promise<Results | undefined> {
    const { serialize } = protocol;
    const written = values.map((value, i) => this.write(value, parameters[i]));
    const answer = await this.send(serialize.bind({ statement: name, values: written }), serialize.execute({}), serialize.sync());
    return parse.parseResults([...columns, ...answer], this.database.parsers, {})[0];
  }

  private async prepare(text: string): Promise<Prepared> {
    const { serialize } = protocol;
    const name = `quadmill${this.count++}`;
    const answer = await this.send(serialize.parse({ name, text }), serialize.describe({ type: 'S', name }), serialize.sync());
    const prepared: Prepared = {
      name,
      parameters: parse.parseDescribeStatementResults(answer),
      columns: answer.filter((message) => message.name === 'rowDescription'),
    };
    this.known.set(text, prepared);
    return prepared;
  }

  private write(value: unknown, type: number | undefined): string | null {
    if (value === null || value === undefined) return null;
    return type === undefined ? String(value) : (this.database.serializers[type]?.(value) ?? String(value));
  }

  /** @throws the database's error; it ignores the rest of the message up to its sync */
  private send(...parts: readonly Uint8Array[]): Promise<messages.BackendMessage[]> {
    return this.database.execProtocolStream(Buffer.concat(parts));
  }
}
