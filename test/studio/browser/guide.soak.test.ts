/** The guided example: five steps on the real screen, by mouse and by keyboard alone. Its pictures are those of the documents. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { expectAccessible, hasFocus, useStudio } from './support/browser.ts';
import { block, drawTo, port } from './support/canvas.ts';
import { row } from './support/shop.ts';

const studio = await useStudio();

const PICTURES = join(PROJECT_ROOT, 'docs/images');

/** `UPDATE_PICTURES=1` makes the pictures of the documents again. */
async function picture(page: Page, name: string): Promise<void> {
  const path = join(PICTURES, `${name}.png`);
  if (process.env.UPDATE_PICTURES === undefined) return expect(existsSync(path)).toBe(true);
  await mkdir(PICTURES, { recursive: true });
  await page.mouse.move(640, 10);
  await page.screenshot({ path });
}

const card = (page: Page): Locator => page.getByRole('complementary', { name: 'Guided example' });
const canvas = (page: Page): Locator => page.getByRole('application', { name: 'Canvas' });

studio.soakTest('by mouse: a finished graph of two files', async ({ page }) => {
  await page.goto('/studio/');
  await page.getByRole('button', { name: 'Guided example' }).click();
  await card(page).getByText('Step 1 of 5').waitFor();
  await expectAccessible(page);
  await card(page).getByRole('button', { name: 'Add the two files' }).click();
  await card(page).getByText('Step 2 of 5').waitFor();
  await row(page, /^id, int, 1001/).dragTo(canvas(page), { targetPosition: { x: 310, y: 60 } });
  await page.getByRole('menuitem', { name: 'Entity' }).click();
  await card(page).getByText('Step 3 of 5').waitFor();
  await row(page, /^date, date/).click();
  await row(page, /^total, /).click({ modifiers: ['Shift'] });
  await row(page, /^total, /).dragTo(block(page, /^Entity/));
  await block(page, /^Entity .* 2 attributes, 0 edges/).waitFor();
  await page.getByRole('button', { name: /^Accept \d+ suggestions/ }).click();
  await card(page).getByText('Step 4 of 5').waitFor();
  // Undoing goes back to the step that it undoes.
  await card(page).getByRole('button', { name: 'Undo' }).click();
  await card(page).getByText('Step 3 of 5').waitFor();
  await page.getByRole('button', { name: /^Accept \d+ suggestions/ }).click();
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^sku/).dragTo(canvas(page), { targetPosition: { x: 310, y: 320 } });
  await page.getByRole('menuitem', { name: 'Entity' }).click();
  await block(page, /^Entity Line/).waitFor();
  await drawTo(page, port(page, /^Entity .*Order/), block(page, /^Entity Line/));
  await page.mouse.up();
  await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
  await page.keyboard.press('Enter');
  await card(page).getByText('Step 5 of 5').waitFor();
  await page.getByText(/^\d\d+ statements of/).waitFor();
  await picture(page, 'studio-canvas');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { name: 'Completed' }).waitFor();
  await picture(page, 'studio-run');
  await page.keyboard.press('Escape');
  await card(page).getByText('This is your graph').waitFor();
  await card(page).getByRole('button', { name: 'Leave' }).click();
  await card(page).waitFor({ state: 'detached' });
});

/** Presses Tab until something has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let i = 0; i < 60; i++) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not come to ${target}`);
}

studio.soakTest('by keyboard alone', async ({ page }) => {
  // A pointer is not there at all.
  const none = (): never => {
    throw new Error('this case has no pointer');
  };
  Object.assign(page.mouse, { click: none, move: none, down: none, up: none, dblclick: none, wheel: none });
  const keys = async (...all: readonly string[]): Promise<void> => {
    for (const key of all) await page.keyboard.press(key);
  };
  await page.goto('/studio/');
  await tabTo(page, page.getByRole('button', { name: 'Guided example' }));
  await keys('Enter');
  await tabTo(page, card(page).getByRole('button', { name: 'Add the two files' }));
  await keys('Enter');
  await card(page).getByText('Step 2 of 5').waitFor();
  await row(page, /^id, int, 1001/).waitFor();
  const tree = page.getByRole('tree', { name: 'Inputs and their fields' });
  await tabTo(page, tree);
  // The first row is the input, the one below it `id`.
  await keys('Home', 'ArrowDown', 'e');
  await card(page).getByText('Step 3 of 5').waitFor();
  await keys('ArrowDown', 'a', 'ArrowDown', 'a');
  await tabTo(page, page.getByRole('button', { name: /^Accept \d+ suggestions/ }));
  await keys('Enter');
  await card(page).getByText('Step 4 of 5').waitFor();
  await tabTo(page, tree);
  await page.keyboard.type('lines');
  await keys('ArrowRight', 'ArrowDown', 'e');
  await block(page, /^Entity Line/).waitFor();
  await tabTo(page, canvas(page));
  await keys('ArrowDown');
  const order = block(page, /^Entity .*Order/);
  for (let i = 0; i < 8 && !(await hasFocus(order)); i++) await keys(['ArrowRight', 'ArrowUp', 'ArrowLeft', 'ArrowDown'][i % 4] as string);
  await keys('c');
  await page.getByRole('dialog').getByRole('combobox').first().waitFor();
  await page.keyboard.type('line');
  await keys('Tab');
  await page.keyboard.type('contains');
  await keys('Enter');
  await card(page).getByText('Step 5 of 5').waitFor();
  await keys('Control+s');
  await page.getByText('Everything is saved').waitFor();
  await keys('Control+Shift+Enter');
  await tabTo(page, page.getByRole('button', { name: 'Start' }));
  await keys('Enter');
  await page.getByRole('heading', { name: 'Completed' }).waitFor();
  await keys('Escape');
  await card(page).getByText('This is your graph').waitFor();
});
