/** Ontologies: loaded from a file or an address, searched, and offered wherever a class or predicate is written. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, expectSoon, useStudio, type Visit } from './support/browser.ts';
import { openShop, row } from './support/shop.ts';

const studio = await useStudio();

const TERMS = 'https://terms.example/shop#';
const TURTLE = `@prefix : <${TERMS}> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Purchase a owl:Class ; rdfs:label "Bestellung"@de, "Purchase order"@en ; rdfs:comment "What a person has bought."@en .
:Paper a owl:Class ; rdfs:label "Document" .
:amount a owl:DatatypeProperty ; rdfs:label "Amount due"@en ; rdfs:domain :Purchase .
:comment a owl:AnnotationProperty .
`;

const side = (page: Page): Locator => page.locator('[data-region=inputs]');
const inspector = (page: Page): Locator => page.locator('[data-region=inspector]');
const field = (page: Page, label: string): Locator => inspector(page).getByRole('combobox', { name: label, exact: true });

const file = (name: string, text: string) => ({ name, mimeType: 'text/turtle', buffer: Buffer.from(text) });

/** Opens a tab beside the canvas with the arrows, from whichever is open. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { selected: true }).focus();
  for (let i = 0; i < 3 && (await page.getByRole('tab', { name }).getAttribute('aria-selected')) === 'false'; i++) {
    await page.keyboard.press('ArrowRight');
  }
}

/** Selects a row of the outline, and nothing else. */
async function selectRow(page: Page, downs: number): Promise<void> {
  await page.getByRole('tree').focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < downs; i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
}

/** A model with an entity of the orders, and its attribute total; the outline is open. */
async function openOrder(visit: Visit): Promise<void> {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^total/).click();
  await page.keyboard.press('a');
  await openTab(page, 'Outline');
  await row(page, /^entity .*Order/).waitFor();
}

async function load(page: Page, name: string, text: string): Promise<void> {
  await side(page).getByRole('button', { name: 'Add ontology' }).press('Enter');
  const choose = page.getByRole('dialog').getByRole('button', { name: 'Choose files …' });
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), choose.press('Enter')]);
  await chooser.setFiles([file(name, text)]);
}

studio.test(
  'by keyboard alone: a file is loaded, its terms are found, complete a class and a predicate, and outlast a reload',
  async (visit) => {
    const { page, prefix } = visit;
    await openOrder(visit);
    await openTab(page, 'Ontology');
    await side(page).getByText('Add an ontology, and its classes').waitFor();
    await expectAccessible(page);
    await load(page, `${prefix}shop-terms.ttl`, TURTLE);
    await side(page).getByText('2 classes, 2 properties').waitFor();
    await side(page).getByText('What a person has bought.').waitFor();
    await side(page).getByText('of Purchase', { exact: true }).waitFor();
    await expectAccessible(page);
    await side(page).getByRole('searchbox').focus();
    await page.keyboard.type('bestell');
    await side(page).getByText('1 term', { exact: true }).waitFor();
    await side(page).getByText('Purchase order').waitFor();
    await openTab(page, 'Outline');
    await selectRow(page, 0);
    await field(page, 'Add a class').focus();
    await page.keyboard.type('Bestell');
    await inspector(page)
      .getByRole('option', { name: /Purchase order/ })
      .waitFor();
    await expectAccessible(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await inspector(page)
      .getByRole('button', { name: /^Remove [\w-]+:Purchase$/ })
      .waitFor();
    await page.reload();
    await openTab(page, 'Outline');
    await selectRow(page, 1);
    await field(page, 'Add a predicate').focus();
    await page.keyboard.type('due');
    await inspector(page)
      .getByRole('option', { name: /Amount due/ })
      .waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await inspector(page)
      .getByRole('button', { name: /^Remove [\w-]+:amount$/ })
      .waitFor();
  },
);

studio.soakTest('a term is used for what is selected, is suggested by its name, and is gone with its ontology', async (visit) => {
  const { page, prefix } = visit;
  await openOrder(visit);
  await selectRow(page, 1);
  await openTab(page, 'Ontology');
  await load(page, `${prefix}terms.ttl`, `${TURTLE}:total a owl:DatatypeProperty .\n`);
  await inspector(page).getByText(`predicate ${TERMS}total`).waitFor();
  await side(page)
    .getByRole('button', { name: new RegExp(`Use ${TERMS}amount as a predicate of`) })
    .press('Enter');
  await inspector(page)
    .getByRole('button', { name: /^Remove [\w-]+:amount$/ })
    .waitFor();
  await openTab(page, 'Outline');
  await selectRow(page, 0);
  await openTab(page, 'Ontology');
  await side(page)
    .getByRole('button', { name: /^Use [\w-]+:Paper as a class of/ })
    .press('Enter');
  await inspector(page)
    .getByRole('button', { name: /^Remove [\w-]+:Paper$/ })
    .waitFor();
  await expectAccessible(page);
  await side(page)
    .getByRole('button', { name: `Remove ${prefix}terms.ttl` })
    .press('Enter');
  await side(page).getByText('Add an ontology, and its classes').waitFor();
  await expectSoon(() => page.evaluate(() => document.activeElement?.textContent), 'Add ontology');
  await field(page, 'Add a class').fill('Purchase');
  expect(await field(page, 'Add a class').getAttribute('aria-expanded')).toBe('false');
  await page.reload();
  await openTab(page, 'Ontology');
  await side(page).getByText('Add an ontology, and its classes').waitFor();
});

studio.soakTest('the dialog of a new edge offers properties', async (visit) => {
  const { page, prefix } = visit;
  await openOrder(visit);
  await openTab(page, 'Ontology');
  await load(page, `${prefix}terms.ttl`, TURTLE);
  await side(page).getByText('2 classes, 2 properties').waitFor();
  await openTab(page, 'Outline');
  await page.getByRole('tree').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('c');
  const predicate = page.getByRole('dialog').getByRole('combobox', { name: 'Predicate' });
  await predicate.fill('due');
  const offered = page.getByRole('dialog').locator('datalist option');
  await expectSoon(
    () => offered.evaluateAll((all) => all.map((one) => [one.getAttribute('value'), one.getAttribute('label')])),
    [[`${TERMS}amount`, 'Amount due']],
  );
  await expectAccessible(page);
});

studio.soakTest('an ontology is completed in the text', async (visit) => {
  const { page, prefix } = visit;
  await openOrder(visit);
  await openTab(page, 'Ontology');
  await load(page, `${prefix}terms.ttl`, TURTLE.replaceAll(TERMS, 'http://schema.org/'));
  await side(page).getByText('2 classes, 2 properties').waitFor();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\n<#a> rml:class schema:Pur');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: /schema:Purchase.*Purchase order/ }).waitFor();
});

studio.soakTest(
  'what cannot be read says why, and an address or path is read; an upload may be loaded again when it has changed',
  async (visit) => {
    const { page, prefix, directory, expectError } = visit;
    expectError(/400|409/);
    await openShop(visit);
    await openTab(page, 'Ontology');
    await load(page, `${prefix}broken.ttl`, `${TURTLE}:x :y\n`);
    await side(page)
      .getByRole('alert')
      .filter({ hasText: /broken\.ttl, line \d+, column \d+, is not well-formed Turtle/ })
      .waitFor();
    await expectAccessible(page);
    await load(page, `${prefix}broken.ttl`, TURTLE);
    await side(page).getByText('2 classes, 2 properties').waitFor();
    await load(page, `${prefix}broken.ttl`, `${TURTLE}:New a owl:Class .\n`);
    await side(page).getByText('3 classes, 2 properties').waitFor();
    await side(page).getByText('2 classes, 2 properties').waitFor({ state: 'detached' });
    const path = join(directory, `${prefix}elsewhere.ttl`);
    await writeFile(path, ':A a <http://www.w3.org/2002/07/owl#Class> .'.replace(':A', '<urn:a:A>'));
    await side(page).getByRole('button', { name: 'Add ontology' }).press('Enter');
    await page.getByRole('dialog').getByLabel('From').selectOption('an address');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'Say where the ontology is.' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByLabel('Address or path').fill(path);
    await page.keyboard.press('Enter');
    await side(page).getByText('1 class, 0 properties').waitFor();
  },
);

studio.soakTest(
  'a viewer cannot add one',
  async ({ page, prefix }) => {
    await page.goto(`/studio/#/new/files/${prefix}seen.ttl`);
    await page.getByRole('heading', { name: `${prefix}seen.ttl` }).waitFor();
    await openTab(page, 'Ontology');
    const add = side(page).getByRole('button', { name: 'Add ontology' });
    await expectSoon(() => add.getAttribute('aria-disabled'), 'true');
    expect(await add.getAttribute('aria-description')).toBe('Reading an ontology needs the role operator.');
    await expectAccessible(page);
  },
  { role: 'viewer' },
);

studio.test('the prefix of an ontology is declared with the first use of a term, as one step', async (visit) => {
  const { page, prefix } = visit;
  await openOrder(visit);
  await openTab(page, 'Ontology');
  await load(page, `${prefix}named.ttl`, `@prefix shop: <${TERMS}> .\n${TURTLE}`);
  await side(page).getByText('2 classes, 2 properties').waitFor();
  await openTab(page, 'Outline');
  await selectRow(page, 0);
  await field(page, 'Add a class').fill('Bestell');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await inspector(page).getByRole('button', { name: 'Remove shop:Purchase' }).waitFor();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  const line = page.locator('.cm-line').filter({ hasText: `@prefix shop: <${TERMS}> .` });
  await line.waitFor();
  await page.getByRole('button', { name: /^Undo: / }).click();
  await line.waitFor({ state: 'detached' });
});
