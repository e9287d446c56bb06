/** Opens a set of custom functions: their description, and the engines that make their calls. */
import { basename, join } from 'node:path';
import { Fault } from '../core/fault.ts';
import type { CustomFunctions, FunctionDefinition, Outcome } from '../functions/definition.ts';
import { type Binding, readDescription } from './description.ts';
import { type CodeFile, type FunctionFiles, type FunctionSet, readSet, readSetFile } from './files.ts';

export interface OpenedFunctions extends CustomFunctions {
  readonly bindings: readonly Binding[];
  /** Starts the engines, which the first call would do otherwise. @throws Fault functions/invalid — the code lacks a function */
  start(): void;
  /** Ends the engines. */
  close(): void;
}

/** The calls of a kind of code. */
interface Engine {
  start(): void;
  close(): void;
  callAll(index: number, calls: readonly (readonly unknown[])[]): readonly Outcome[];
}

/**
 * Opens a set. The caller closes it.
 *
 * @throws Fault functions/invalid — the set is not complete, or its description is not valid
 */
export async function openFunctions({ directory, limits }: FunctionFiles): Promise<OpenedFunctions> {
  const set = await readSet(directory).catch((error: unknown) => {
    throw new Fault('functions/invalid', `There are no custom functions in ${directory}`, { cause: error });
  });
  const { url } = set.description;
  const bindings = readDescription((await readSetFile(directory, set.description)).toString('utf8'), url);
  const engines: Engine[] = [];
  const modules = bindings.filter(({ code }) => code.kind === 'module');
  const definitions: FunctionDefinition[] = [];
  if (modules.length > 0) {
    const engine = await openModules(set, directory, modules, limits);
    engines.push(engine);
    definitions.push(...modules.map(({ definition }, index) => callable(definition, engine, index)));
  }
  const jars = bindings.filter(({ code }) => code.kind === 'jar');
  if (jars.length > 0) {
    const engine = await openJars(set, directory, jars, limits);
    engines.push(engine);
    definitions.push(...jars.map(({ definition }, index) => callable(definition, engine, index)));
  }
  const byIri = new Map(definitions.map((one) => [one.iri, one]));
  return {
    version: set.version,
    definitions,
    bindings,
    find: (iri) => byIri.get(iri),
    start: () => {
      for (const engine of engines) engine.start();
    },
    close: () => {
      for (const engine of engines) engine.close();
    },
  };
}

/** What describes the functions of a set. Plain data: it is sent to threads. */
export interface DescribedSet {
  readonly version: string;
  readonly url: string;
  /** The description, in Turtle. */
  readonly text: string;
}

const described = new WeakMap<DescribedSet, CustomFunctions>();

/** The functions as a mapping sees them; a call of one fails. For processes that check mappings and execute none. */
export function describedFunctions(set: DescribedSet): CustomFunctions {
  const found = described.get(set) ?? functionsOf(set);
  described.set(set, found);
  return found;
}

function functionsOf({ version, url, text }: DescribedSet): CustomFunctions {
  const definitions = readDescription(text, url).map(({ definition }) => ({
    ...definition,
    call: () => {
      throw new Error(`${definition.name} is described only`);
    },
  }));
  const byIri = new Map(definitions.map((one) => [one.iri, one]));
  return { version, definitions, find: (iri) => byIri.get(iri) };
}

function callable(definition: Binding['definition'], engine: Engine, index: number): FunctionDefinition {
  const callAll = (calls: readonly (readonly unknown[])[]): readonly Outcome[] => engine.callAll(index, calls);
  return {
    ...definition,
    callAll,
    call: (...args) => {
      const [outcome] = callAll([args]) as [Outcome];
      if ('error' in outcome) throw outcome.error;
      return outcome.result;
    },
  };
}

async function openModules(
  set: FunctionSet,
  directory: string,
  bindings: readonly Binding[],
  limits: FunctionFiles['limits'],
): Promise<Engine> {
  const { loadEngine, Sandbox } = await import('./javascript/sandbox.ts');
  const files = set.code.filter(({ kind }) => kind === 'module');
  const modules = await Promise.all(
    files.map(async (file) => ({
      name: basename(new URL(file.url).pathname),
      text: (await readSetFile(directory, file)).toString('utf8'),
    })),
  );
  const functions = bindings.map(({ code, definition: { parameters } }) => ({
    module: files.indexOf(codeFile(set, code)),
    name: (code as { name: string }).name,
    types: parameters.map(({ type }) => type),
  }));
  return new Sandbox(await loadEngine(limits.memoryMb), modules, functions, limits);
}

async function openJars(
  set: FunctionSet,
  directory: string,
  bindings: readonly Binding[],
  limits: FunctionFiles['limits'],
): Promise<Engine> {
  const { JavaProcess } = await import('./java/process.ts');
  const files = set.code.filter(({ kind }) => kind === 'jar');
  // Checked now, and read by another process later.
  for (const file of files) await readSetFile(directory, file);
  const methods = bindings.map(({ code, definition: { parameters } }) => {
    const { className, method } = code as Extract<Binding['code'], { kind: 'jar' }>;
    return { className, method, parameters: parameters.length };
  });
  return new JavaProcess([...new Set(files.map(({ sha256 }) => join(directory, sha256)))], methods, limits);
}

/** The file with the code of a function. */
export function codeFile(set: Omit<FunctionSet, 'version'>, { kind, url }: Binding['code']): CodeFile {
  const files = set.code.filter((file) => file.kind === kind);
  return (files.find((file) => file.named === url) ?? files[0]) as CodeFile;
}
