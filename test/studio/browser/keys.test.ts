/** The palette, the list of keys, and the size of what the browser loads. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { test } from '../../support/jest/extent.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { expectAccessible, useStudio } from './support/browser.ts';

const studio = await useStudio();

studio.test('the palette switches the view, and the list of keys opens and closes', async ({ page, prefix }) => {
  await page.goto(`/studio/#/new/files/${prefix}keys.ttl`);
  await page.getByRole('heading', { name: `${prefix}keys.ttl` }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('split');
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.locator('[data-region=text]').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor({ state: 'detached' });
});

studio.soakTest(
  'the dark colours have enough contrast',
  async ({ page, prefix }) => {
    await page.goto('/studio/');
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    await expectAccessible(page);
    await page.goto(`/studio/#/new/files/${prefix}dark.ttl`);
    await page.getByRole('heading', { name: `${prefix}dark.ttl` }).waitFor();
    await expectAccessible(page);
  },
  { scheme: 'dark' },
);

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}

const PAGE = join(PROJECT_ROOT, 'dist/studio/page');

/** Bytes of scripts, compressed: those that the page loads first, and those of further regions with what they import. */
function scriptBytes(...regions: readonly string[]): number {
  const manifest = JSON.parse(readFileSync(join(PAGE, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
  const names = Object.keys(manifest);
  const loaded = new Set<string>();
  const load = (name: string): void => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const one of manifest[name]?.imports ?? []) load(one);
  };
  load(names.find((name) => manifest[name]?.isEntry) as string);
  for (const region of regions) load(names.find((name) => name.endsWith(region)) as string);
  return [...loaded].reduce((sum, name) => sum + statSync(join(PAGE, `${manifest[name]?.file}.gz`)).size, 0);
}

test('the scripts of the start page have at most 200 kB, compressed; with the canvas and its worker at most 500 kB', () => {
  expect(scriptBytes()).toBeLessThan(200_000);
  const worker = readdirSync(join(PAGE, 'assets')).find((name) => /^layout-worker.*\.js\.gz$/.test(name)) as string;
  expect(scriptBytes('canvas/index.tsx') + statSync(join(PAGE, 'assets', worker)).size).toBeLessThan(500_000);
});
