/** Tables and queries of a database as inputs: chosen, modelled and previewed. */
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { writeSqlite } from '../../../servers/databases/sqlite.ts';
import { expectAccessible, useStudio, type Visit } from '../support/browser.ts';
import { row } from '../support/shop.ts';

const studio = await useStudio();

async function withDatabase({ directory, prefix, ask }: Visit, act: () => Promise<void>): Promise<void> {
  await writeSqlite(
    join(directory, `${prefix}shop.db`),
    `CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bo');
     CREATE TABLE purchase (number INTEGER PRIMARY KEY, total NUMERIC, buyer INTEGER);
     INSERT INTO purchase VALUES (10, 12.5, 1), (11, 3, 1), (12, 4, 9)`,
  );
  const set = async (value: string): Promise<void> => {
    const question = new URLSearchParams({ configEntry: 'JDBC_URL', configValue: value });
    expect((await ask(`/sql-transformer/updateConfig?${question}`, { method: 'PUT' })).status).toBe(200);
  };
  await set(`jdbc:sqlite:${join(directory, `${prefix}shop.db`)}`);
  try {
    await act();
  } finally {
    await set('');
  }
}

async function addFromDatabase(page: Page, way: 'a table' | 'a query', text: string): Promise<void> {
  await page.getByRole('button', { name: 'Add input' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'From' }).selectOption({ label: way });
  if (way === 'a table') await dialog.getByText(/^2 tables in jdbc:sqlite:/).waitFor();
  await expectAccessible(page);
  await dialog.getByLabel(way === 'a table' ? 'Table' : 'Query', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
}

studio.soakTest('sql-tables: tables of the database become entities that are joined by a key', async (visit) => {
  const { page, prefix } = visit;
  await withDatabase(visit, async () => {
    await page.goto(`/studio/#/new/files/${prefix}shop.ttl`);
    await addFromDatabase(page, 'a table', 'customer');
    await row(page, /^name, text, Ada/).waitFor();
    await addFromDatabase(page, 'a table', 'purchase');
    await row(page, /^number, int, 10/).click();
    await page.keyboard.press('e');
    await row(page, /^id, int, 1/).click();
    await page.keyboard.press('e');
    await page.getByRole('tab', { name: 'Outline' }).click();
    await row(page, /^entity .*Purchase/).click();
    const inspector = page.getByRole('region', { name: 'Inspector' });
    await inspector.getByRole('button', { name: 'Connect …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').fill('customer');
    await dialog.getByLabel('Predicate').fill('buyer');
    await page.keyboard.press('Enter');
    await row(page, /^buyer → /).click();
    const sides = inspector.getByRole('combobox', { name: /^Field of / });
    await sides.first().fill('buyer');
    await sides.first().press('Enter');
    await sides.last().fill('id');
    await sides.last().press('Enter');
    await inspector.getByRole('button', { name: 'Add condition' }).click();
    await inspector.getByText('2 of the first 3 records find a partner.').waitFor();
    await inspector.getByText('Without: 9. The other side has: 1, 2.').waitFor();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText(/2 statements of \d records/).waitFor();
    await expectAccessible(page);
  });
});

studio.soakTest('a query is an input; one with a mistake says where', async (visit) => {
  const { page, prefix } = visit;
  visit.expectError(/studio\/(samples|tables)/);
  await withDatabase(visit, async () => {
    await page.goto(`/studio/#/new/files/${prefix}query.ttl`);
    await addFromDatabase(
      page,
      'a query',
      'SELECT name AS customer_name, count(*) AS purchases FROM customer JOIN purchase ON buyer = id GROUP BY name',
    );
    await row(page, /^customer_name, text, Ada/).waitFor();
    await row(page, /^purchases, int, 2/).waitFor();
    await addFromDatabase(page, 'a query', 'SELECT wrong FROM customer');
    await row(page, /^customer-2, /).click();
    await page
      .getByRole('region', { name: 'Inspector' })
      .getByRole('alert')
      .filter({ hasText: /no such column: wrong/ })
      .waitFor();
    await expectAccessible(page);
  });
});
