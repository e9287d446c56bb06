/** What is read of several levels: fields of one list together, fields of a parent, and paths upwards in XML; and the inspector as a drawer. */
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, expectSoon, hasFocus, useStudio } from '../support/browser.ts';
import { placeOf } from '../support/canvas.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

const inspector = (page: Page): Locator => page.getByRole('region', { name: 'Inspector' });
const nquads = (page: Page): Locator => page.getByRole('list', { name: 'N-Quads' }).getByRole('button');

/** Shorter than the time that a preview waits for a worker, which a busy machine may use up. */
const FIRST_WAIT_MS = 25_000;

/** Waits until so many statements of the preview have a text. Asks again, as a person does whose preview has had no time. */
async function haveText(page: Page, text: string, count: number): Promise<void> {
  const wait = (timeout?: number): Promise<unknown> =>
    page.waitForFunction(
      ([wanted, n]) =>
        [...document.querySelectorAll('[aria-label="N-Quads"] button')].filter((one) => one.textContent?.includes(wanted)).length === n,
      [text, count] as const,
      timeout === undefined ? {} : { timeout },
    );
  await wait(FIRST_WAIT_MS).catch(async () => {
    await page.getByRole('button', { name: 'Preview now' }).click();
    await wait();
  });
}

studio.soakTest('several-fields-of-one-list-do-not-multiply: they are saved as a logical view, and opened again', async (visit) => {
  const { page, prefix, ask } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^total/).click();
  await page.keyboard.press('a');
  const kind = inspector(page).getByLabel('Value from');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /total/).first().click();
  await kind.selectOption('template');
  const template = inspector(page)
    .locator('input')
    .and(page.getByLabel('Template', { exact: true }));
  await template.fill('{sku} x {qty}');
  await template.press('Enter');
  await page.getByRole('button', { name: /^Accept (a suggestion|\d+ suggestions)/ }).click();
  await page.getByRole('button', { name: 'N-Quads' }).click();
  // Two lines of each of twelve orders, and not four pairs.
  await haveText(page, ' x ', 24);
  await nquads(page).filter({ hasText: '"A0 x 1"' }).waitFor();
  expect(await nquads(page).filter({ hasText: '"A0 x 2"' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  const { text } = (await (await ask(`/studio/mappings/${prefix}shop.ttl`)).json()) as { readonly text: string };
  expect(text).toContain('rml:LogicalView');
  await page.reload();
  await page.getByRole('button', { name: 'N-Quads' }).click();
  await haveText(page, ' x ', 24);
  await expectAccessible(page);
});

studio.soakTest('a line is identified by its order and itself', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^sku/).click();
  await page.keyboard.press('e');
  const template = inspector(page)
    .locator('input')
    .and(page.getByLabel('Template', { exact: true }));
  await template.fill('https://example.org/line/{id}-{sku}');
  await template.press('Enter');
  await page.getByRole('button', { name: /^Accept (a suggestion|\d+ suggestions)/ }).click();
  await page.getByRole('button', { name: 'N-Quads' }).click();
  await nquads(page).filter({ hasText: '<https://example.org/line/1001-A0>' }).first().waitFor();
  await nquads(page).filter({ hasText: '<https://example.org/line/1002-B1>' }).first().waitFor();
  expect(await nquads(page).filter({ hasText: '/line/1001-A1>' }).count()).toBe(0);
});

const PARTS = '<parts><part id="p1"><bolt size="3"/><bolt size="4"/></part><part id="p2"><bolt size="5"/></part></parts>';

studio.soakTest('r3-up-in-xml-by-text: an expert gets the path upwards in the text, others are refused', async (visit) => {
  const { page, prefix } = visit;
  await page.goto(`/studio/#/new/files/${prefix}parts.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  await chooser.setFiles([{ name: `${prefix}parts.xml`, mimeType: 'application/xml', buffer: Buffer.from(PARTS) }]);
  for (const name of [/^parts/, /^part,/, /^bolt/]) {
    await row(page, name).first().click();
    await page.keyboard.press('ArrowRight');
  }
  await row(page, /^@size/).click();
  await page.keyboard.press('e');
  const upwards = async (): Promise<void> => {
    await page.getByRole('tab', { name: 'Outline' }).click();
    await row(page, /^entity /)
      .first()
      .click();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').first().fill('@id');
    await dialog.getByRole('option').filter({ hasText: 'An edge runs within one level or downwards.' }).first().click();
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByRole('alert').filter({ hasText: 'An expert may edit the XPath in the mapping text.' }).waitFor();
  };
  await upwards();
  expect(await page.getByRole('button', { name: 'Write ../ in the text' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Find Ctrl+K' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('application', { name: 'Canvas' }).click({ position: { x: 10, y: 10 } });
  await page.getByRole('switch', { name: 'Expert mode' }).click();
  await upwards();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Write ../ in the text' }).click();
  await page.locator('.cm-content').getByText('../@id').waitFor();
  await page.getByRole('button', { name: 'N-Quads' }).click();
  await nquads(page).filter({ hasText: '/5> <https://example.org/id> "p2"' }).waitFor();
  // It is drawn with a warning: on the canvas, in the outline, in the inspector and among the problems.
  const warning = '@id is nested in bolt, below parts'.slice(4, 21);
  await page.locator('.block .rows .warning').filter({ hasText: warning }).waitFor();
  await row(page, /@id, attribute, .*An edge runs within one level or downwards/).click();
  await inspector(page).getByText(warning).waitFor();
  await page
    .getByRole('button', { name: 'Problems (1)' })
    .or(page.getByRole('button', { name: /^Problems 1/ }))
    .click();
  await page.getByText(`id: `).filter({ hasText: warning }).waitFor();
  await expectAccessible(page);
});

studio.soakTest('from 1024 pixels the inspector is a drawer: opened by its button, closed by Escape', async (visit) => {
  const { page } = visit;
  await page.setViewportSize({ width: 1024, height: 640 });
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  expect(await inspector(page).isVisible()).toBe(false);
  const button = page.getByRole('button', { name: 'Inspector', exact: true });
  expect(await button.getAttribute('aria-expanded')).toBe('false');
  await button.click();
  await inspector(page).getByRole('combobox', { name: 'Template' }).waitFor();
  const [canvas, drawer] = await Promise.all([placeOf(page.getByRole('main')), placeOf(inspector(page))]);
  expect(canvas.x + canvas.width).toBeCloseTo(drawer.x + drawer.width, 0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1024);
  await expectAccessible(page);
  await inspector(page)
    .locator('input')
    .and(page.getByLabel('Name', { exact: true }))
    .focus();
  await page.keyboard.press('Escape');
  await inspector(page).waitFor({ state: 'hidden' });
  await expectSoon(() => hasFocus(button), true);
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await inspector(page).getByRole('combobox', { name: 'Template' }).waitFor();
});
