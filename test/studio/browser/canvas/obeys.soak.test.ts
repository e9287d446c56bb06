/** The canvas obeys: ports, titles, the layout, files that are dropped, and Escape. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectSoon, useStudio } from '../support/browser.ts';
import { block, drawTo, dropField, placeOf, port } from '../support/canvas.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

const inspectorTitle = (page: Page) => page.locator('[data-region=inspector] h2');

/** An order with its lines as a separate entity, and an edge between them. */
async function ordersWithLines(page: Page): Promise<void> {
  await dropField(page, /^id, int/, 'Entity', { x: 320, y: 60 });
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await dropField(page, /^sku/, 'Entity', { x: 320, y: 190 });
  await drawTo(page, port(page, /^Entity .*Order/), block(page, /^Entity Line/));
  await page.mouse.up();
  await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
  await page.keyboard.press('Enter');
}

studio.soakTest('a port draws another line where the entity has edges already', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await ordersWithLines(page);
  await dropField(page, /^customerId/, 'Entity', { x: 320, y: 320 });
  const orders = block(page, /^Entity .*(?:rders|Order)\b.*1 edge/);
  await orders.waitFor();
  // What is at the middle of the port is the port, not a line.
  const { x, y, width, height } = await placeOf(port(page, /^Entity .*1 edge/));
  const under = await page.evaluate(
    ([left, top]) => document.elementFromPoint(left as number, top as number)?.className ?? '',
    [x + width / 2, y + height / 2],
  );
  expect(under).toContain('react-flow__handle');
  await drawTo(
    page,
    port(page, /^Entity .*1 edge/),
    block(page, /^Entity Customer/)
      .or(block(page, /^Entity .*2,/))
      .first(),
  );
  await page.mouse.up();
  await page.getByRole('dialog').getByLabel('Predicate').fill('customer');
  await page.keyboard.press('Enter');
  await block(page, /^Entity .*2 edges/).waitFor();
});

studio.soakTest('a click on a title selects the entity, also while one of its rows is selected', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await dropField(page, /^id, int/, 'Entity', { x: 320, y: 60 });
  await row(page, /^total/).click();
  await page.keyboard.press('a');
  const entity = block(page, /^Entity /).first();
  await entity.locator('li[data-row]').click();
  await expectSoon(() => inspectorTitle(page).innerText(), expect.stringContaining('attribute'));
  await entity.locator('.title .name').click();
  await expectSoon(() => inspectorTitle(page).innerText(), expect.stringContaining('entity'));
  // A field of an input stays selected when it is clicked.
  const input = block(page, /^Input .*orders/);
  await input.locator('li[data-field]').first().click();
  await expectSoon(() => input.getAttribute('aria-current'), 'false');
});

studio.soakTest('the layout takes every block, and blocks that grow push others away', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await ordersWithLines(page);
  const [upper, lower] = [block(page, /^Entity .*1 edge/), block(page, /^Entity Line/)];
  // Below it, both put there by hand.
  const top = await placeOf(upper);
  await lower.locator('.title').hover();
  await page.mouse.down();
  await page.mouse.move(top.x + 60, top.y + top.height + 20, { steps: 6 });
  await page.mouse.up();
  for (const name of [/^total/, /^customerId/, /^note/]) {
    await row(page, name).click();
    await page.keyboard.press('a');
  }
  await block(page, /^Entity .*3 attributes, 1 edge/).waitFor();
  const [above, below] = [await placeOf(upper), await placeOf(lower)];
  expect(below.y).toBeGreaterThanOrEqual(above.y + above.height);
  await page.getByRole('button', { name: 'Lay out' }).click();
  // From left to right, as an edge leads.
  await expectSoon(async () => (await placeOf(lower)).x > (await placeOf(upper)).x + (await placeOf(upper)).width, true);
});

studio.soakTest('a file that is dropped anywhere becomes an input: on another tab, on the text, and on the start page', async (visit) => {
  const { page, prefix } = visit;
  const drop = (onto: string, name: string, content: string): Promise<void> =>
    page.evaluate(
      ([selector, file, text]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text as string], file as string));
        const target = document.querySelector(selector as string);
        for (const type of ['dragover', 'drop'])
          target?.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
      },
      [onto, name, content],
    );
  await openShop(visit);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await drop('[data-region=canvas]', `${prefix}a.csv`, 'apple\n1\n');
  await row(page, /^apple, int/).waitFor();
  await page.getByRole('button', { name: 'Split', exact: true }).click();
  await page.locator('.cm-content').waitFor();
  await drop('.cm-content', `${prefix}b.csv`, 'berry\n1\n');
  await row(page, /^berry, int/).waitFor();
  expect(await page.locator('.cm-content').innerText()).not.toContain('berry\n1');
  await page.goto('/studio/#/');
  await page.getByRole('heading', { name: 'Models' }).waitFor();
  await drop('main', `${prefix}cherries.csv`, 'cherry\n1\n');
  await row(page, /^cherry, int/).waitFor();
  await page.getByRole('heading', { name: `${prefix}cherries.ttl` }).waitFor();
});

studio.soakTest('Escape closes what is open: a menu, a refusal, a statement and the drawer', async (visit) => {
  const { page } = visit;
  await page.setViewportSize({ width: 1024, height: 700 });
  await openShop(visit);
  await row(page, /^id, int/).dragTo(page.getByRole('application', { name: 'Canvas' }), { targetPosition: { x: 320, y: 60 } });
  const menu = page.getByRole('menu', { name: 'What to make of it' });
  await menu.waitFor();
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  await dropField(page, /^id, int/, 'Entity', { x: 320, y: 60 });
  await page.getByRole('button', { name: 'N-Quads' }).click();
  // An input that is read cannot be removed.
  await row(page, /orders\.json/)
    .first()
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: /Remove/ }).click();
  const refusal = page.locator('[data-region=status] .note.warning');
  await refusal.waitFor();
  await page.getByRole('button', { name: 'Accept a suggestion' }).click();
  await page.getByRole('list', { name: 'N-Quads' }).getByRole('button').first().click();
  const detail = page.locator('.statement-detail');
  await detail.waitFor();
  const drawer = page.getByRole('button', { name: 'Inspector', exact: true });
  await drawer.click();
  expect(await drawer.getAttribute('aria-expanded')).toBe('true');
  await page.keyboard.press('Escape');
  await expectSoon(() => drawer.getAttribute('aria-expanded'), 'false');
  await detail.waitFor();
  await page.keyboard.press('Escape');
  await detail.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await refusal.waitFor({ state: 'detached' });
});

studio.soakTest('a mapping with one error opens as what can be drawn, and is drawn whole when it is corrected', async (visit) => {
  const { page, prefix, expectError } = visit;
  // Its input is not there.
  expectError(/studio\/samples/);
  const rule = 'rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ]';
  const map = (name: string): string =>
    `<#${name}> rml:logicalSource <#s> ; rml:subjectMap [ rml:template "http://e.org/${name}/{id}" ] ; ${rule} .\n`;
  const text = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e.org/> .
<#s> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .
${map('Person')}${map('Town').replace('ex:name ;', 'ex:name')}`;
  await page.goto('/studio/#/');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Open a file' }).click()]);
  await chooser.setFiles([{ name: `${prefix}broken.ttl`, mimeType: 'text/turtle', buffer: Buffer.from(text) }]);
  await block(page, /^Entity Person/).waitFor();
  await page.getByRole('group', { name: /^As text/ }).waitFor();
  await page.getByText(/The text has an error at 4:/).waitFor();
  await page.getByRole('button', { name: 'Go there' }).click();
  await page.locator('.cm-content').waitFor();
  // The caret stands where the error is.
  await page.keyboard.type('; ');
  await block(page, /^Entity Town.*1 attribute/).waitFor();
  await page.getByRole('group', { name: /^As text/ }).waitFor({ state: 'detached' });
});
