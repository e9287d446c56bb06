#!/usr/bin/env node
// Starts the compiled program, or says how to compile it. The one file of the project that is not TypeScript.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/bin/bundle/main.js', import.meta.url);
if (existsSync(program)) {
  const { main } = await import(program.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error(`quadmill is not built yet: run \`npm run build\` in ${fileURLToPath(new URL('..', import.meta.url))}`);
  process.exitCode = 1;
}
