/**
 * JavaScript modules in QuickJS, an engine in WebAssembly: they see no file, network, process or clock but the language's own, and have bounds
 * for memory, stack and time.
 *
 * Several calls are one call of the engine: their texts are joined with a separator, which takes a third of the time of JSON. JSON is for
 * lists, and for texts that contain the separator.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { Fault } from '../../core/fault.ts';
import { CallLimitError, type Outcome, type ParameterType, type Result } from '../../functions/definition.ts';
import type { CallLimits } from '../files.ts';

export interface Module {
  /** For messages. */
  readonly name: string;
  readonly text: string;
}

/** A function of a module. */
export interface ModuleFunction {
  readonly module: number;
  /** Of the export. */
  readonly name: string;
  readonly types: readonly ParameterType[];
}

/** Of the engine; each of its frames has a larger one on the stack of the thread, which must not end first. */
const STACK_BYTES = 128 * 2 ** 10;
/** Calls that are made together have no more text than this. */
const MOST_CHARACTERS = 2 ** 20;
const SEPARATOR = '\x01';
const NOTHING = '\x02';
/** What may not stand in joined texts: NUL ends texts of the engine. */
const RESERVED = /[\0\x01\x02]/;

const WASM = '@jitl/quickjs-wasmfile-release-sync/wasm';
const PAGE_BYTES = 64 * 2 ** 10;
/** What the engine itself is made for. */
const FIRST_PAGES = 256;

let compiling: Promise<WebAssembly.Module> | undefined;

/** Compiled once for a thread. */
const compileEngine = (): Promise<WebAssembly.Module> =>
  (compiling ??= readFile(createRequire(import.meta.url).resolve(WASM)).then((bytes) => WebAssembly.compile(bytes)));

/** The types of the package are those of its CommonJS form, which has the variant one `default` deeper. */
const variantOf = async (): Promise<QuickJSSyncVariant> =>
  (await import('@jitl/quickjs-wasmfile-release-sync')).default as unknown as QuickJSSyncVariant;

/**
 * An engine with a separate memory, whose size is the limit: the engine's own count leaves out most of what arrays need.
 *
 * @param memoryMb at least 16
 */
export async function loadEngine(memoryMb: number): Promise<QuickJSWASMModule> {
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: Math.floor((memoryMb * 2 ** 20) / PAGE_BYTES) });
  return newQuickJSWASMModuleFromVariant(
    newVariant<QuickJSSyncVariant>(await variantOf(), { wasmModule: await compileEngine(), wasmMemory }),
  );
}

interface Compiled {
  readonly joined: QuickJSHandle;
  readonly listed: QuickJSHandle;
}

/** The option whose limit ended a call. */
type Ended = 'CUSTOM_FUNCTION_SECONDS' | 'CUSTOM_FUNCTION_MEMORY_MB';

/** The functions of a set, in one engine. Started by the first call, and again after a call was ended. */
export class Sandbox {
  readonly #engine: QuickJSWASMModule;
  readonly #modules: readonly Module[];
  readonly #functions: readonly ModuleFunction[];
  readonly #limits: CallLimits;
  #runtime: QuickJSRuntime | undefined;
  #context: QuickJSContext | undefined;
  #compiled: readonly Compiled[] = [];
  #deadline = Number.POSITIVE_INFINITY;

  constructor(engine: QuickJSWASMModule, modules: readonly Module[], functions: readonly ModuleFunction[], limits: CallLimits) {
    this.#engine = engine;
    this.#modules = modules;
    this.#functions = functions;
    this.#limits = limits;
  }

  /** @throws Fault functions/invalid — a module that cannot be loaded, or lacks a function */
  start(): QuickJSContext {
    if (this.#context !== undefined) return this.#context;
    const runtime = this.#engine.newRuntime();
    this.#runtime = runtime;
    runtime.setMaxStackSize(STACK_BYTES);
    runtime.setInterruptHandler(() => performance.now() > this.#deadline);
    const context = runtime.newContext();
    this.#context = context;
    const namespaces: QuickJSHandle[] = [];
    const compiled: Compiled[] = [];
    this.#compiled = compiled;
    try {
      this.#deadline = performance.now() + this.#limits.seconds * 1000;
      for (const module of this.#modules) namespaces.push(load(context, module));
      for (const one of this.#functions) compiled.push(this.#compile(context, namespaces[one.module] as QuickJSHandle, one));
      for (const namespace of namespaces) namespace.dispose();
      this.#deadline = Number.POSITIVE_INFINITY;
      return context;
    } catch (error) {
      for (const namespace of namespaces) namespace.dispose();
      this.close();
      throw error;
    }
  }

  close(): void {
    const [context, runtime, compiled] = [this.#context, this.#runtime, this.#compiled];
    this.#context = undefined;
    this.#runtime = undefined;
    this.#compiled = [];
    try {
      for (const { joined, listed } of compiled) {
        joined.dispose();
        listed.dispose();
      }
      context?.dispose();
      runtime?.dispose();
    } catch {
      // An engine that was ended in the middle of a call cannot always be taken apart: its memory goes with the set.
    }
  }

  /** See `FunctionDefinition.callAll`. @param index of the function */
  callAll(index: number, calls: readonly (readonly unknown[])[]): readonly Outcome[] {
    const { some, joins } = extentOf(calls);
    let outcomes = this.#answer(index, some, joins);
    // Which call needed too much is not known: the first one is made again alone, with all the time for itself.
    if (typeof outcomes === 'string' && some.length > 1) outcomes = this.#answer(index, some.slice(0, 1), false);
    if (typeof outcomes !== 'string') return outcomes;
    const { seconds, memoryMb } = this.#limits;
    const needs = outcomes === 'CUSTOM_FUNCTION_SECONDS' ? `${seconds} s` : `${memoryMb} MB of memory`;
    throw new CallLimitError(`it needed more than ${needs}`, outcomes);
  }

  /** The option whose limit ended the calls; the engine is closed then. */
  #answer(index: number, calls: readonly (readonly unknown[])[], joins: boolean): readonly Outcome[] | Ended {
    const context = this.start();
    const { joined, listed } = this.#compiled[index] as Compiled;
    const ask = (compiled: QuickJSHandle, text: string): readonly Outcome[] | Ended | undefined => {
      const given = context.newString(text);
      this.#deadline = performance.now() + this.#limits.seconds * 1000;
      let result: ReturnType<QuickJSContext['callFunction']>;
      try {
        result = context.callFunction(compiled, context.undefined, given);
      } catch (error) {
        this.close();
        throw error;
      }
      this.#deadline = Number.POSITIVE_INFINITY;
      given.dispose();
      if (result.error === undefined) return outcomesOf(textIn(context, result.value), calls.length);
      return this.#ended(context, result.error);
    };
    const outcomes =
      (joins ? ask(joined, calls.map((call) => call.map(joinedText).join(SEPARATOR)).join(SEPARATOR)) : undefined) ??
      (ask(listed, JSON.stringify(calls)) as readonly Outcome[] | Ended);
    if (typeof outcomes === 'string' || !outcomes.some((one) => 'error' in one && OUT_OF_MEMORY.test(one.error.message))) return outcomes;
    this.close();
    return 'CUSTOM_FUNCTION_MEMORY_MB';
  }

  #ended(context: QuickJSContext, error: QuickJSHandle): Ended {
    const { message } = context.dump(error) as { readonly message?: string };
    error.dispose();
    this.close();
    return message === 'interrupted' ? 'CUSTOM_FUNCTION_SECONDS' : 'CUSTOM_FUNCTION_MEMORY_MB';
  }

  #compile(context: QuickJSContext, namespace: QuickJSHandle, { module, name, types }: ModuleFunction): Compiled {
    const found = context.getProp(namespace, name);
    const kind = context.typeof(found);
    if (kind !== 'function') {
      found.dispose();
      const { name: file } = this.#modules[module] as Module;
      throw new Fault(
        'functions/invalid',
        kind === 'undefined' ? `The module ${file} exports no ${name}` : `The export ${name} of the module ${file} is no function`,
        { hint: `Write export function ${name}(…) { … }` },
      );
    }
    const [joined, listed] = [joinedSource(types), LISTED].map((source) => {
      const make = context.unwrapResult(context.evalCode(source, 'quadmill.js'));
      const made = context.unwrapResult(context.callFunction(make, context.undefined, found));
      make.dispose();
      return made;
    }) as [QuickJSHandle, QuickJSHandle];
    found.dispose();
    return { joined, listed };
  }
}

/** The namespace of a module. @throws Fault functions/invalid */
function load(context: QuickJSContext, { name, text }: Module): QuickJSHandle {
  const result = context.evalCode(text, name, { type: 'module' });
  if (result.error === undefined) {
    if (context.getPromiseState(result.value).type === 'fulfilled') return result.value;
    result.value.dispose();
    throw new Fault('functions/invalid', `The module ${name} waits for something when it is loaded`, { hint: 'Leave await out of it' });
  }
  const { name: kind, message, stack } = context.dump(result.error) as { name?: string; message?: string; stack?: string };
  result.error.dispose();
  const at = /:(\d+)(?::\d+)?\)?\s*$/m.exec(stack ?? '')?.[1];
  throw new Fault('functions/invalid', `The module ${name} cannot be loaded: ${kind ?? 'it throws'}${message ? `: ${message}` : ''}`, {
    place: { input: name, ...(at === undefined ? {} : { line: Number(at) }) },
    ...(/could not load module/.test(message ?? '') ? { hint: 'A module imports nothing: bundle what it needs into one file' } : {}),
  });
}

/** As many calls as may be made together, and whether all their texts may be joined. */
function extentOf(calls: readonly (readonly unknown[])[]): { readonly some: readonly (readonly unknown[])[]; readonly joins: boolean } {
  let joins = (calls[0] as readonly unknown[]).length > 0;
  let characters = 0;
  let count = 0;
  for (const call of calls) {
    for (const value of call) {
      if (typeof value === 'string') {
        characters += value.length;
        joins &&= !RESERVED.test(value);
      } else if (Array.isArray(value)) {
        joins = false;
        for (const item of value as readonly string[]) characters += item.length;
      }
    }
    if (count > 0 && characters > MOST_CHARACTERS) break;
    count++;
  }
  return { some: count === calls.length ? calls : calls.slice(0, count), joins };
}

const joinedText = (value: unknown): string => (value === undefined || value === null ? NOTHING : String(value));

/** NUL ends a text of the engine, so the code below never gives one outside of JSON. */
function textIn(context: QuickJSContext, handle: QuickJSHandle): string {
  const text = context.getString(handle);
  handle.dispose();
  return text;
}

/** undefined: a result contains the separator. */
function outcomesOf(text: string, count: number): readonly Outcome[] | undefined {
  if (text.charCodeAt(0) === JOINED) {
    const results = text.slice(1).split(SEPARATOR);
    return results.length === count ? results.map((result) => ({ result })) : undefined;
  }
  const results = JSON.parse(text.slice(1)) as readonly (Result | { readonly thrown: string })[];
  return results.map((result) =>
    typeof result === 'object' && result !== null && 'thrown' in result ? { error: new Error(result.thrown) } : { result },
  );
}

const JOINED = 's'.charCodeAt(0);
const OUT_OF_MEMORY = /^InternalError: out of memory/;

/** In the engine: a result as text, number, boolean, null or a list of these, and what was thrown as a message. */
const COMMON = String.raw`
  const text = (value) => {
    switch (typeof value) {
      case 'undefined': return null;
      case 'string': case 'boolean': return value;
      case 'bigint': return String(value);
      case 'number': return Number.isFinite(value) ? value : Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF';
      case 'object':
        if (value === null) return null;
        if (Array.isArray(value)) return value.flat(Infinity).map(text);
        if (value instanceof Date) return value.toISOString();
        if (typeof value.then === 'function') throw new TypeError('it gives a promise; a function must give its result at once');
    }
    throw new TypeError('it gives ' + (typeof value === 'object' ? 'an object' : 'a ' + typeof value) + '; a function gives text, a number, a boolean, a list of these, or null');
  };
  const thrown = (error) => {
    if (!(error instanceof Error)) return { thrown: 'it throws ' + String(error) };
    const place = /\(?([^\s()]+:\d+)(?::\d+)?\)?\s*$/m.exec(error.stack || '');
    return { thrown: error.name + ': ' + error.message + (place && !place[1].startsWith('quadmill.js') ? ' (' + place[1] + ')' : '') };
  };`;

const LISTED = `(call) => {${COMMON}
  return (given) => 'j' + JSON.stringify(JSON.parse(given).map((values) => {
    try { return text(call(...values)); } catch (error) { return thrown(error); }
  }));
}`;

/** Takes texts of fixed number, joined; gives texts joined if all results are texts. */
function joinedSource(types: readonly ParameterType[]): string {
  const values = types.map((type, at) => {
    const value = `read(given[i + ${at}])`;
    return type === 'integer' || type === 'number' ? `number(${value})` : type === 'boolean' ? `truth(${value})` : value;
  });
  return String.raw`(call) => {${COMMON}
  const read = (value) => value === '\x02' ? null : value;
  const number = (value) => value === null ? null : Number(value);
  const truth = (value) => value === null ? null : value === 'true';
  return (joined) => {
    const given = joined.split('\x01');
    const results = [];
    let texts = true;
    for (let i = 0; i < given.length; i += ${types.length}) {
      let result;
      try {
        result = call(${values.join(', ')});
        if (typeof result !== 'string') { result = text(result); texts = false; }
        else if (texts && result.includes('\0')) texts = false;
      } catch (error) { result = thrown(error); texts = false; }
      results.push(result);
    }
    return texts ? 's' + results.join('\x01') : 'j' + JSON.stringify(results);
  };
}`;
}
