/** The modelling rules while a person connects: what each allows, and the sentence with which it refuses. R3 and R5 are in `canvas` and `inputs`. */
import type { Page } from 'playwright-core';
import { expectSoon, useStudio, type Visit } from '../support/browser.ts';
import { block, drawTo, dropField, port } from '../support/canvas.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

/** Makes an element of a field in the tree of inputs. */
async function make(page: Page, field: RegExp, as: 'entity' | 'attribute', nth = 0): Promise<void> {
  await row(page, field).nth(nth).click();
  await page.keyboard.press(as === 'entity' ? 'e' : 'a');
}

/** Opens the list of what an element can be connected to, with those that have this name. */
async function targetsOf(page: Page, element: RegExp, find: string): Promise<void> {
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, element).first().click();
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByRole('combobox').first().fill(find);
}

/** Chooses a target that a rule refuses: its sentence stands beside it, and again when it is chosen. */
async function isRefused(page: Page, sentence: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('option').filter({ hasText: sentence }).first().click();
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
  await dialog.getByRole('alert').filter({ hasText: sentence }).waitFor();
  await page.keyboard.press('Escape');
}

const orderIn = (visit: Visit): Promise<void> => openShop(visit).then(() => make(visit.page, /^id, int/, 'entity'));

studio.soakTest('R1: no line begins at a list; one of its fields, or an entity of each item, is an end', async (visit) => {
  const { page } = visit;
  await orderIn(visit);
  await row(page, 'lines, list').click();
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByRole('combobox').first().fill('total');
  await isRefused(page, 'lines holds a list. Open it and choose one of its fields, or make an entity of each item.');
  await targetsOf(page, /^entity .*Order,/, 'lines');
  await page
    .getByRole('option', { name: /lines.*new entity/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await row(page, /^entity .*Line/).waitFor();
});

studio.soakTest('R2: an attribute has no outgoing line until it is an entity', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await make(page, /^name, text, Ada/, 'attribute');
  await targetsOf(page, /^name, attribute/, 'people.csv › id');
  await isRefused(page, 'Only entities have outgoing edges. Make name an entity first.');
  await page.getByRole('button', { name: 'Make an entity' }).click();
  await targetsOf(page, /^entity /, 'people.csv › id');
  await page
    .getByRole('option', { name: /id.*new attribute/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await row(page, /^entity .*, 1 attribute/).waitFor();
});

studio.soakTest('R4: fields of nested objects join the entity of their parent object', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await dropField(page, /^id, int/, 'Entity', { x: 300, y: 60 });
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await dropField(page, /^sku/, 'Entity', { x: 300, y: 260 });
  await dropField(page, /^qty/, 'Attribute', { x: 300, y: 420 });
  await block(page, /^Entity Line.*, 1 attribute/).waitFor();
  await expectSoon(() => block(page, /^Entity .*Order,.* 0 attributes/).count(), 1);
  await drawTo(page, port(page, /^Entity .*Order,/), block(page, /^Entity Line/));
  await page.mouse.up();
  await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
  await page.keyboard.press('Enter');
  // Each order of the first records has its own two lines.
  await page.getByRole('region', { name: 'Preview' }).getByRole('button', { name: 'N-Quads' }).click();
  const edges = page.getByRole('list', { name: 'N-Quads' }).getByRole('button', { name: /contains>/ });
  await edges.first().waitFor();
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('[aria-label="N-Quads"] button')].filter((one) => one.textContent?.includes('contains>')).length === 24,
  );
});

studio.soakTest('R6: with grouping off, fields of one object are linked, and none of two', async (visit) => {
  const { page, prefix } = visit;
  await openShop(visit);
  await page.getByRole('switch', { name: `Grouping of ${prefix}orders.json` }).click();
  await row(page, /^item 1,/).click();
  await page.keyboard.press('ArrowRight');
  await make(page, /^id, int/, 'entity');
  await row(page, /^item 1,/).click();
  await page.keyboard.press('ArrowLeft');
  await row(page, /^item 3,/).click();
  await page.keyboard.press('ArrowRight');
  await make(page, /^total, /, 'attribute');
  await targetsOf(page, /^entity .*Order,/, 'total');
  await isRefused(
    page,
    `are in different objects (1 and 3 of ${prefix}orders.json). With grouping off, only fields of one object can be linked.`,
  );
  await targetsOf(page, /^entity .*Order,/, 'customerId');
  await page
    .getByRole('option', { name: /customerId.*new attribute/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await row(page, /^entity .*Order,.* 1 attribute/).waitFor();
});

studio.soakTest(
  'R6: with grouping off, what an object does not have is not offered, and the list of targets has its own fields',
  async (visit) => {
    const { page, prefix } = visit;
    await page.goto(`/studio/#/new/files/${prefix}uneven.ttl`);
    await page.getByRole('button', { name: 'Add input' }).click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
    const orders = [
      { id: 'a', lines: [{ sku: 'A1' }] },
      { id: 'b', lines: [{ sku: 'B1' }, { sku: 'B2' }], customer: { name: 'Ada' } },
    ];
    await chooser.setFiles([{ name: `${prefix}uneven.json`, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(orders)) }]);
    await row(page, /^id, text, a/).waitFor();
    await page.getByRole('switch', { name: `Grouping of ${prefix}uneven.json` }).click();
    await row(page, /^item 1,/).click();
    await page.keyboard.press('ArrowRight');
    await row(page, 'lines, list').click();
    await page.keyboard.press('ArrowRight');
    await row(page, /^sku|^item 1, object/)
      .nth(1)
      .waitFor();
    expect(await row(page, /^item 2,/).count()).toBe(1);
    expect(await row(page, 'customer, object').count()).toBe(0);
    await make(page, /^id, text, a/, 'entity');
    const inspector = page.getByRole('region', { name: 'Inspector' });
    await expectSoon(() => inspector.getByLabel('From', { exact: true }).inputValue(), `${prefix}uneven.json, $[0]`);
    await expectSoon(() => inspector.getByRole('combobox', { name: 'Template' }).inputValue(), expect.stringContaining('{[0].id}'));
    await targetsOf(page, /^entity /, `${prefix}uneven.json`);
    const offered = page.getByRole('dialog').getByRole('option');
    await expectSoon(
      async () => (await offered.locator('.name').allInnerTexts()).sort(),
      ['id', 'lines', 'lines[0].sku'].map((name) => `${prefix}uneven.json › ${name}`),
    );
  },
);

studio.soakTest('R6: what was chosen with grouping on is not linked with what was chosen with grouping off', async (visit) => {
  const { page, prefix } = visit;
  await orderIn(visit);
  await page.getByRole('switch', { name: `Grouping of ${prefix}orders.json` }).click();
  await row(page, /^item 2,/).click();
  await page.keyboard.press('ArrowRight');
  await make(page, /^total, /, 'attribute');
  await targetsOf(page, /^entity .*Order,/, 'total');
  const sentence = /was chosen with grouping on and .* with grouping off\. Elements of the two views cannot be linked\./;
  await page.getByRole('option').filter({ hasText: sentence }).first().click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: sentence }).first().waitFor();
});
