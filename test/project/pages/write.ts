/** `npm run docs`: writes the pages that are made of tables. Run from the root of the project. */
import { writeFileSync } from 'node:fs';
import { PAGES } from './pages.ts';

for (const [path, text] of Object.entries(PAGES)) {
  writeFileSync(path, await text());
  console.log(path);
}
