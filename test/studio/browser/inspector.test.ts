/** The inspector: each kind of element is read and changed, by mouse and by keyboard, and refusals stand below their fields. */
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, expectSoon, useStudio, type Visit } from './support/browser.ts';
import { openShop, row } from './support/shop.ts';

const studio = await useStudio();

const inspector = (page: Page): Locator => page.locator('[data-region=inspector]');
const field = (page: Page, label: string): Locator =>
  inspector(page)
    .locator('input')
    .and(page.getByLabel(label, { exact: true }));

/** An entity of orders with the attribute total; the outline is open. */
async function order(visit: Visit): Promise<void> {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^total/).click();
  await page.keyboard.press('a');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity .*Order/).click();
}

studio.test('an entity: its name, template with completion and example, and classes; refusals stand below their fields', async (visit) => {
  const { page } = visit;
  await order(visit);
  await field(page, 'Name').fill('Purchase');
  await field(page, 'Name').press('Enter');
  await inspector(page).getByRole('heading', { name: 'Purchase entity' }).waitFor();
  const template = field(page, 'Template');
  await template.fill('https://example.org/{nothing}');
  await template.press('Enter');
  await inspector(page).getByRole('alert').filter({ hasText: 'There is no single field named “nothing”' }).waitFor();
  await expectSoon(() => template.inputValue(), 'https://example.org/{nothing}');
  await template.press('Escape');
  await template.fill('https://example.org/purchase/');
  await template.press('End');
  await template.pressSequentially('{cust');
  await inspector(page).getByRole('option', { name: 'customerId' }).waitFor();
  await expectAccessible(page);
  await template.press('ArrowDown');
  await template.press('Enter');
  await expectSoon(() => template.inputValue(), 'https://example.org/purchase/{customerId}');
  await template.press('Enter');
  await inspector(page).getByText('= https://example.org/purchase/C-1').waitFor();
  const addClass = field(page, 'Add a class');
  await addClass.fill('a/b');
  await addClass.press('Enter');
  await inspector(page).getByRole('alert').filter({ hasText: 'is no IRI' }).waitFor();
  await addClass.fill('schema:Order');
  await addClass.press('Enter');
  await inspector(page).getByRole('button', { name: 'Remove schema:Order' }).waitFor();
  await expectAccessible(page);
});

studio.soakTest('an attribute: suggestions, value, and datatype or language, by keyboard alone', async (visit) => {
  const { page } = visit;
  await order(visit);
  await row(page, /total/).click();
  await page.mouse.move(0, 0);
  await inspector(page).getByRole('heading', { name: 'total attribute' }).waitFor();
  await page.getByRole('button', { name: 'Accept predicate total' }).press('Enter');
  await inspector(page).getByRole('button', { name: 'Remove total' }).waitFor();
  await page.getByRole('button', { name: 'Reject datatype xsd:decimal' }).press('Enter');
  await page.getByRole('button', { name: 'Reject datatype xsd:decimal' }).waitFor({ state: 'detached' });
  await field(page, 'Datatype').fill('xsd:dou');
  await inspector(page).getByRole('option', { name: 'xsd:double' }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expectSoon(() => field(page, 'Datatype').inputValue(), 'xsd:double');
  await field(page, 'Language').fill('no tag');
  await page.keyboard.press('Enter');
  await inspector(page).getByRole('alert').filter({ hasText: 'no tag is no language tag.' }).waitFor();
  await field(page, 'Language').fill('en');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[placeholder=none]')?.value === '');
  await field(page, 'Field').fill('sku');
  await page.keyboard.press('Enter');
  await inspector(page).getByText('= A0').waitFor();
  await expectAccessible(page);
});

studio.soakTest(
  'an input and the model: location, dialect, grouping, prefixes; dark',
  async (visit) => {
    const { page, prefix } = visit;
    await openShop(visit);
    await field(page, 'New prefix').fill('shop');
    await page.keyboard.press('Enter');
    await inspector(page).getByRole('alert').filter({ hasText: 'Write a name, a colon and an IRI' }).waitFor();
    await field(page, 'New prefix').fill('shop: https://shop.example/');
    await page.keyboard.press('Enter');
    await field(page, 'Name of the prefix shop').waitFor();
    await expectAccessible(page);
    await row(page, `${prefix}people.csv, flat`).click();
    await field(page, 'Delimiter').fill(';');
    await page.keyboard.press('Enter');
    await row(page, /^id,name/).waitFor();
    await field(page, 'Location').fill('');
    await page.keyboard.press('Enter');
    await inspector(page).getByRole('alert').filter({ hasText: 'Say where the input is.' }).waitFor();
    await page.keyboard.press('Escape');
    await expectAccessible(page);
    await row(page, `${prefix}orders.json`).click();
    await inspector(page)
      .getByRole('switch', { name: `Grouping of ${prefix}orders.json` })
      .click();
    await row(page, /^item 12/).waitFor();
  },
  { scheme: 'dark' },
);

studio.soakTest(
  'a viewer reads, and changes nothing',
  async ({ page, prefix }) => {
    await page.goto(`/studio/#/new/files/${prefix}seen.ttl`);
    await inspector(page).getByText('Changing a model needs the role operator.').waitFor();
    expect(await field(page, 'New prefix').count()).toBe(0);
    await expectSoon(() => inspector(page).getByRole('switch', { name: 'Expert mode' }).getAttribute('aria-disabled'), 'true');
    await expectAccessible(page);
  },
  { role: 'viewer' },
);

studio.soakTest('an edge: predicates, graph, and the conditions of its join', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^id, text/).click();
  await page.keyboard.press('e');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity .*Order/).click();
  await inspector(page).getByRole('button', { name: 'Connect …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox').fill('person');
  await dialog.getByLabel('Predicate').fill('customer');
  await page.keyboard.press('Enter');
  await row(page, /^customer → /).click();
  await inspector(page).getByText('A join needs a condition.').waitFor();
  await inspector(page).getByRole('button', { name: 'Add condition' }).click();
  await inspector(page).getByRole('alert').filter({ hasText: 'Choose a field on both sides.' }).waitFor();
  const sides = inspector(page).getByRole('combobox', { name: /^Field of / });
  await sides.first().fill('customerId');
  await sides.first().press('Enter');
  await sides.last().fill('id');
  await sides.last().press('Enter');
  await inspector(page).getByRole('button', { name: 'Add condition' }).click();
  await inspector(page).getByRole('button', { name: 'Remove customerId = id' }).waitFor();
  await inspector(page).getByText('12 of the first 12 records find a partner.').waitFor();
  // Keys that no partner has, beside those that there are.
  await inspector(page).getByRole('button', { name: 'Remove customerId = id' }).click();
  await sides.first().fill('total');
  await sides.first().press('Enter');
  await sides.last().fill('id');
  await sides.last().press('Enter');
  await inspector(page).getByRole('button', { name: 'Add condition' }).click();
  await inspector(page).getByText('0 of the first 12 records find a partner.').waitFor();
  await inspector(page).getByText('Without: 0.50, 1.50, 2.50. The other side has: C-1, C-2.').waitFor();
  await expectAccessible(page);
  await field(page, 'Add a graph').fill('shops');
  await page.keyboard.press('Enter');
  await inspector(page).getByRole('button', { name: 'Remove shops' }).waitFor();
  await field(page, 'Add a predicate').fill('schema:customer');
  await page.keyboard.press('Enter');
  await inspector(page).getByRole('button', { name: 'Remove schema:customer' }).waitFor();
  await expectAccessible(page);
});

studio.soakTest('an attribute that no entity has says so, until an edge leads to it', async (visit) => {
  const { page } = visit;
  await order(visit);
  await page.getByRole('tab', { name: 'Inputs' }).click();
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^sku/).click();
  await page.keyboard.press('a');
  const loose = inspector(page).getByRole('region', { name: 'No entity has it yet' });
  await loose.getByText('The mapping leaves it out.').waitFor();
  await expectAccessible(page);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity .*Order/).click();
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByRole('combobox').fill('sku');
  await page.getByRole('dialog').getByLabel('Predicate').fill('sku');
  await page.keyboard.press('Enter');
  await row(page, /^sku → sku/).waitFor();
  await loose.waitFor({ state: 'detached' });
});
