/**
 * Methods of JARs, called in a separate Java process. A mapping thread calls them as functions: it waits for the answer.
 *
 * Several calls are one message. `QuadmillFunctions.java` is the other side.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { compiled } from '../../core/compiled.ts';
import { Fault } from '../../core/fault.ts';
import { CallLimitError, type Outcome } from '../../functions/definition.ts';
import type { CallLimits } from '../files.ts';
import { HOST_CLASS } from './host-class.ts';
import type { FromRelay, RelayData, ToRelay } from './messages.ts';

export interface JavaMethod {
  readonly className: string;
  readonly method: string;
  readonly parameters: number;
}

const HOST = 'QuadmillFunctions';
/** A machine under load takes seconds to start Java. */
const START_MS = 60_000;
const KILL_MS = 10_000;
/** Calls that are made together have no more text than this. */
const MOST_CHARACTERS = 2 ** 20;

const NOTHING = -1;
const LIST = -2;
const ERROR = -(2 ** 31);

type Values = readonly (readonly unknown[])[];

export class JavaProcess {
  readonly #methods: readonly JavaMethod[];
  readonly #limits: CallLimits;
  readonly #directory: string;
  readonly #relay: Worker;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #heard = 0;
  #running = false;

  /** @param jars absolute paths */
  constructor(jars: readonly string[], methods: readonly JavaMethod[], limits: CallLimits) {
    this.#methods = methods;
    this.#limits = limits;
    this.#directory = mkdtempSync(join(tmpdir(), 'quadmill-java-'));
    writeFileSync(join(this.#directory, `${HOST}.class`), Buffer.from(HOST_CLASS, 'base64'));
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const java = process.env.JAVA_HOME === undefined ? 'java' : join(process.env.JAVA_HOME, 'bin', 'java');
    const memory = [
      `-Xmx${limits.memoryMb}m`,
      '-XX:+ExitOnOutOfMemoryError',
      '-XX:+DisplayVMOutputToStderr',
      '-XX:+UseSerialGC',
      '-Xshare:auto',
    ];
    const data: RelayData = {
      port: port2,
      signal: this.#signal,
      command: java,
      args: [...memory, '-Dfile.encoding=UTF-8', '-Djava.awt.headless=true', '-cp', this.#directory, HOST],
      directory: this.#directory,
      greeting: greetingOf(jars, methods),
    };
    this.#relay = new Worker(compiled('src/custom-functions/java/relay.js'), { workerData: data, transferList: [port2] });
    this.#relay.unref();
    port1.unref();
  }

  /** @throws Fault functions/invalid — there is no Java, or no such class or method */
  start(): void {
    if (this.#running) return;
    this.#tell({ kind: 'start' });
    const answer = this.#receive(START_MS);
    if (answer === undefined) {
      this.#kill();
      throw new Fault('functions/invalid', `Java did not start within ${START_MS / 1000} s`);
    }
    if (answer.kind === 'ended') {
      throw new Fault('functions/invalid', `The Java process of the custom functions does not start: ${answer.reason}`, {
        hint: 'Functions in a JAR need a Java runtime, 11 or newer, in PATH or JAVA_HOME, on every machine with workers',
      });
    }
    const [, problems] = textsOf(answer.bytes);
    if (problems.length > 0) {
      this.#receive(KILL_MS);
      throw new Fault('functions/invalid', problems.map((problem) => `The JAR cannot be used: ${problem}`).join('\n'));
    }
    this.#running = true;
  }

  close(): void {
    this.#running = false;
    this.#tell({ kind: 'kill' });
    this.#port.close();
    void this.#relay.terminate();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** See `FunctionDefinition.callAll`. @param index of the method */
  callAll(index: number, calls: Values): readonly Outcome[] {
    this.start();
    const { parameters } = this.#methods[index] as JavaMethod;
    const { bytes, count } = askFor(index, parameters, calls);
    this.#tell({ kind: 'ask', bytes });
    const answer = this.#receive(this.#limits.seconds * 1000);
    if (answer?.kind === 'answer') return outcomesOf(answer.bytes, count);
    if (answer === undefined) this.#kill();
    this.#running = false;
    // Which call needed too much is not known: the first one is made again alone.
    if (count > 1) return this.callAll(index, calls.slice(0, 1));
    const { seconds, memoryMb } = this.#limits;
    if (answer === undefined) throw new CallLimitError(`it needed more than ${seconds} s`, 'CUSTOM_FUNCTION_SECONDS');
    if (answer.outOfMemory) throw new CallLimitError(`it needed more than ${memoryMb} MB of memory`, 'CUSTOM_FUNCTION_MEMORY_MB');
    return [{ error: new Error(`the Java process ended: ${answer.reason}`) }];
  }

  #kill(): void {
    this.#tell({ kind: 'kill' });
    for (let message = this.#receive(KILL_MS); message !== undefined && message.kind !== 'ended'; ) message = this.#receive(KILL_MS);
  }

  #tell(message: ToRelay): void {
    this.#port.postMessage(message);
  }

  /** The next message of the relay; undefined: it did not come in time. */
  #receive(milliseconds: number): FromRelay | undefined {
    const deadline = performance.now() + milliseconds;
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { readonly message: FromRelay } | undefined;
      if (received !== undefined) return received.message;
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      const now = Atomics.load(this.#signal, 0);
      if (now === this.#heard) Atomics.wait(this.#signal, 0, now, left);
      this.#heard = Atomics.load(this.#signal, 0);
    }
  }
}

function greetingOf(jars: readonly string[], methods: readonly JavaMethod[]): Uint8Array {
  const numbers: number[] = [];
  const texts: string[] = [];
  const add = (text: string): void => {
    const bytes = Buffer.from(text, 'utf8').toString('latin1');
    numbers.push(bytes.length);
    texts.push(bytes);
  };
  numbers.push(jars.length);
  for (const jar of jars) add(jar);
  numbers.push(methods.length);
  for (const { className, method, parameters } of methods) {
    add(className);
    add(method);
    numbers.push(parameters);
  }
  return messageOf(numbers, texts.join(''));
}

/** Texts are one-byte, so their lengths are those of their bytes. */
function askFor(index: number, parameters: number, calls: Values): { readonly bytes: Uint8Array; readonly count: number } {
  const numbers: number[] = [index, 0];
  let text = '';
  let count = 0;
  for (const call of calls) {
    if (count > 0 && text.length > MOST_CHARACTERS) break;
    for (let i = 0; i < parameters; i++) {
      const value = call[i];
      if (typeof value === 'string') {
        numbers.push(value.length);
        text += value;
      } else if (Array.isArray(value)) {
        numbers.push(LIST - value.length);
        for (const item of value as readonly string[]) {
          numbers.push(item.length);
          text += item;
        }
      } else numbers.push(NOTHING);
    }
    count++;
  }
  numbers[1] = count;
  return { bytes: messageOf(numbers, text), count };
}

function messageOf(numbers: readonly number[], text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(8 + 4 * numbers.length + text.length);
  bytes.writeInt32LE(bytes.length - 4, 0);
  bytes.writeInt32LE(numbers.length, 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let i = 0; i < numbers.length; i++) view.setInt32(8 + 4 * i, numbers[i] as number, true);
  bytes.write(text, 8 + 4 * numbers.length, 'latin1');
  return bytes;
}

/** The integers of an answer, and its texts if all integers are lengths. */
function textsOf(answer: Uint8Array): readonly [numbers: readonly number[], texts: readonly string[]] {
  const { numbers, text } = partsOf(answer);
  let at = 0;
  const texts = numbers.map((length) => Buffer.from(text.slice(at, (at += length)), 'latin1').toString('utf8'));
  return [numbers, texts];
}

function partsOf(answer: Uint8Array): { readonly numbers: readonly number[]; readonly text: string } {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  const numbers = Array.from({ length: view.getInt32(0, true) }, (_, i) => view.getInt32(4 + 4 * i, true));
  return { numbers, text: Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('latin1', 4 + 4 * numbers.length) };
}

function outcomesOf(answer: Uint8Array, count: number): readonly Outcome[] {
  const { numbers, text } = partsOf(answer);
  const outcomes: Outcome[] = [];
  let number = 0;
  let at = 0;
  const next = (): string => {
    const from = at;
    at += numbers[number++] as number;
    return text.slice(from, at);
  };
  while (outcomes.length < count) {
    const first = numbers[number] as number;
    if (first >= 0) outcomes.push({ result: next() });
    else {
      number++;
      if (first === NOTHING) outcomes.push({ result: null });
      else if (first === ERROR) outcomes.push({ error: new Error(next()) });
      else outcomes.push({ result: Array.from({ length: LIST - first }, next) });
    }
  }
  return outcomes;
}
