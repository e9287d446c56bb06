/** Inputs: uploads, the tree of their fields, the switch of grouping, and entities and edges that are made from it by keyboard. */
import { expect } from '@jest/globals';
import { expectAccessible, expectSoon, useStudio } from '../support/browser.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

studio.test(
  'fields have kinds, samples, key sign and share of nulls; deeper levels open, and become entities by keyboard',
  async (visit) => {
    const { page, prefix } = visit;
    await openShop(visit);
    await row(page, /^id, int, 1001, different in 12 of 12 records/).waitFor();
    await row(page, 'note, text, by post, 25 % have no value').waitFor();
    expect(await row(page, 'lines, list').getAttribute('aria-expanded')).toBe('false');
    await expectAccessible(page);
    await row(page, /^id, int/).click();
    await page.keyboard.press('e');
    await row(page, /^total/).click();
    await page.keyboard.press('a');
    await row(page, 'lines, list').click();
    await page.keyboard.press('ArrowRight');
    await row(page, /^sku/).click();
    await page.keyboard.press('e');
    await page.getByRole('tab', { name: 'Outline' }).click();
    const order = row(page, new RegExp(`^entity .*[Oo]rder, from ${prefix}orders.json, 1 attribute, 0 edges`));
    await order.click();
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByRole('combobox').fill('line');
    await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
    await page.keyboard.press('Enter');
    await row(page, /^contains → /).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Control+z');
    await row(page, /contains → /).waitFor({ state: 'detached' });
  },
);

studio.soakTest('grouping is switched off beside the name: items stand one by one, and a flat input has no switch', async (visit) => {
  const { page, prefix } = visit;
  await openShop(visit);
  expect(await page.locator('[data-region=inputs]').getByRole('switch').count()).toBe(1);
  await page.getByRole('switch', { name: `Grouping of ${prefix}orders.json` }).click();
  await row(page, /^item 12/).waitFor();
  await row(page, /^item 2,/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^id, /).first().waitFor();
});

studio.soakTest('an edge upwards is refused with its sentence (rule R3), and the other way is offered', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^sku/).click();
  await page.keyboard.press('e');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity Line/).click();
  await page.keyboard.press('c');
  const upwards = page.getByRole('option', { name: /An edge runs within one level or downwards\./ }).first();
  await upwards.click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'An edge runs within one level or downwards.' }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Draw it this way' }).click();
  await row(page, /^no predicate yet → Line/).waitFor();
});

studio.soakTest(
  'a viewer sees no values, and cannot add inputs',
  async ({ page, prefix }) => {
    await page.goto(`/studio/#/new/files/${prefix}seen.ttl`);
    await page.getByText('Samples need the role operator.').waitFor();
    await expectSoon(() => page.getByRole('button', { name: 'Add input' }).getAttribute('aria-disabled'), 'true');
    await expectAccessible(page);
  },
  { role: 'viewer' },
);
