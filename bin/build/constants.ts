/**
 * Constants of modules are constants in the bundle too.
 *
 * esbuild declares everything at the top of a module by `var`. V8 then reads `LF` from memory for each byte that is compared with it, and a
 * number beyond 31 bits from the heap: 5 % of the instructions of a run over 100,000 rows of CSV. What the compiled modules declare by `let`
 * stays a variable; names are those of the modules, or with a number behind them where two modules have the same.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const COMPILED = new URL('../..', import.meta.url).pathname;
const modules = ['api', 'bin', 'queues', 'src', 'workers'].flatMap((room) =>
  readdirSync(join(COMPILED, room), { recursive: true, encoding: 'utf8' }).map((path) => join(COMPILED, room, path)),
);
const bundle = join(COMPILED, 'bin', 'bundle');
const variables = new Set(
  modules.filter((path) => path.endsWith('.js') && !path.startsWith(bundle)).flatMap((path) => declaredByLet(readFileSync(path, 'utf8'))),
);

/** The names that a compiled module declares by `let` at its top; with `export`, only those that it exports. */
export function declaredByLet(text: string, which: 'all' | 'export' = 'all'): readonly string[] {
  const declarations = which === 'all' ? /^(?:export )?let (?:([\w$]+)|(.*))/gm : /^export let (?:([\w$]+)|(.*))/gm;
  return [...text.matchAll(declarations)].map(([declaration, name]) => {
    if (name === undefined) throw new Error(`one name for each \`let\` of a module, not ${declaration}`);
    return name;
  });
}

/** The text of a file of the bundle, in which what does not change is declared by `const`. */
export function withConstants(text: string): string {
  return text.replace(/^var ([\w$]+?)(\d*) = /gm, (declaration, name: string, number: string) =>
    variables.has(name) || variables.has(name + number) ? declaration : `const ${name}${number} = `,
  );
}
