/** The palette, the list of keys, and the size of what the browser loads. */
import { readFileSync, statSync } from 'node:fs';
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
  await page.getByRole('combobox').fill('split');
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

test('the scripts before the text editor have at most 200 kB, compressed', () => {
  const page = join(PROJECT_ROOT, 'dist/studio/page');
  const manifest = JSON.parse(readFileSync(join(page, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry) as string;
  const loaded = new Set<string>();
  const load = (name: string): void => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const one of manifest[name]?.imports ?? []) load(one);
  };
  load(entry);
  const bytes = [...loaded].map((name) => statSync(join(page, `${manifest[name]?.file}.gz`)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
});
