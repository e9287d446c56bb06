/**
 * Mappings of public suites in the page: opened, changed by drawing, saved, and compared with what they were. `CONFORMANCE_CASES` names their
 * folder; one of many is tried.
 */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { readManifest } from '../../../conformance/manifest.ts';
import { soakTest } from '../../../support/jest/extent.ts';
import { useStudio, type Visit } from '../support/browser.ts';
import { row } from '../support/shop.ts';

const studio = await useStudio();
const folder = process.env.CONFORMANCE_CASES;
const EACH = 50;

/** Mapping files, of each suite some. */
function mappings(of: string): readonly string[] {
  const files = new Set((readManifest(of) ?? []).flatMap(({ dir, mapping }) => (mapping === null ? [] : [join(of, dir, mapping)])));
  return [...files].filter((_, i) => i % EACH === 0);
}

type Outcome = 'changed' | 'refused' | 'nothing drawn' | 'invalid';

/** Draws one more entity like the first one, saves, and looks for every line of the text before. */
async function changed({ page, ask, saveMapping, prefix }: Visit, file: string, number: number): Promise<Outcome> {
  const text = readFileSync(file, 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
  const name = `${prefix}${number}${/^\.ya?ml$/.test(extname(file)) ? '.yml' : '.ttl'}`;
  if ((await saveMapping(name, text)) !== 201) return 'invalid';
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByRole('tab', { name: 'Outline' }).click();
  const entities = row(page, /^entity /);
  await page.getByRole('tabpanel').waitFor();
  if ((await entities.count()) === 0) return 'nothing drawn';
  const before = await entities.count();
  await entities.first().click();
  await page.keyboard.press('Control+d');
  const refusal = page.getByRole('region', { name: 'Status' }).locator('.note p');
  await entities.nth(before).or(refusal.first()).first().waitFor();
  if ((await refusal.count()) > 0) {
    expect(await refusal.first().textContent()).toMatch(/\S.*\.$/);
    return 'refused';
  }
  await save(page);
  const after = ((await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string }).text;
  expect(after).not.toBe(text);
  let from = 0;
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const at = after.indexOf(line, from);
    if (at < 0) throw new Error(`${file}: the line ${JSON.stringify(line)} is gone or has another place`);
    from = at + line.length;
  }
  return 'changed';
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
}

const NAME = 'foreign-mapping-keeps-text: mappings of public suites keep every line when something is drawn';

async function allAreChanged(visit: Visit, of: string): Promise<void> {
  visit.expectError(/studio\/(samples|previews)/);
  const counts = { changed: 0, refused: 0, 'nothing drawn': 0, invalid: 0 };
  for (const [i, file] of mappings(of).entries()) {
    try {
      counts[await changed(visit, file, i)]++;
    } catch (error) {
      throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  process.stdout.write(`foreign mappings in the page: ${JSON.stringify(counts)}\n`);
  expect(counts.changed).toBeGreaterThan(counts.refused);
}

if (folder === undefined) soakTest.skip(`${NAME} (skipped where CONFORMANCE_CASES names no folder)`, () => undefined);
else studio.soakTest(NAME, (visit) => allAreChanged(visit, folder));
