/**
 * A step of the build: the compiled modules in a few files, so that a short run does not spend its time on opening and compiling them.
 *
 * What a run over CSV needs is one script, `engine-script.js`, which V8 compiles once: `engine.js` passes it what it kept of that
 * (`engine-loader.ts`). A script cannot be imported, so `engine.js` gives out what others need of it. Everything else is in modules beside it,
 * by what needs it (`splitting` of esbuild), with the engine's modules as imports from `engine.js`: each module is there once.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { declaredByLet, withConstants } from './constants.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPILED = join(ROOT, 'dist');
const BUNDLE = join(COMPILED, 'bin', 'bundle');
const ENTRY = join(COMPILED, 'bin', 'main.js');
/** Scripts of threads that `bundled` of `src/core/compiled.ts` names. */
const THREADS = [join(COMPILED, 'src', 'run', 'threads', 'thread.js')];
const N3 = join(ROOT, 'node_modules', 'n3');

const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  packages: 'external',
  alias: { 'n3/lib/N3Parser.js': join(N3, 'lib', 'N3Parser.js') },
  absWorkingDir: ROOT,
  logLevel: 'warning',
};

/**
 * Modules of the engine of which the others have a copy. `hash` leaves its result in variables that only its caller reads, and has no other
 * state; `engine.js` could give out only what they were in the beginning.
 */
const TWICE: ReadonlySet<string> = new Set([join(COMPILED, 'src', 'core', 'hash.js')]);

interface EngineModules {
  /** Absolute paths → their numbers. */
  readonly numbers: ReadonlyMap<string, number>;
  /** What they import when it is needed: absolute paths. */
  readonly later: ReadonlySet<string>;
}

async function main(): Promise<void> {
  rmSync(BUNDLE, { recursive: true, force: true });
  mkdirSync(BUNDLE, { recursive: true });
  const engine = await engineModules();
  const used = await bundleOthers(engine);
  await bundleEngine(engine, used);
  copyFileSync(join(N3, 'LICENSE.md'), join(BUNDLE, 'n3-license.md'));
}

/** What the entry imports, with what that imports, and so on. */
async function engineModules(): Promise<EngineModules> {
  const later = new Set<string>();
  const { metafile } = await build({
    ...SHARED,
    entryPoints: [ENTRY],
    format: 'esm',
    write: false,
    metafile: true,
    outdir: BUNDLE,
    plugins: [importsLater((path) => later.add(path))],
  });
  const paths = Object.keys(metafile.inputs).map((path) => resolve(ROOT, path));
  return { numbers: new Map(paths.map((path, i) => [path, i])), later };
}

/** Leaves out what is imported by a call: it becomes a separate file. */
function importsLater(found: (path: string) => void): Plugin {
  return {
    name: 'later',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const target = resolve(resolveDir, path);
        found(target);
        return { path: `./${fileOf(target)}.js`, external: true };
      }),
  };
}

/** `src/sources/json/json.js` → `src-sources-json-json`. */
const fileOf = (path: string): string => relative(COMPILED, path).replace(/\.js$/, '').replaceAll('/', '-');

/** The name by which the engine gives out an export of a module. */
const nameOf = (number: number, name: string): string => `m${number}_${name}`;

/** Bundles what the engine imports later, and its threads. Resolves to the names of the engine that this imports. */
async function bundleOthers({ numbers, later }: EngineModules): Promise<readonly string[]> {
  const fromEngine: Plugin = {
    name: 'from the engine',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\.\/engine\.js$/, namespace: 'engine' }, () => ({ path: './engine.js', external: true }));
      onResolve({ filter: /^[./]/ }, ({ path, resolveDir, kind }) => {
        const target = kind === 'entry-point' ? path : resolve(resolveDir, path);
        return numbers.has(target) && !TWICE.has(target) ? { path: target, namespace: 'engine' } : undefined;
      });
      onLoad({ filter: /.*/, namespace: 'engine' }, async ({ path }) => {
        const names = Object.keys(await import(path)).map((name) => `${nameOf(numbers.get(path) as number, name)} as ${name}`);
        return { contents: `export { ${names.join(', ')} } from './engine.js';` };
      });
    },
  };
  const entryPoints = [...later, ...THREADS].map((path) => ({ in: path, out: fileOf(path) }));
  const options: BuildOptions = {
    ...SHARED,
    entryPoints,
    format: 'esm',
    splitting: true,
    outdir: BUNDLE,
    write: false,
    plugins: [fromEngine],
  };
  const { outputFiles = [] } = await build(options);
  const used = new Set<string>();
  for (const { path, text } of outputFiles) {
    for (const [, names] of text.matchAll(/import \{([^}]*)\} from "\.\/engine\.js"/g)) {
      for (const [name] of (names as string).matchAll(/\bm\d+_[\w$]+/g)) used.add(name);
    }
    writeFileSync(path, withConstants(text));
  }
  return [...used].sort();
}

/** Bundles the engine as a script, and the module that loads it. */
async function bundleEngine({ numbers }: EngineModules, used: readonly string[]): Promise<void> {
  const lines = [`export { main } from ${JSON.stringify(ENTRY)};`];
  for (const [path, number] of numbers) {
    const names = used.filter((name) => name.startsWith(nameOf(number, '')));
    if (names.length === 0) continue;
    const changing = declaredByLet(readFileSync(path, 'utf8'), 'export');
    for (const name of names) {
      const exported = name.slice(nameOf(number, '').length);
      // `engine.js` gives out the value that it has when it is loaded.
      if (changing.includes(exported)) throw new Error(`${exported} of ${path} changes, so another file cannot have it from the engine`);
      lines.push(`export { ${exported} as ${name} } from ${JSON.stringify(path)};`);
    }
  }
  const { outputFiles = [], metafile } = await build({
    ...SHARED,
    stdin: { contents: lines.join('\n'), resolveDir: dirname(ENTRY), sourcefile: 'engine' },
    format: 'cjs',
    define: { 'import.meta.url': 'engineUrl' },
    outfile: join(BUNDLE, 'engine-script.js'),
    write: false,
    metafile: true,
    plugins: [importsLater(() => undefined)],
  });
  const calls = Object.values(metafile.outputs).flatMap(({ imports }) => imports.filter(({ kind }) => kind === 'dynamic-import'));
  // A function, so that nothing of it is global. Its text is ASCII, so that it is read as bytes: what esbuild leaves is in comments and regular
  // expressions, where an escape means the same.
  const text = importingByCall(withConstants(outputFiles[0]?.text as string), new Set(calls.map(({ path }) => path))).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const script = `(function (exports, require, module, engineUrl, importLater) {${text}})`;
  writeFileSync(join(BUNDLE, 'engine-script.js'), script);

  const digest = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const loader = readFileSync(join(COMPILED, 'bin', 'build', 'engine-loader.js'), 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '');
  writeFileSync(
    join(BUNDLE, 'engine.js'),
    `${loader}\nconst { exported, keep } = load(import.meta.url, '${digest}', (path) => import(path));\nexport { keep };\nexport const { ${['main', ...used].join(', ')} } = exported;\n`,
  );
}

/** A script that V8 has kept cannot import: `engine.js` does it. */
function importingByCall(text: string, paths: ReadonlySet<string>): string {
  const found = new Set<string>();
  const replaced = text.replace(/\bimport\("([^"\n]+)"\)/g, (whole, path: string) => {
    if (!paths.has(path)) return whole;
    found.add(path);
    return `importLater(${JSON.stringify(path)})`;
  });
  const missing = [...paths].filter((path) => !found.has(path));
  if (missing.length > 0) throw new Error(`the script of the engine imports ${missing.join(', ')} in another way`);
  return replaced;
}

await main();
