/** The canvas by mouse: its blocks, and what is dragged and drawn there. */
import type { Locator, Page } from 'playwright-core';
import { row } from './shop.ts';

export const block = (page: Page, name: RegExp): Locator => page.getByRole('application', { name: 'Canvas' }).getByRole('group', { name });

/** Drags a field of the inputs to the canvas, and chooses what it becomes. */
export async function dropField(
  page: Page,
  field: RegExp,
  as: 'Entity' | 'Attribute',
  at: { readonly x: number; readonly y: number },
): Promise<void> {
  await row(page, field).dragTo(page.getByRole('application', { name: 'Canvas' }), { targetPosition: at });
  await page.getByRole('menuitem', { name: as }).click();
}

/** Where an element stands, once it moves no more. */
export async function placeOf(
  target: Locator,
): Promise<{ readonly x: number; readonly y: number; readonly width: number; readonly height: number }> {
  const element = await target.elementHandle();
  await element?.waitForElementState('stable');
  const box = await element?.boundingBox();
  if (box === null || box === undefined) throw new Error('it is not on the page');
  return box;
}

async function middleOf(target: Locator): Promise<readonly [number, number]> {
  const box = await placeOf(target);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Draws a line with the mouse, and holds it above the target. */
export async function drawTo(page: Page, from: Locator, to: Locator): Promise<void> {
  await page.mouse.move(...(await middleOf(from)));
  await page.mouse.down();
  const [x, y] = await middleOf(to);
  await page.mouse.move(x - 20, y, { steps: 4 });
  await page.mouse.move(x, y, { steps: 4 });
}

export const port = (page: Page, of: RegExp): Locator => block(page, of).locator('.react-flow__handle[title]').first();
