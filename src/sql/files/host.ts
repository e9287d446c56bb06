/** The process that reads a database file for a session (`host-process.ts`): requests as lines of JSON come in, replies go out. */
import { createInterface } from 'node:readline';
import { CellWriter } from './cells.ts';
import {
  type Engine,
  EngineError,
  type EngineFault,
  type FileProduct,
  type HostReply,
  type HostRequest,
  type OpenEngine,
} from './engine.ts';

const BATCH_ROWS = 2048;
const BATCH_CHARACTERS = 2 ** 20;

const ENGINES: Readonly<Record<FileProduct, () => Promise<OpenEngine>>> = {
  sqlite: async () => (await import('./sqlite/sqlite.ts')).openSqlite,
};

let engine: Engine | undefined;
let cursor: Iterator<readonly (string | null)[]> | undefined;

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
      cursor = (engine as Engine).rows(request.sql)[Symbol.iterator]();
      return send({ value: null });
    case 'next':
      return sendBatch();
    case 'end':
      cursor?.return?.();
      cursor = undefined;
      return send({ value: null });
    case 'query':
      return send({ value: [...(engine as Engine).plainRows(request.sql, request.parameters)] });
  }
}

function sendBatch(): void {
  const cells = new CellWriter();
  while (cursor !== undefined && cells.rows < BATCH_ROWS && cells.size < BATCH_CHARACTERS) {
    const { done, value } = cursor.next();
    if (done === true) cursor = undefined;
    else cells.add(value);
  }
  send({ value: { rows: cells.rows, over: cursor === undefined } }, cells.bytes());
}

function send(reply: HostReply, body: Buffer = Buffer.alloc(0)): void {
  const head = Buffer.from(JSON.stringify(reply), 'utf8');
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(head.length, 0);
  sizes.writeUInt32LE(body.length, 4);
  process.stdout.write(Buffer.concat([sizes, head, body]));
}
