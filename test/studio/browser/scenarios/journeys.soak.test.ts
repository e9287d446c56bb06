/** Whole journeys of a person: a graph of two files in few clicks, a workbook, an upload that is given up, an expert, named graphs. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { STUDIO_TOKENS } from '../../../servers/studio/studio.ts';
import { xlsx, xlsxRows } from '../../../src/sources/sheet/workbooks.ts';
import { useStudio, type Visit } from '../support/browser.ts';
import { block, drawTo, dropField, port } from '../support/canvas.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

interface Counted {
  pressed: number;
}

/** Presses of the mouse, a drag being one, and of Enter. */
async function counting(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counted = { pressed: 0 };
    Object.assign(window, { counted });
    window.addEventListener('pointerdown', () => void counted.pressed++, true);
    window.addEventListener('keydown', ({ key }) => void (counted.pressed += key === 'Enter' ? 1 : 0), true);
  });
  return () => page.evaluate(() => (window as unknown as { readonly counted: Counted }).counted.pressed);
}

const MOST_CLICKS = 40;

studio.soakTest('nested-json-and-csv-in-forty-clicks: from the start page to a saved graph of two files', async (visit) => {
  const { page, prefix, ask } = visit;
  await page.goto('/studio/');
  const count = await counting(page);
  await page.getByRole('button', { name: 'New model' }).click();
  await page.getByLabel('Name', { exact: true }).fill(`${prefix}journey`);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  const orders = Array.from({ length: 10 }, (_, i) => ({
    id: 1001 + i,
    customerId: `C-${i % 2}`,
    total: i + 0.5,
    lines: [{ sku: `A${i}` }],
  }));
  await chooser.setFiles([
    { name: `${prefix}orders.json`, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(orders)) },
    { name: `${prefix}people.csv`, mimeType: 'text/csv', buffer: Buffer.from('id,name\nC-0,Ada\nC-1,Bo\n') },
  ]);
  await row(page, /^id, int, 1001/).waitFor();
  await row(page, /^name, text, Ada/).waitFor();
  await dropField(page, /^id, int/, 'Entity', { x: 330, y: 80 });
  await row(page, /^total/).dragTo(block(page, /^Entity .*Order,/));
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await dropField(page, /^sku/, 'Entity', { x: 330, y: 280 });
  await drawTo(page, port(page, /^Entity .*Order,/), block(page, /^Entity Line/));
  await page.mouse.up();
  await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
  await page.keyboard.press('Enter');
  await dropField(page, /^id, text, C-0/, 'Entity', { x: 600, y: 380 });
  await row(page, /^name, text, Ada/).dragTo(block(page, /^Entity .*Person,|^Entity .*People,/i), { targetPosition: { x: 20, y: 14 } });
  await row(page, /^customerId/).dragTo(row(page, /^id, text, C-0/));
  // The classes of three entities, the predicates of total, name and the join, and the datatype of total: made shortly after the last of them.
  await page.getByRole('button', { name: 'Accept 7 suggestions' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  const clicks = await count();
  process.stdout.write(`nested JSON and CSV: ${clicks} clicks\n`);
  expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  const { text } = (await (await ask(`/studio/mappings/${prefix}journey.ttl`)).json()) as { readonly text: string };
  for (const part of ['contains', '$.total', '$.lines[*].sku', 'name', '$.customerId', 'customer>']) expect(text).toContain(part);
});

studio.soakTest('xlsx-sheet: another sheet of a workbook is chosen, and its columns are drawn and previewed', async (visit) => {
  const { page, prefix } = visit;
  const rows = (...lines: readonly (readonly string[])[]): string => xlsxRows(lines);
  const content = xlsx({ sheets: { Staff: rows(['id', 'name'], ['7', 'Ann']), 'Pay 2026': rows(['month', 'amount'], ['May', '120']) } });
  await page.goto(`/studio/#/new/files/${prefix}pay.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  await chooser.setFiles([{ name: `${prefix}pay.xlsx`, mimeType: 'application/octet-stream', buffer: Buffer.from(content) }]);
  await row(page, /^name, text, Ann/).waitFor();
  await row(page, new RegExp(`^${prefix}pay.xlsx`)).click();
  const sheet = page.getByRole('region', { name: 'Inspector' }).getByRole('combobox', { name: 'Sheet' });
  await sheet.fill('Pay');
  await page.getByRole('option', { name: 'Pay 2026' }).click();
  await row(page, /^month, text, May/).click();
  await page.keyboard.press('e');
  await row(page, /^amount/).click();
  await page.keyboard.press('a');
  await page.getByRole('button', { name: /^Accept \d+ suggestions/ }).click();
  await page.getByRole('list', { name: 'Turtle' }).getByText(/120/).waitFor();
});

studio.soakTest('upload-cancelled: an upload that is stopped leaves no input, and the next one comes', async (visit) => {
  const { page, prefix } = visit;
  await page.goto(`/studio/#/new/files/${prefix}stopped.ttl`);
  await page.route('**/studio/uploads?*', () => undefined);
  const add = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Add input' }).click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
    await chooser.setFiles([{ name, mimeType: 'text/csv', buffer: Buffer.from('id,name\n1,Ada\n') }]);
  };
  await add(`${prefix}a.csv`);
  await page.getByRole('progressbar', { name: `Uploading ${prefix}a.csv` }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('progressbar').waitFor({ state: 'detached' });
  await page.getByText('Drop a file here, or add one').waitFor();
  await page.unroute('**/studio/uploads?*');
  await add(`${prefix}a.csv`);
  await row(page, /^name, text, Ada/).waitFor();
});

studio.soakTest('r2-expert: in expert mode an attribute that is an IRI begins an edge', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await page.getByRole('switch', { name: 'Expert mode' }).click();
  await row(page, /^name, text, Ada/).click();
  await page.keyboard.press('a');
  await page.getByRole('region', { name: 'Inspector' }).getByLabel('Kind of term').selectOption({ label: 'IRI' });
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^name, attribute/).click();
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByRole('combobox').first().fill('people.csv › id');
  await page
    .getByRole('option', { name: /id.*new attribute/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

studio.soakTest('named-graphs: what an entity says is written to a graph, in the preview too', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await page.getByRole('button', { name: /^Accept (a suggestion|\d+ suggestions)/ }).click();
  const add = page.getByRole('region', { name: 'Inspector' }).getByRole('combobox', { name: 'Add a graph' });
  await add.fill('orders');
  await add.press('Enter');
  await page.getByRole('button', { name: 'N-Quads' }).click();
  await page.getByRole('list', { name: 'N-Quads' }).getByText('<https://example.org/orders> .').first().waitFor();
});

studio.soakTest('token-ends: another one is asked for while the user draws, and the preview goes on', async (visit: Visit) => {
  const { page, expectError } = visit;
  await openShop(visit);
  expectError(/status of 401/);
  await page.evaluate(() => sessionStorage.setItem('quadmill-token', 'nonsense-that-is-long'));
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  await dialog.getByText('Your work is kept in this browser').waitFor();
  await dialog.getByLabel('Token', { exact: true }).fill(STUDIO_TOKENS.operator);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await block(page, /^Entity .*Order,/).waitFor();
  await page.getByText(/^\d+ statements of (the first )?\d+ records/).waitFor();
});
