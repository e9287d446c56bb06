/** Running a saved model: check, start, progress, cancel, report, failure, and writing the output to the embedded store. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { slowInput } from '../../support/service/inputs.ts';
import { expectAccessible, expectSoon, useStudio, type Visit } from './support/browser.ts';

const studio = await useStudio();

const mappingOf = (file: string): string => `@prefix rml: <http://w3id.org/rml/> .
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${file}" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ; rml:class <https://example.org/Person> ] ;
  rml:predicateObjectMap [ rml:predicate <https://example.org/name> ; rml:objectMap [ rml:reference "name" ] ] .
`;

interface Opened {
  readonly dialog: Locator;
  /** A path that the model does not name. */
  readonly other: string;
}

/** A saved model that names a file which is not there, opened with its dialog of runs. */
async function opened({ page, prefix, saveMapping, directory, expectError }: Visit): Promise<Opened> {
  const name = `${prefix}people.ttl`;
  expect(await saveMapping(name, mappingOf(`${prefix}people.csv`))).toBe(201);
  expectError(/studio\/samples/);
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await mkdir(join(directory, 'data'), { recursive: true });
  return { dialog: page.getByRole('dialog', { name: `Run ${name}` }), other: join(directory, 'data', `${prefix}others.csv`) };
}

const locationIn = (dialog: Locator): Locator => dialog.getByLabel(/^Location of/);

studio.test('an input is checked, the model run on it, and what it gave written to the embedded store', async (visit) => {
  const { page, prefix, ask, directory } = visit;
  const { dialog, other } = await opened(visit);
  await writeFile(other, `id,name\n${prefix}1,Ada\n${prefix}2,Bo\n`);
  await locationIn(dialog).fill(`${other}.missing`);
  await dialog.getByRole('button', { name: 'Check', exact: true }).click();
  await dialog.getByRole('alert').getByText(`${prefix}others.csv.missing`).waitFor();
  await locationIn(dialog).fill(other);
  await dialog.getByRole('button', { name: 'Check', exact: true }).click();
  await dialog.getByText('can be read as csv').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Start' }).click();
  await dialog.getByText('2 records, 4 statements in').waitFor();
  await expectAccessible(page);
  const saved = page.waitForEvent('download');
  await dialog.getByRole('button', { name: /^Download .*\.nq/ }).click();
  const file = join(directory, `${prefix}output.nq`);
  await (await saved).saveAs(file);
  expect((await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')).toHaveLength(4);
  await dialog.getByRole('button', { name: 'Check connection' }).click();
  await dialog.getByText(/answers in \d+ ms/).waitFor();
  await dialog.getByRole('button', { name: 'Write', exact: true }).click();
  await dialog.getByText(/^4 statements written to/).waitFor();
  const query = `SELECT ?name { <https://example.org/person/${prefix}2> <https://example.org/name> ?name }`;
  const answer = await ask(`/sparql?query=${encodeURIComponent(query)}`, {
    headers: { accept: 'application/sparql-results+json' },
  });
  expect(await answer.json()).toMatchObject({ results: { bindings: [{ name: { value: 'Bo' } }] } });
  // Other names of the same people take the place of theirs.
  await writeFile(other, `id,name\n${prefix}1,Ada\n${prefix}2,Bob\n`);
  await dialog.getByRole('button', { name: 'Back to the inputs' }).click();
  await locationIn(dialog).fill(other);
  await dialog.getByRole('button', { name: 'Start' }).click();
  await dialog.getByText('2 records, 4 statements in').waitFor();

  await expectSoon(() => dialog.getByRole('radio', { name: /^Insert/ }).isChecked(), true);
  await dialog.getByRole('radio', { name: /^Update/ }).check();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Write', exact: true }).click();
  await dialog.getByText(/^4 statements written to .*update/).waitFor();
  const updated = await ask(`/sparql?query=${encodeURIComponent(query)}`, { headers: { accept: 'application/sparql-results+json' } });
  expect(await updated.json()).toMatchObject({ results: { bindings: [{ name: { value: 'Bob' } }] } });
  await dialog.getByRole('button', { name: 'Back to the inputs' }).click();
  await dialog.getByRole('region', { name: 'Newest runs' }).getByText('Completed').first().waitFor();
});

studio.soakTest(
  'a run that fails says what is missing and where',
  async (visit) => {
    const { page } = visit;
    const { dialog } = await opened(visit);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByRole('heading', { name: 'Failed' }).waitFor();
    await dialog.getByText('Input', { exact: true }).waitFor();
    await expectAccessible(page);
  },
  { scheme: 'dark' },
);

studio.test('a location is written when it is known where the mapping is', async (visit) => {
  const { page, prefix, saveMapping, expectError } = visit;
  expectError(/studio\/samples/);
  const name = `${prefix}late.ttl`;
  expect(await saveMapping(name, mappingOf(`${prefix}people.csv`))).toBe(201);
  await page.goto(`/studio/#/files/${name}`);
  const run = page.getByRole('button', { name: 'Run', exact: true });
  await run.waitFor();
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(`**/studio/mappings/${name}*`, async (route) => {
    await held;
    await route.continue();
  });
  await run.click();
  const location = locationIn(page.getByRole('dialog', { name: `Run ${name}` }));
  expect(await location.isEditable()).toBe(false);
  answer();
  await location.fill('/elsewhere.csv');
  expect(await location.inputValue()).toBe('/elsewhere.csv');
});

studio.soakTest('a run is followed, found again after a reload, and cancelled', async (visit) => {
  const { page } = visit;
  const { dialog } = await opened(visit);
  // It does not end before it is cancelled.
  const input = await slowInput(100_000);
  try {
    await locationIn(dialog).fill(input.url);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByText(/[1-9][\d,]* records, [\d,]+ statements/).waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const row = dialog.getByRole('listitem').filter({ hasText: input.url });
    await row.getByText('Running').waitFor();
    await row.getByRole('button', { name: 'Show' }).click();
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await dialog.getByRole('heading', { name: 'Cancelled' }).waitFor();
  } finally {
    await input.close();
  }
});

studio.soakTest(
  'a viewer sees runs and starts none',
  async (visit) => {
    const { page } = visit;
    const { dialog } = await opened(visit);
    await expectSoon(() => dialog.getByRole('button', { name: 'Start' }).getAttribute('title'), 'Running needs the role operator.');
    await expectAccessible(page);
  },
  { role: 'viewer' },
);
