#!/usr/bin/env node
// Starts the compiled program, or says how to compile it. The one file of the project that is not TypeScript.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/bin/bundle/engine.js', import.meta.url);
if (existsSync(program)) {
  const { main, keep } = await import(program.href);
  process.exitCode = await main(process.argv.slice(2));
  // Only a run makes the engine compile what the next one needs.
  if (process.exitCode === 0 && process.argv[2] === 'run') keep();
} else {
  console.error(`quadmill is not built yet: run \`npm run build\` in ${fileURLToPath(new URL('..', import.meta.url))}`);
  process.exitCode = 1;
}
