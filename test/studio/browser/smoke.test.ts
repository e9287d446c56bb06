/** The page of the studio comes up in a browser, is accessible, and asks for a token where it needs one. */
import { expect } from '@jest/globals';
import { STUDIO_TOKENS } from '../../servers/studio/studio.ts';
import { expectAccessible, useStudio } from './support/browser.ts';

const studio = await useStudio();

studio.test('opens with the models of the service', async ({ page }) => {
  await page.goto('/studio/');
  await page.getByRole('heading', { name: 'Quadmill studio' }).waitFor();
  await page.getByText('admin · admin').waitFor();
  await expectAccessible(page);
});

studio.test(
  'asks for a token, refuses a wrong one, and takes a right one',
  async ({ page, expectError }) => {
    expectError(/status of 401/);
    await page.goto('/studio/');
    const token = page.getByLabel('Token', { exact: true });
    await token.fill('nonsense-that-is-long');
    await page.keyboard.press('Enter');
    await page.getByText('The service does not accept this token.').waitFor();
    await expectAccessible(page);
    await token.fill(STUDIO_TOKENS.viewer);
    await page.keyboard.press('Enter');
    await page.getByText('viewer · viewer').waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('quadmill-token'))).toBe(STUDIO_TOKENS.viewer);
  },
  { role: 'nobody' },
);

studio.test('opens a new model with all regions, which F6 goes around', async ({ page, prefix }) => {
  await page.goto(`/studio/#/new/files/${prefix}shop.ttl`);
  await page.getByRole('heading', { name: `${prefix}shop.ttl` }).waitFor();
  const regions = ['Toolbar', 'Inputs and outline', 'Canvas', 'Inspector', 'Preview', 'Status'];
  for (const name of regions) await page.locator(`[data-region][aria-label="${name}"]`).waitFor();
  const seen: string[] = [];
  for (const _ of regions) {
    await page.keyboard.press('F6');
    seen.push(await page.evaluate(() => document.activeElement?.closest('[data-region]')?.getAttribute('aria-label') ?? 'none'));
  }
  expect(seen).toEqual(regions);
  await expectAccessible(page);
});
