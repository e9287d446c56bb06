/** Functions of values: chosen in the inspector, with their arguments and what they give. */
import { expectAccessible, useStudio } from './support/browser.ts';
import { openShop, row } from './support/shop.ts';

const studio = await useStudio();

studio.soakTest('a function is chosen by its name, shows what it gives for the first record, and goes again', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^customerId, text/).click();
  await page.keyboard.press('a');
  await page.locator('[data-row][data-element]', { hasText: 'customerId' }).click();
  const inspector = page.getByRole('region', { name: 'Inspector' });
  await inspector.getByLabel('Add a function').fill('grel:noSuchThing');
  await page.keyboard.press('Enter');
  await inspector.getByText('The service has no function named “grel:noSuchThing”.').waitFor();
  await inspector.getByLabel('Add a function').fill('grel:toLowerCase');
  await page.keyboard.press('Enter');
  await inspector.getByText('= "c-1"').waitFor();
  expect(await inspector.getByText(/^No example/).count()).toBe(0);
  await expectAccessible(page);
  await inspector.getByLabel('Add a function').fill('grel:string_replace');
  await page.keyboard.press('Enter');
  const find = inspector.getByRole('group', { name: /find/i }).getByLabel('Constant');
  await find.fill('c-');
  await page.keyboard.press('Enter');
  const replace = inspector.getByRole('group', { name: /replace/i }).getByLabel('Constant');
  await replace.fill('customer');
  await page.keyboard.press('Enter');
  await inspector.getByText('= "customer1"').waitFor();
  // The row of its attribute is long, and the panel keeps its width.
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity/).click();
  await inspector.getByRole('button', { name: /^no predicate yet → string_replace/ }).waitFor();
  expect(await page.locator('.inspector').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await row(page, /→ string_replace/).click();
  await inspector.getByRole('button', { name: 'Remove the function grel:string_replace' }).click();
  await inspector.getByText('= "c-1"').waitFor();
  await page.keyboard.press('Control+z');
  await inspector.getByText('= "customer1"').waitFor();
});
