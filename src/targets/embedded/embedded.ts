/** The embedded store: triples in memory, saved to a directory, behind SPARQL in a thread of this process. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { compiled } from '../../core/compiled.ts';
import { Fault } from '../../core/fault.ts';
import { lockDirectory } from '../../storage/local/directory-lock.ts';

import { STORE_PATH } from './http/server.ts';
import { type FromStoreThread, LARGEST_STORE_MB, type StoreLimits, type StoreThreadData } from './messages.ts';

export interface EmbeddedStore {
  /** `http://user:password@127.0.0.1:port/sparql`. It grants write access: not for logs. */
  readonly endpoint: string;
  /** Statements when the store was opened. */
  readonly quads: number;
  /** Ends the thread and releases the directory. Acknowledged writes are on disk at any time. */
  close(): Promise<void>;
}

export interface EmbeddedStoreOptions extends Partial<StoreLimits> {
  /** Receives problems that made no request fail. Default: a warning of the process. */
  readonly warn?: (message: string) => void;
  /** Opens a damaged store with what can be read; the damaged files are kept. Default: false. */
  readonly salvage?: boolean;
}

/** What a caller that sets no limits gets. The time limits of the service are options. */
const STORE_LIMITS: StoreLimits = {
  querySeconds: 0,
  updateSeconds: 0,
  memoryBytes: LARGEST_STORE_MB * 1_000_000,
  bodyBytes: 512 * 1024 * 1024,
  journalBytes: 64 * 1024 * 1024,
};

const HINT = 'Stop that process, write through its /sparql or its /graph-writer/process, or take another directory';

/**
 * Opens the store in `directory`, which is created when missing. A million statements take 0.5 to 0.8 GB of memory and two to five
 * seconds to open.
 *
 * @throws Fault service/unavailable — another process has the directory open; store/damaged — acknowledged writes cannot be read
 */
export async function openEmbeddedStore(directory: string, options: EmbeddedStoreOptions = {}): Promise<EmbeddedStore> {
  const { warn = (message) => process.emitWarning(message), salvage = false, ...limits } = options;
  const path = resolve(directory);
  const lock = await lockDirectory(path, { what: 'store', hint: HINT });
  const login = { username: 'quadmill', password: randomBytes(24).toString('base64url') };
  const data: StoreThreadData = { directory: path, login, limits: { ...STORE_LIMITS, ...limits }, salvage };
  try {
    const { thread, port, quads } = await startThread(data, warn);
    const exited = new Promise<void>((done) => thread.once('exit', () => done()));
    return {
      endpoint: `http://${login.username}:${login.password}@127.0.0.1:${port}${STORE_PATH}`,
      quads,
      async close() {
        thread.postMessage({ kind: 'close' });
        await exited;
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function startThread(data: StoreThreadData, warn: (message: string) => void): Promise<{ thread: Worker; port: number; quads: number }> {
  const thread = new Worker(compiled('src/targets/embedded/thread.js'), { workerData: data });
  return new Promise((open, reject) => {
    const fail = (fault: Fault): void => {
      // Once the store listens, the promise is settled and this rejection has no effect.
      reject(fault);
      void thread.terminate();
    };
    thread.on('message', (message: FromStoreThread) => {
      if (message.kind === 'listening') open({ thread, port: message.port, quads: message.quads });
      else if (message.kind === 'warning') warn(message.message);
      else fail(Fault.from(message.fault));
    });
    thread.on('error', (error) => {
      warn(`The thread of the embedded store ended: ${error.message}`);
      fail(new Fault('internal/error', `The thread of the embedded store ended: ${error.message}`, { cause: error }));
    });
  });
}

/** The directory that an endpoint of type `embedded` names, as a path or a `file:` URL. */
export const storeDirectory = (endpoint: string): string => (/^file:/i.test(endpoint) ? fileURLToPath(endpoint) : resolve(endpoint));
