/** A new model with a nested JSON file and a CSV file, whose fields are read. */
import type { Locator, Page } from 'playwright-core';
import type { Visit } from './browser.ts';

const ORDERS = Array.from({ length: 12 }, (_, i) => ({
  id: 1001 + i,
  customerId: `C-${(i % 2) + 1}`,
  total: `${i}.50`,
  ...(i % 4 === 0 ? {} : { note: 'by post' }),
  lines: [
    { sku: `A${i}`, qty: 1 },
    { sku: `B${i}`, qty: 2 },
  ],
  payments: [{ way: 'card' }],
}));

export async function openShop({ page, prefix }: Visit): Promise<void> {
  await page.goto(`/studio/#/new/files/${prefix}shop.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  await chooser.setFiles([
    { name: `${prefix}orders.json`, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(ORDERS)) },
    { name: `${prefix}people.csv`, mimeType: 'text/csv', buffer: Buffer.from('id,name\nC-1,Ada\nC-2,Bo\n') },
  ]);
  await row(page, /^id, int, 1001/).waitFor();
  await row(page, /^name, text, Ada/).waitFor();
}

/** A row of a tree: of the inputs, or of the outline. */
export const row = (page: Page, name: RegExp | string): Locator => page.getByRole('treeitem', { name });
