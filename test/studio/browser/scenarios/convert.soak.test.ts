/** Saving in other languages, and opening what was saved; texts that a language cannot say. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, useStudio } from '../support/browser.ts';
import { dropField } from '../support/canvas.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

/** Saves the open model in another language, which opens it. */
async function saveAs(page: Page, name: string, language: string): Promise<void> {
  await page.getByRole('button', { name: 'Save as …, in any language' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as' });
  await dialog.getByLabel('Language of the mapping').selectOption({ label: language });
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('region', { name: 'The mapping in this language' }).waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save and open it' }).click();
  await page.getByRole('heading', { name }).waitFor();
}

studio.soakTest(
  'convert-to-yarrrml-and-r2rml: a model is saved in each language of files, opens with the same elements, and previews the same',
  async (visit) => {
    const { page, prefix, ask } = visit;
    await openShop(visit);
    await dropField(page, /^id, int/, 'Entity', { x: 300, y: 60 });
    await row(page, /^total/).dragTo(page.getByRole('group', { name: /^Entity .*Order,/ }));
    await page.getByRole('button', { name: /^Accept \d suggestions/ }).click();
    await page.keyboard.press('Control+s');
    await page.getByText('Everything is saved').waitFor();
    // A class and a total for each of the twelve orders.
    const summary = page.getByText('24 statements of 12 records', { exact: true });
    await summary.waitFor();
    for (const [language, name, sign] of [
      ['YARRRML', `${prefix}shop-y.yml`, /^mappings:/m],
      ['RML (legacy)', `${prefix}shop-l.ttl`, /rr:subjectMap/],
      ['RML (today’s)', `${prefix}shop-t.ttl`, /rml:logicalSource/],
    ] as const) {
      await saveAs(page, name, language);
      await page.getByRole('tab', { name: 'Outline' }).click();
      await row(page, /^entity .*Order.*, 1 attribute/).waitFor();
      await summary.waitFor();
      const { text } = (await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string };
      expect(text).toMatch(sign);
      expect(text).not.toContain('relative.invalid');
    }
    // R2RML reads tables alone: the dialog says so, and offers nothing to save.
    await page.getByRole('button', { name: 'Save as …, in any language' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as' });
    await dialog.getByLabel('Language of the mapping').selectOption({ label: 'R2RML' });
    await dialog.getByText('This language cannot say what the model means.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save and open it' }).getAttribute('aria-disabled')).toBe('true');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Use today’s RML' }).click();
    await dialog.getByRole('region', { name: 'The mapping in this language' }).waitFor();
  },
);

studio.soakTest('drawing on a text of YARRRML that was written by hand changes its own lines alone', async (visit) => {
  const { page, prefix, ask, saveMapping, expectError } = visit;
  const name = `${prefix}people.yml`;
  const text = `# By hand.
prefixes:
  ex: https://example.org/
mappings:
  person:
    sources:
      - ['people.csv~csv']
    s: ex:person/$(id) # by key
    po:
      - [a, ex:Person]
      - [ex:name, $(name)]
`;
  expect(await saveMapping(name, text)).toBe(201);
  expectError(/studio\/(samples|previews)/);
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity person,/).click();
  await page.keyboard.press('Control+d');
  await row(page, /^entity person/)
    .nth(1)
    .waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Everything is saved').waitFor();
  const saved = ((await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string }).text;
  expect(saved.startsWith(text)).toBe(true);
  expect(saved.slice(text.length)).toContain('sources:');
  await page.keyboard.press('Control+z');
  await row(page, /^entity person/)
    .nth(1)
    .waitFor({ state: 'detached' });
  await page.keyboard.press('Control+s');
  await page.getByText('Everything is saved').waitFor();
  expect(((await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string }).text).toBe(text);
  // Saved as RML, its comments go along.
  await saveAs(page, `${prefix}people.ttl`, 'RML (today’s)');
  expect(((await (await ask(`/studio/mappings/${prefix}people.ttl`)).json()) as { readonly text: string }).text).toContain('# By hand.');
});
