/** The process that reads a database file for a session (`host-process.ts`): requests as lines of JSON come in, replies go out. */
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { CellWriter } from './cells.ts';
import {
  type Cursor,
  type Engine,
  EngineError,
  type EngineFault,
  type FileProduct,
  type HostReply,
  type HostRequest,
  type OpenEngine,
} from './engine.ts';

const ENGINES: Readonly<Record<FileProduct, () => Promise<OpenEngine>>> = {
  sqlite: async () => (await import('./sqlite/sqlite.ts')).openSqlite,
  duckdb: async () => (await import('./duckdb/duckdb.ts')).openDuckdb,
};

// This thread may be within a query without end when the session's process is killed.
new Worker(new URL('./watchdog.js', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();

let engine: Engine | undefined;
let cursor: Cursor | undefined;

for await (const line of createInterface({ input: process.stdin })) {
  try {
    await answer(JSON.parse(line) as HostRequest);
  } catch (error) {
    cursor = undefined;
    send({ fault: faultFor(error) });
  }
}

/** Before the engine is open, its errors are judged already. */
function faultFor(error: unknown): EngineFault {
  if (error instanceof EngineError) return error.fault;
  return engine?.faultOf(error) ?? { kind: 'unreadable', message: `{} cannot be opened: ${(error as Error).message}` };
}

async function answer(request: HostRequest): Promise<void> {
  switch (request.kind) {
    case 'open': {
      const open = await ENGINES[request.product]();
      engine = await open(request.options);
      return send({ value: engine.version });
    }
    case 'describe':
      return send({ value: await (engine as Engine).describe(request.sql) });
    case 'rows':
      cursor = await (engine as Engine).rows(request.sql, request.table);
      return send({ value: null });
    case 'next':
      return sendBatch();
    case 'end':
      cursor?.close();
      cursor = undefined;
      return send({ value: null });
    case 'query':
      return send({ value: await (engine as Engine).plainRows(request.sql, request.parameters) });
  }
}

async function sendBatch(): Promise<void> {
  const cells = new CellWriter();
  if (cursor !== undefined && (await cursor.fill(cells))) cursor = undefined;
  send({ value: { rows: cells.rows, over: cursor === undefined, millionths: cells.millionths } }, cells.parts());
}

function send(reply: HostReply, body: readonly Buffer[] = []): void {
  const head = Buffer.from(JSON.stringify(reply), 'utf8');
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(head.length, 0);
  sizes.writeUInt32LE(
    body.reduce((sum, part) => sum + part.length, 0),
    4,
  );
  process.stdout.write(Buffer.concat([sizes, head, ...body]));
}
