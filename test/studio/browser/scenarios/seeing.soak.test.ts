/** The page for those who see it in another way: dark and forced colours, enlarged four times, with every dialog. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, useStudio, type Visit } from '../support/browser.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

/** An entity with an attribute, selected. */
async function drawn(visit: Visit): Promise<void> {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^total/).click();
  await page.keyboard.press('a');
  await page.getByText(/^\d+ statements of (the first )?\d+ records/).waitFor();
}

/** All that opens above the page, and all views of a model. */
async function everythingIsAccessible(page: Page): Promise<void> {
  await expectAccessible(page);
  for (const [button, closes] of [
    ['Add input', true],
    ['Save as …, in any language', true],
    ['Changes', true],
    ['Find Ctrl+K', true],
    ['Run', true],
    ['Split', false],
    ['Text', false],
    ['Graph', false],
    ['N-Quads', false],
    ['Records', false],
    ['Canvas', false],
  ] as const) {
    await page.getByRole('button', { name: button, exact: true }).click();
    if (closes) await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
    if (closes) await page.keyboard.press('Escape');
  }
  for (const tab of ['Outline', 'Ontology']) {
    await page.getByRole('tab', { name: tab }).click();
    await expectAccessible(page);
  }
}

for (const scheme of ['light', 'dark'] as const) {
  studio.soakTest(
    `every view and dialog has no finding: ${scheme}`,
    async (visit) => {
      await drawn(visit);
      await everythingIsAccessible(visit.page);
    },
    { scheme },
  );
}

studio.soakTest('dark-and-forced-colors: lines, ports and what is selected are seen', async (visit) => {
  const { page } = visit;
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await drawn(visit);
  await page.locator('.react-flow__handle[title]').first().waitFor();
  await expectAccessible(page);
  const colours = await page.evaluate(() => {
    const of = (selector: string, property: string, pseudo?: string): string => {
      const found = document.querySelector(selector);
      return found === null ? 'missing' : getComputedStyle(found, pseudo).getPropertyValue(property);
    };
    return {
      ground: of('body', 'background-color'),
      port: of('.react-flow__handle[title]', 'border-top-color', '::after'),
      block: of('.block', 'border-top-color'),
      pressed: of('.button[aria-pressed="true"]', 'background-color'),
    };
  });
  expect(Object.values(colours)).not.toContain('missing');
  for (const part of ['port', 'block', 'pressed'] as const) expect(colours[part]).not.toBe(colours.ground);
});

studio.soakTest(
  'four-hundred-percent-zoom: one column, nothing beside it, and all regions are reached',
  async (visit) => {
    const { page } = visit;
    await openShop(visit);
    await row(page, /^id, int/).click();
    await page.keyboard.press('e');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    for (const region of ['Inspector', 'Preview', 'Status']) {
      const shown = page.getByRole('region', { name: region, exact: true });
      await shown.scrollIntoViewIfNeeded();
      expect((await shown.boundingBox())?.width ?? 0).toBeGreaterThan(200);
    }
  },
  { size: { width: 320, height: 256 } },
);

studio.soakTest('colours are switched by a button, and are the same after a reload', async (visit) => {
  const { page } = visit;
  await page.goto('/studio/');
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', { name: 'Colours: as the system' }).click();
  await page.getByRole('button', { name: 'Colours: light' }).click();
  await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  expect(await ground()).not.toBe(light);
  await page.reload();
  await page.getByRole('button', { name: 'Colours: dark' }).click();
  expect(await ground()).toBe(light);
});
