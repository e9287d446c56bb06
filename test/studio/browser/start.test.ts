/** The start page: who is there, new models, drafts that survive, files of this computer, models of the service. */
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
  const regions = ['Toolbar', 'Inputs, outline and ontology', 'Canvas', 'Inspector', 'Preview', 'Status'];
  for (const name of regions) await page.locator(`[data-region][aria-label="${name}"]`).waitFor();
  const seen: string[] = [];
  for (const _ of regions) {
    await page.keyboard.press('F6');
    seen.push(await page.evaluate(() => document.activeElement?.closest('[data-region]')?.getAttribute('aria-label') ?? 'none'));
  }
  expect(seen).toEqual(regions);
  await expectAccessible(page);
});

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <https://example.org/> .

# The people of the shop.
<#Person> a rml:TriplesMap ;
  rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;

studio.test('a new model is there after a reload, and is discarded', async ({ page, prefix }) => {
  await page.goto('/studio/');
  await page.getByRole('button', { name: 'New model' }).click();
  await page.keyboard.press('Enter');
  await page.getByText('A model needs a name.').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Name', { exact: true }).fill(`${prefix}shop`);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `${prefix}shop.ttl` }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: `${prefix}shop.ttl` }).waitFor();
  await page.getByRole('link', { name: 'All models' }).click();
  await page.getByRole('link', { name: `Continue ${prefix}shop.ttl` }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: `Discard ${prefix}shop.ttl` }).click();
  await page.getByRole('link', { name: `Continue ${prefix}shop.ttl` }).waitFor({ state: 'detached' });
});

studio.test('opens a mapping of the service, whose entities stand in the outline', async ({ page, prefix, saveMapping, expectError }) => {
  // There is no such file to sample.
  expectError(/studio\/samples/);
  const name = `${prefix}people.ttl`;
  expect(await saveMapping(name, MAPPING)).toBe(201);
  await page.goto('/studio/');
  await page.getByLabel('Find a model').fill(name);
  await page.getByRole('link', { name }).click();
  await page.getByText('Everything is saved').waitFor();
  await page.getByRole('tab', { name: 'Outline' }).click();
  await page.getByRole('treeitem', { name: /^entity Person, from people\.csv, 1 attribute, 0 edges/ }).waitFor();
  await page.getByRole('treeitem', { name: /^ex:name → / }).waitFor();
});

studio.soakTest('opens a mapping of this computer', async ({ page, prefix, expectError }) => {
  expectError(/studio\/samples/);
  await page.goto('/studio/');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: `${prefix}mine.ttl`, mimeType: 'text/turtle', buffer: Buffer.from(MAPPING) });
  await page.getByRole('heading', { name: `${prefix}mine.ttl` }).waitFor();
  await page.getByText('Not saved yet').waitFor();
});
