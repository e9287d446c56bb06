/** A dataset in the studio: versions made by runs, what has changed, the record behind a statement, and the store. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import { runDataset } from '../../../../src/datasets/run.ts';
import { expectAccessible, expectSoon, hasFocus, useStudio, type Visit } from '../support/browser.ts';

const studio = await useStudio();

const mappingOf = (file: string): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix people: <https://example.org/person/> .
@prefix ex: <https://example.org/terms#> .
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${file}" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;

interface Opened {
  readonly dialog: Locator;
  readonly dataset: string;
  readonly model: string;
  /** Writes the input: rows of ids and names. */
  readonly put: (rows: readonly string[]) => Promise<void>;
  /** Runs the model into the dataset, and waits for its report. */
  readonly run: () => Promise<void>;
}

async function opened({ page, prefix, saveMapping, directory, expectError }: Visit): Promise<Opened> {
  const model = `${prefix}people.ttl`;
  const dataset = `${prefix}people`;
  expect(await saveMapping(model, mappingOf(`${prefix}people.csv`))).toBe(201);
  // The input stands elsewhere.
  expectError(/studio\/samples/);
  const input = join(directory, 'data', `${prefix}others.csv`);
  await mkdir(join(directory, 'data'), { recursive: true });
  const dialog = page.getByRole('dialog', { name: `Run ${model}` });
  return {
    dialog,
    dataset,
    model,
    put: (rows) => writeFile(input, `id,name\n${rows.join('\n')}\n`),
    async run() {
      await page.goto(`/studio/#/files/${model}`);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await dialog.getByLabel(/^Location of/).fill(input);
      await dialog.getByLabel('Dataset').fill(dataset);
      await dialog.getByRole('button', { name: 'Start' }).click();
      await dialog.getByText(new RegExp(`^${dataset}: `)).waitFor();
    },
  };
}

const isInSight = (element: Element): boolean => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
};

/** As the command does: the graph writer does not hear of it. */
async function makeVersion({ directory, prefix, ask }: Visit, model: string, dataset: string): Promise<void> {
  const at = join(directory, 'data', 'datasets', dataset);
  const { location } = (await (await ask(`/studio/mappings/${model}`)).json()) as { readonly location: string };
  const request = {
    ...RUN_DEFAULTS,
    runId: 'command-line',
    inputs: [{ name: `${prefix}people.csv`, url: join(directory, 'data', `${prefix}others.csv`) }],
    mappings: [location],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
  };
  await runDataset({ files: openFiles(at, directory), stateDirectory: join(at, 'state') }, request, {});
}

studio.soakTest('a changed input makes a version: its statements, their rule and record, and the store', async (visit) => {
  const { page, prefix, ask } = visit;
  const { dialog, dataset, model, put, run } = await opened(visit);
  await put([`${prefix}1,Ada`, `${prefix}2,Bo`, `${prefix}3,Cleo`]);
  await page.goto(`/studio/#/files/${model}`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.getByLabel('Dataset').fill('no/name');
  await dialog.getByRole('alert').getByText('A name has 1 to 64 letters').waitFor();
  expect(await dialog.getByRole('button', { name: 'Start' }).getAttribute('aria-disabled')).toBe('true');
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  await run();
  await dialog.getByText(`${dataset}: version 1, 6 statements added, 0 removed.`).waitFor();
  // The graph writer of the process hears of the run.
  await dialog.getByText('The store has the newest version, 1.').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  await run();
  await dialog.getByText(`${dataset}: nothing has changed since version 1.`).waitFor();
  await page.keyboard.press('Escape');

  await put([`${prefix}1,Ada`, `${prefix}2,Bob`]);
  await run();
  await dialog.getByText(`${dataset}: version 2, 1 statement added, 3 removed.`).waitFor();
  await dialog.getByRole('link', { name: 'See what has changed' }).click();
  await page.getByRole('heading', { name: `Version 2 of ${dataset}`, level: 1 }).waitFor();
  const subject = `people:${prefix}2`;
  await page
    .getByRole('region', { name: `Statements of ${subject}` })
    .getByRole('button', { name: 'ex:name "Bob"' })
    .click();
  const added = page.getByRole('region', { name: /"Bob" \.$/ });
  await added.getByText('Version 2 has added it.').waitFor();
  await added.getByText(/^Person, line 6 of .*people\.ttl$/).waitFor();
  await added.getByText(/^Record 2 of .*others\.csv$/).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  expect(await added.count()).toBe(0);

  // By keyboard alone.
  await page.getByRole('button', { name: 'Removed (3)' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('3 statements are shown').waitFor();
  await page.getByRole('searchbox', { name: 'Subjects with' }).focus();
  await page.keyboard.type(`people:${prefix}3`);
  await page.getByText('2 statements are shown').waitFor();
  await page.keyboard.press('Tab');
  await expectSoon(() => hasFocus(page.getByRole('region', { name: `Statements of people:${prefix}3` })), true);
  await page.getByRole('button', { name: 'ex:name "Cleo"' }).focus();
  await page.keyboard.press('Space');
  const removed = page.getByRole('region', { name: /"Cleo" \.$/ });
  await removed.getByText('Version 2 has removed it. Version 1 was the last one that had it.').waitFor();
  await removed.getByText('These rules could make it').waitFor();
  await removed.getByText('No record of the inputs makes it now, so it is gone.').waitFor();
  expect(await removed.getByRole('definition').allInnerTexts()).toEqual([`${prefix}3`, 'Cleo']);
  await expectAccessible(page);

  await page.getByRole('link', { name: `All versions of ${dataset}` }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: `Version 2 of ${dataset}` }) });
  await expectSoon(async () => (await row.getByRole('cell').allInnerTexts()).slice(1, 5), ['2', '1', '3', '0']);
  await page.getByText('The store has the newest version, 2.').waitFor();
  await put([`${prefix}1,Ada`, `${prefix}2,Bob`, `${prefix}4,Dot`]);
  await makeVersion(visit, model, dataset);
  await page.reload();
  await page.getByText('The store has version 2; the newest one is 3.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Write to the store' }).click();
  await page.getByText('The store has the newest version, 3.').waitFor();
  await page.getByText(`The store has version 3 of ${dataset}: 2 statements were added or removed`).waitFor();
  const query = `SELECT ?name { ?person <https://example.org/terms#name> ?name FILTER(STRSTARTS(STR(?person), "https://example.org/person/${prefix}")) } ORDER BY ?name`;
  const answer = await ask(`/sparql?query=${encodeURIComponent(query)}`, { headers: { accept: 'application/sparql-results+json' } });
  const { results } = (await answer.json()) as {
    readonly results: { readonly bindings: readonly { readonly name: { readonly value: string } }[] };
  };
  expect(results.bindings.map(({ name }) => name.value)).toEqual(['Ada', 'Bob', 'Dot']);

  // More than a page: what is chosen at its end is explained in sight.
  await put(Array.from({ length: 130 }, (_, i) => `${prefix}${i + 1},Name ${i + 1}`));
  await makeVersion(visit, model, dataset);
  await page.goto(`/studio/#/datasets/${dataset}/4`);
  await page.getByText('100 statements are shown').waitFor();
  for (const shown of [200, 257]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText(`${shown} statements are shown`).waitFor();
  }
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  for (const size of [
    { width: 1280, height: 800 },
    { width: 400, height: 700 },
  ]) {
    await page.setViewportSize(size);
    await page.locator('.datasets-statements li button').last().click();
    await page.getByText('Version 4 has added it.').waitFor();
    await expectSoon(() => page.getByText('Version 4 has added it.').evaluate(isInSight), true);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
  }
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole('link', { name: 'Datasets' }).click();
  await page.getByRole('row').filter({ hasText: dataset }).getByRole('link').waitFor();
  await expectAccessible(page);
});

studio.soakTest(
  'a viewer sees versions, and no statements',
  async (visit) => {
    const { page, prefix, ask, saveMapping, directory } = visit;
    const dataset = `${prefix}people`;
    expect(await saveMapping(`${prefix}people.ttl`, mappingOf(`${prefix}people.csv`))).toBe(201);
    const { location } = (await (await ask(`/studio/mappings/${prefix}people.ttl`)).json()) as { readonly location: string };
    await mkdir(join(directory, 'data'), { recursive: true });
    const input = join(directory, 'data', `${prefix}seen.csv`);
    await writeFile(input, 'id,name\n1,Ada\n');
    const body = JSON.stringify({ inputFileURL: input, logicalSource: `${prefix}people.csv`, mappingURL: location, dataset });
    const started = await ask('/semi-structured-transformer/process', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await started.json()).toMatchObject({ version: 1 });
    await page.goto(`/studio/#/datasets/${dataset}`);
    await page.getByRole('link', { name: `Version 1 of ${dataset}` }).click();
    await page.getByText('Looking at statements needs the role operator.').waitFor();
    await expectAccessible(page);
  },
  { role: 'viewer', scheme: 'dark' },
);
