/** The preview of a model: its statements, what makes them, and what is wrong. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { expectAccessible, expectSoon, useStudio, type Visit } from '../support/browser.ts';

const studio = await useStudio();

const mappingOf = (people: string, towns: string): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <https://example.org/> .
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${people}" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:parentTriplesMap <#Town> ; rml:joinCondition [ rml:child "town" ; rml:parent "code" ] ] ] .
<#Town> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${towns}" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/town/{code}" ; rml:class ex:Town ] .
`;

/** A saved model with its files beside it, opened. */
async function opened(
  { page, prefix, ask }: Visit,
  text = mappingOf(`${prefix}people.csv`, `${prefix}towns.csv`),
  people = 'id,name,town\n1,Ada,BS\n2,Bo,ZZ\n',
): Promise<Locator> {
  const name = `${prefix}people.ttl`;
  const saved = await ask(`/studio/mappings/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'if-none-match': '*' },
    body: JSON.stringify({ text }),
  });
  expect(saved.status).toBe(201);
  const { location } = (await (await ask(`/studio/mappings/${name}`)).json()) as { readonly location: string };
  const directory = dirname(location);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, `${prefix}people.csv`), people);
  await writeFile(join(directory, `${prefix}towns.csv`), 'code\nBS\n');
  await page.goto(`/studio/#/files/${name}`);
  return page.getByRole('region', { name: 'Preview' });
}

studio.test('statements with prefixes, each with the record and the values that make it', async (visit) => {
  const preview = await opened(visit);
  await preview.getByText('6 statements of 3 records').waitFor();
  await expectAccessible(visit.page);
  await preview.getByRole('button', { name: 'ex:name "Bo"' }).click();
  await preview.getByText('Made by Person, line 3').waitFor();
  const detail = preview.getByRole('region', { name: /"Bo"/ });
  await detail.getByText(`Record 2 of ${visit.prefix}people.csv`).waitFor();
  await expectSoon(() => detail.locator('dt').allTextContents(), expect.arrayContaining(['id', 'name']));
  await expectAccessible(visit.page);
  // Of a join, with the record of the parent.
  await preview.getByRole('button', { name: /ex:town/ }).click();
  const joined = preview.getByRole('region', { name: /example.org\/town>/ });
  await joined.getByText(`Record 1 of ${visit.prefix}people.csv`).waitFor();
  await joined.getByText('joined with').waitFor();
});

studio.test('the graph, drawn: nodes by arrows, their statements, and what makes one; its N-Quads', async (visit) => {
  const preview = await opened(visit);
  await preview.getByText('6 statements of 3 records').waitFor();
  await preview.getByRole('button', { name: 'Graph', exact: true }).click();
  await preview.getByText('3 nodes').waitFor();
  const ada = preview.getByRole('button', { name: /person\/1.*Person.*"Ada"/ });
  await ada.focus();
  await visit.page.keyboard.press('ArrowRight');
  const nodeInFocus = () => visit.page.evaluate(() => (document.activeElement as HTMLElement).dataset.node);
  await expectSoon(nodeInFocus, '<https://example.org/town/BS>');
  await visit.page.keyboard.press('Enter');
  const own = preview.getByRole('list', { name: /Statements of .*town\/BS/ });
  await expectSoon(() => own.getByRole('button').count(), 2);
  await own.getByRole('button', { name: /person\/1/ }).click();
  await preview.getByText('joined with').waitFor();
  await expectAccessible(visit.page);
  await preview.getByRole('button', { name: 'N-Quads' }).click();
  const lines = preview.getByRole('list', { name: 'N-Quads' }).getByRole('button');
  const bo = '<https://example.org/person/2> <https://example.org/name> "Bo" .';
  await expectSoon(() => lines.allTextContents(), expect.arrayContaining([bo]));
});

studio.test('the records of a triples map, and why one gives no statement', async (visit) => {
  const text = mappingOf(`${visit.prefix}people.csv`, `${visit.prefix}towns.csv`).replace(
    'rml:reference "name"',
    'rml:reference "name" ; rml:termType rml:IRI',
  );
  const preview = await opened(visit, text, 'id,name,town\n1,http://e/ada,BS\n2,http://e/<,ZZ\n');
  await preview.getByRole('button', { name: 'Records' }).click();
  const table = preview.getByRole('region', { name: 'The first records of Person' });
  await table.waitFor();
  await expectSoon(() => table.getByRole('columnheader').allTextContents(), ['Record', 'id', 'name', 'town', 'Statements']);
  await table.getByRole('row', { name: '1 1 http://e/ada BS 2' }).waitFor();
  await table.getByRole('row', { name: /^2 2 http:\/\/e\/< ZZ 0 ?Rejected: An IRI may not hold/ }).waitFor();
  await expectAccessible(visit.page);
  await preview.getByRole('checkbox', { name: 'Only those without statements' }).check();
  await expectSoon(() => table.getByRole('row').count(), 2);
  await preview.getByRole('combobox', { name: 'Records of' }).selectOption('Town');
  await preview.getByText('Each of the first records gives a statement.').waitFor();
});

studio.soakTest(
  'an input that is missing is a problem, and the preview is asked for again',
  async (visit) => {
    const { prefix } = visit;
    visit.expectError(/studio\/samples/);
    const preview = await opened(visit, mappingOf(`${prefix}missing.csv`, `${prefix}towns.csv`));
    await preview.getByRole('button', { name: /^Problems \(\d+\)$/ }).click();
    await preview.getByText(new RegExp(`There is no file .*${prefix}missing\\.csv`)).waitFor();
    await expectAccessible(visit.page);
  },
  { scheme: 'dark' },
);

studio.soakTest('a triples map with an error is left out, and the others are previewed', async (visit) => {
  const { page, prefix, directory } = visit;
  await opened(visit);
  // The service saves no mapping with errors, but people edit files.
  const text = mappingOf(`${prefix}people.csv`, `${prefix}towns.csv`).replace('rml:reference "name"', 'rml:referense "name"');
  const file = (await readdir(directory, { recursive: true })).find((path) => path.endsWith(`${prefix}people.ttl`)) as string;
  await writeFile(join(directory, file), text);
  await page.reload();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('1 statement of 1 record; parts with errors are left out').waitFor();
  await preview.getByRole('button', { name: 'Problems (1)' }).click();
  await preview.getByText(/rml:referense/).waitFor();
});

studio.soakTest('the text of the mapping stands in its region, as it was saved', async (visit) => {
  const { page, prefix } = visit;
  await opened(visit);
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.getByText(`rml:path "${prefix}people.csv"`).waitFor();
  await expectAccessible(page);
});
