/**
 * A server that speaks TDS 7.4, the protocol of SQL Server, as far as a login, batches of SQL, rows, errors and cancelling go. It knows no SQL: what it
 * answers is a table of the test. Written from the protocol's documentation.
 *
 * @see https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export type TdsValue = string | number | Buffer | null;

/** A result of a batch, or the server's refusal. */
export type TdsAnswer =
  | { readonly columns: readonly TdsColumn[]; readonly rows: Iterable<readonly TdsValue[]> }
  | { readonly error: TdsError }
  | 'done'
  /** Nothing is answered until the client cancels. */
  | 'hang'
  /** The connection is broken. */
  | 'break';

export interface TdsColumn {
  readonly name: string;
  /** `nvarchar(20)`, `nvarchar(max)`, `int`, `float`, `real`, `datetime`, `money`, `varbinary(8)`, `xml`. */
  readonly type: string;
}

export interface TdsError {
  readonly number: number;
  readonly message: string;
  readonly line?: number;
}

export interface TdsServer {
  readonly port: number;
  /** The batches so far, without those that set the connection up. */
  readonly batches: string[];
  /** Rows that the socket took; the server waits while it is full. */
  readonly sentRows: () => number;
  readonly cancels: () => number;
  /** What the last login said. */
  readonly login: () => { readonly user: string; readonly database: string; readonly application: string };
  stop(): Promise<void>;
}

export interface TdsOptions {
  answer(sql: string): TdsAnswer;
  /** The server to which each client is sent. */
  readonly routes?: { readonly host: string; readonly port: number };
  /** Messages that refuse the login, in their order. */
  readonly refuses?: readonly TdsError[];
  /** What the server says of TLS: 2 has none, 3 requires it. Default: 2. */
  readonly encryption?: number;
}

export async function startTds(options: TdsOptions): Promise<TdsServer> {
  const state = { batches: [] as string[], rows: 0, cancels: 0, login: { user: '', database: '', application: '' } };
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    void converse(socket, options, state).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    batches: state.batches,
    sentRows: () => state.rows,
    cancels: () => state.cancels,
    login: () => state.login,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const PRELOGIN = 0x12;
const LOGIN = 0x10;
const BATCH = 0x01;
const ATTENTION = 0x06;
const PACKET = 4096;

interface State {
  readonly batches: string[];
  rows: number;
  cancels: number;
  login: ReturnType<TdsServer['login']>;
}

async function converse(socket: Socket, { answer, refuses, routes, encryption = 2 }: TdsOptions, state: State): Promise<void> {
  const messages = messagesOf(socket);
  let isReady = false;
  let isHanging = false;
  for await (const { type, body } of messages) {
    if (type === PRELOGIN) await send(socket, prelogin(encryption));
    else if (type === LOGIN) {
      state.login = loginOf(body);
      const accepted = [loginAck(), ...(routes === undefined ? [] : [routing(routes)]), done(0)];
      await send(socket, Buffer.concat(refuses === undefined ? accepted : [...refuses.map(error), done(2)]));
    } else if (type === BATCH) {
      const sql = body.subarray(body.readUInt32LE(0)).toString('utf16le');
      if (!isReady) {
        // The driver's own settings.
        isReady = true;
        await send(socket, done(0));
        continue;
      }
      state.batches.push(sql);
      const answered = answer(sql);
      isHanging = answered === 'hang';
      if (!(await reply(socket, answered, state, () => messages.cancelled()))) return;
    } else if (type === ATTENTION) {
      state.cancels++;
      // The answer to the batch ends before that to the cancelling.
      if (isHanging) await send(socket, done(2));
      isHanging = false;
      await send(socket, done(0x20));
    }
  }
}

/** @returns false: the connection is broken */
async function reply(socket: Socket, answer: TdsAnswer, state: State, cancelled: () => boolean): Promise<boolean> {
  if (answer === 'break') {
    socket.destroy();
    return false;
  }
  // The client's attention is answered by the loop.
  if (answer === 'hang') return true;
  if (answer === 'done') await send(socket, done(0));
  else if ('error' in answer) await send(socket, Buffer.concat([error(answer.error), done(2)]));
  else {
    const types = answer.columns.map(({ type }) => type);
    const writer = new Packets(socket);
    await writer.write(metadata(answer.columns));
    let rows = 0;
    for (const row of answer.rows) {
      if (cancelled()) break;
      await writer.write(Buffer.concat([Buffer.from([0xd1]), ...row.map((value, i) => encode(value, types[i] as string))]));
      state.rows++;
      rows++;
    }
    await writer.end(done(0x10, rows));
  }
  return true;
}

interface Message {
  readonly type: number;
  readonly body: Buffer;
}

/** The client's messages, each put together of its packets. */
function messagesOf(socket: Socket): AsyncIterable<Message> & { cancelled(): boolean } {
  const ready: Message[] = [];
  let bytes = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let over = false;
  let wake = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 8 && bytes.length >= bytes.readUInt16BE(2)) {
      const length = bytes.readUInt16BE(2);
      const [type, status] = [bytes[0] as number, bytes[1] as number];
      parts.push(bytes.subarray(8, length));
      bytes = bytes.subarray(length);
      if ((status & 1) === 0) continue;
      ready.push({ type, body: Buffer.concat(parts) });
      parts = [];
    }
    wake();
  });
  socket.on('close', () => {
    over = true;
    wake();
  });
  return {
    cancelled: () => over || ready[0]?.type === ATTENTION,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const message = ready.shift();
        if (message !== undefined) yield message;
        else if (over) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

/** A message of the server, in packets. Waits while the socket is full. */
class Packets {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #number = 1;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length > PACKET - 8) await this.#packet(PACKET - 8, 0);
  }

  async end(bytes: Buffer): Promise<void> {
    await this.write(bytes);
    await this.#packet(this.#bytes.length, 1);
  }

  async #packet(length: number, status: number): Promise<void> {
    const header = Buffer.from([0x04, status, 0, 0, 0, 0, this.#number++ & 0xff, 0]);
    header.writeUInt16BE(length + 8, 2);
    const packet = Buffer.concat([header, this.#bytes.subarray(0, length)]);
    this.#bytes = this.#bytes.subarray(length);
    if (this.#socket.destroyed) throw new Error('the client has gone');
    if (!this.#socket.write(packet)) await Promise.race([once(this.#socket, 'drain'), once(this.#socket, 'close')]);
  }
}

const send = (socket: Socket, bytes: Buffer): Promise<void> => new Packets(socket).end(bytes);

function prelogin(encryption: number): Buffer {
  const values: readonly (readonly [number, readonly number[]])[] = [
    [0, [16, 0, 0x10, 0, 0, 0]],
    [1, [encryption]],
    [2, [0]],
    [3, []],
    [4, [0]],
  ];
  let at = values.length * 5 + 1;
  const head: number[] = [];
  for (const [option, data] of values) {
    head.push(option, at >> 8, at & 0xff, 0, data.length);
    at += data.length;
  }
  return Buffer.from([...head, 0xff, ...values.flatMap(([, data]) => data)]);
}

function loginOf(body: Buffer): State['login'] {
  const field = (at: number): string => {
    const from = body.readUInt16LE(at);
    return body.subarray(from, from + body.readUInt16LE(at + 2) * 2).toString('utf16le');
  };
  return { user: field(40), application: field(48), database: field(68) };
}

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const shortText = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), utf16(text)]);
const longText = (text: string): Buffer => Buffer.concat([uint16(text.length), utf16(text)]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function loginAck(): Buffer {
  const body = Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), shortText('Microsoft SQL Server'), Buffer.from([16, 0, 0x10, 0])]);
  return Buffer.concat([Buffer.from([0xad]), uint16(body.length), body]);
}

/** A change of the environment that names another server. */
function routing({ host, port }: { readonly host: string; readonly port: number }): Buffer {
  const route = Buffer.concat([Buffer.from([0]), uint16(port), longText(host)]);
  const body = Buffer.concat([Buffer.from([20]), uint16(route.length), route, uint16(0)]);
  return Buffer.concat([Buffer.from([0xe3]), uint16(body.length), body]);
}

function done(status: number, rows = 0): Buffer {
  const bytes = Buffer.alloc(13);
  bytes[0] = 0xfd;
  bytes.writeUInt16LE(status, 1);
  bytes.writeBigUInt64LE(BigInt(rows), 5);
  return bytes;
}

function error({ number, message, line = 1 }: TdsError): Buffer {
  const body = Buffer.concat([uint32(number), Buffer.from([1, 16]), longText(message), shortText('server'), shortText(''), uint32(line)]);
  return Buffer.concat([Buffer.from([0xaa]), uint16(body.length), body]);
}

const COLLATION = Buffer.from([0x09, 0x04, 0xd0, 0x00, 0x34]);

function metadata(columns: readonly TdsColumn[]): Buffer {
  const each = columns.map(({ name, type }) => Buffer.concat([uint32(0), uint16(1), typeInfo(type), shortText(name)]));
  return Buffer.concat([Buffer.from([0x81]), uint16(columns.length), ...each]);
}

const lengthOf = (type: string): number | undefined => (type.includes('max') ? undefined : Number(/\((\d+)/.exec(type)?.[1] ?? 0));

function typeInfo(type: string): Buffer {
  const length = lengthOf(type);
  switch (/^\w+/.exec(type)?.[0]) {
    case 'nvarchar':
      return Buffer.concat([Buffer.from([0xe7]), uint16(length === undefined ? 0xffff : length * 2), COLLATION]);
    case 'varbinary':
    case 'binary':
      return Buffer.concat([Buffer.from([0xa5]), uint16(length ?? 0xffff)]);
    case 'int':
      return Buffer.from([0x26, 4]);
    case 'float':
      return Buffer.from([0x6d, 8]);
    case 'real':
      return Buffer.from([0x6d, 4]);
    case 'money':
      return Buffer.from([0x6e, 8]);
    case 'datetime':
      return Buffer.from([0x6f, 8]);
    case 'xml':
      return Buffer.from([0xf1, 0]);
    default:
      throw new Error(`the server of the tests has no type ${type}`);
  }
}

/** A value as a row has it. Numbers of `money` are ten-thousandths; a `datetime` is text such as `2024-05-31T12:30:00.007Z`. */
function encode(value: TdsValue, type: string): Buffer {
  const base = /^\w+/.exec(type)?.[0] as string;
  const isPlp = base === 'xml' || lengthOf(type) === undefined;
  if (base === 'nvarchar' || base === 'varbinary' || base === 'binary' || base === 'xml') {
    if (value === null) return isPlp ? Buffer.alloc(8, 0xff) : uint16(0xffff);
    const bytes = Buffer.isBuffer(value) ? value : utf16(String(value));
    if (!isPlp) return Buffer.concat([uint16(bytes.length), bytes]);
    const total = Buffer.alloc(8);
    total.writeBigUInt64LE(BigInt(bytes.length));
    return Buffer.concat([total, ...(bytes.length === 0 ? [] : [uint32(bytes.length), bytes]), uint32(0)]);
  }
  if (value === null) return Buffer.from([0]);
  const bytes = Buffer.alloc(base === 'int' || base === 'real' ? 4 : 8);
  if (base === 'int') bytes.writeInt32LE(Number(value));
  else if (base === 'float') bytes.writeDoubleLE(Number(value));
  else if (base === 'real') bytes.writeFloatLE(Number(value));
  else if (base === 'money') {
    bytes.writeInt32LE(Number(BigInt(value as string) >> 32n), 0);
    bytes.writeUInt32LE(Number(BigInt(value as string) & 0xffffffffn), 4);
  } else {
    const at = Date.parse(String(value)) - Date.UTC(1900, 0, 1);
    const days = Math.floor(at / 86_400_000);
    bytes.writeInt32LE(days, 0);
    bytes.writeUInt32LE(Math.round(((at - days * 86_400_000) * 3) / 10), 4);
  }
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
