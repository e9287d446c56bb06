/** Saving: versions, the second saver, errors of a mapping, a service that is away, a token that ends. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { print } from '../../../studio/core/print/print.ts';
import { read } from '../../../studio/core/read/read.ts';
import { STUDIO_TOKENS } from '../../servers/studio/studio.ts';
import { expectAccessible, expectSoon, useStudio, type Visit } from './support/browser.ts';
import { block, dropField, placeOf } from './support/canvas.ts';
import { openShop, row } from './support/shop.ts';

const studio = await useStudio();

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ; rml:class <https://example.org/Person> ] .
`;

/** A model as the studio prints it, opened. @returns its name */
async function drawn({ page, prefix, ask, expectError }: Visit): Promise<string> {
  const name = `${prefix}shop.ttl`;
  const { document } = await read(MAPPING, undefined);
  const { text } = await print(document, 'rml');
  const body = JSON.stringify({ text });
  const headers = { 'content-type': 'application/json', 'if-none-match': '*' };
  expect((await ask(`/studio/mappings/${name}`, { method: 'PUT', headers, body })).status).toBe(201);
  // There is no such file to sample.
  expectError(/studio\/samples/);
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await page.getByRole('treeitem', { name: /^entity Person,/ }).click();
  return name;
}

/** Another entity. */
async function change(page: Page): Promise<void> {
  await page
    .getByRole('treeitem', { name: /^entity Person,/ })
    .first()
    .click();
  await page.keyboard.press('Control+d');
  await page.getByText(/Kept in this browser|Not saved yet/).waitFor();
}

const put = (ask: Visit['ask'], name: string, text: string, etag: string): Promise<Response> =>
  ask(`/studio/mappings/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'if-match': etag },
    body: JSON.stringify({ text }),
  });

const THEIRS = `# Theirs.
${MAPPING}`;

studio.test('a model is saved, opens again, and the second saver learns of the first', async (visit) => {
  const { page, ask, expectError } = visit;
  const name = await drawn(visit);
  await change(page);
  await page.keyboard.press('Control+s');
  await page.getByText('Everything is saved').waitFor();
  const saved = await ask(`/studio/mappings/${name}`);
  expect((await put(ask, name, THEIRS, saved.headers.get('etag') as string)).status).toBe(200);
  await change(page);
  expectError(/status of 412/);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Another user has saved this model' }).waitFor();
  const replace = page.getByRole('button', { name: 'Replace theirs' });
  await expectSoon(() => replace.getAttribute('aria-disabled'), 'true');
  await page.getByRole('button', { name: 'Show what is different' }).click();
  await page.getByText('# Theirs.').waitFor();
  await expectAccessible(page);
  await replace.click();
  await page.getByText('Everything is saved').waitFor();
  const text = ((await (await ask(`/studio/mappings/${name}`)).json()) as { text: string }).text;
  expect(text).not.toContain('# Theirs.');
});

studio.soakTest('mine is saved as a copy, or kept as a draft, and theirs stays', async (visit) => {
  const { page, ask, expectError } = visit;
  const name = await drawn(visit);
  const conflict = async (mark: string): Promise<void> => {
    const { headers } = await ask(`/studio/mappings/${name}`);
    expect((await put(ask, name, `${THEIRS}# ${mark}\n`, headers.get('etag') as string)).status).toBe(200);
    await change(page);
    expectError(/status of 412/);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
  };
  await conflict('first');
  await page.getByRole('button', { name: 'Save mine as a copy' }).click();
  await page.getByRole('heading', { name: name.replace('.ttl', '-copy.ttl') }).waitFor();
  expect(((await (await ask(`/studio/mappings/${name}`)).json()) as { text: string }).text).toContain('# Theirs.');
});

studio.soakTest('a service that is away is asked until it is back, and nothing is lost', async (visit) => {
  const { page, context, expectError } = visit;
  await drawn(visit);
  await change(page);
  expectError(/ERR_INTERNET_DISCONNECTED|Failed to fetch|ERR_FAILED/);
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The service does not answer. Your changes are kept here').waitFor();
  await context.setOffline(false);
  await page.getByText('Everything is saved').waitFor();
});

studio.soakTest('a token that ends is asked for again, and the save goes on', async (visit) => {
  const { page, expectError } = visit;
  await drawn(visit);
  await change(page);
  expectError(/status of 401/);
  // At once: a preview would be refused first, and ask for the token above the button.
  await page.getByRole('button', { name: 'Save', exact: true }).evaluate((save: HTMLElement) => {
    sessionStorage.setItem('quadmill-token', 'nonsense-that-is-long');
    save.click();
  });
  await page.getByLabel('Token', { exact: true }).fill(STUDIO_TOKENS.admin);
  await page.keyboard.press('Enter');
  await page.getByText('Everything is saved').waitFor();
});

studio.soakTest(
  'an operator draws and downloads, and cannot save',
  async (visit) => {
    const { page } = visit;
    const name = await drawn(visit);
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await expectSoon(() => save.getAttribute('title'), 'Saving needs the role admin.');
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the mapping' }).click()]);
    expect(file.suggestedFilename()).toBe(name);
  },
  { role: 'operator' },
);

/** Saves, and loses the answer of the service to the first attempt. @returns how many there were */
async function saveUnheard({ page, context, expectError }: Visit): Promise<() => number> {
  expectError(/ERR_FAILED|Failed to fetch|status of 412/);
  let lost = 0;
  await context.route('**/studio/mappings/*', async (route) => {
    if (route.request().method() !== 'PUT' || lost++ > 0) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The service does not answer. Your changes are kept here').waitFor();
  return () => lost;
}

studio.soakTest('a save whose answer was lost is no conflict when it is repeated', async (visit) => {
  const { page } = visit;
  await drawn(visit);
  await change(page);
  const attempts = await saveUnheard(visit);
  await page.getByText('Everything is saved').waitFor();
  expect(attempts()).toBeGreaterThan(1);
});

studio.soakTest('nor when more was drawn before it is repeated', async (visit) => {
  const { page, ask } = visit;
  const name = await drawn(visit);
  await change(page);
  await saveUnheard(visit);
  await change(page);
  await page.getByText('Everything is saved').waitFor();
  const { text } = (await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string };
  expect(text.match(/rml:subjectMap/g)).toHaveLength(3);
});

studio.soakTest('comments and order of a foreign text survive what is drawn and saved', async (visit) => {
  const { page, prefix, ask, expectError } = visit;
  const name = `${prefix}foreign.ttl`;
  const text = `# By hand\n${MAPPING.replace(' ;\n  rml:subjectMap', ' ; # nightly\n  rml:subjectMap')}# The end\n`;
  const headers = { 'content-type': 'application/json', 'if-none-match': '*' };
  expect((await ask(`/studio/mappings/${name}`, { method: 'PUT', headers, body: JSON.stringify({ text }) })).status).toBe(201);
  expectError(/studio\/samples/);
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await change(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  const saved = ((await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string }).text;
  expect(saved.startsWith(text)).toBe(true);
  expect(saved.slice(text.length)).toContain('rml:subjectMap');
  const { document } = await read(saved, undefined);
  const parts = [...document.records.values()].flatMap((record) => (record.kind === 'entity' ? record.parts : []));
  expect(parts.length).toBe(2);
});

studio.soakTest('a model opens again with its layout, names and incomplete edges, for another user too', async (visit) => {
  const { page, context, ask } = visit;
  await openShop(visit);
  await dropField(page, /^id, int/, 'Entity', { x: 300, y: 60 });
  await dropField(page, /^name, text, Ada/, 'Entity', { x: 300, y: 300 });
  await page.keyboard.press('Control+s');
  await page.getByText('Everything is saved').waitFor();
  await dropField(page, /^total/, 'Attribute', { x: 330, y: 430 });
  const order = block(page, /^Entity .*Order,/);
  const title = await placeOf(order);
  await page.mouse.move(title.x + 80, title.y + 14);
  await page.mouse.down();
  await page.mouse.move(title.x + 140, title.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.press('Control+s');
  await page.getByText('Everything is saved').waitFor();
  const name = decodeURIComponent(page.url().replace(/^.*\//, ''));
  const { side } = (await (await ask(`/studio/mappings/${name}`)).json()) as { readonly side: Readonly<Record<string, unknown>> };
  expect(JSON.stringify(side)).not.toContain('Ada');
  const placesOn = (on: Page): Promise<readonly string[]> =>
    on.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.react-flow__node')].map((one) => `${one.dataset.id} ${one.style.transform}`).sort(),
    );
  const before = await placesOn(page);
  // Another visit has no draft of this model, and a viewer gets no samples.
  const other = await context.browser()?.newContext({ baseURL: visit.url, viewport: { width: 1280, height: 800 } });
  if (other === undefined) throw new Error('there is no browser');
  try {
    await other.addInitScript((token) => sessionStorage.setItem('quadmill-token', token), STUDIO_TOKENS.viewer);
    const second = await other.newPage();
    await second.goto(page.url());
    await block(second, /^Entity .*Order,.* 1 attribute/).waitFor();
    await expectSoon(() => placesOn(second), before);
    await second.getByText('no predicate yet').waitFor();
    await second.getByRole('tab', { name: 'Inputs' }).click();
    await row(second, /^customerId, text$/).waitFor();
  } finally {
    await other.close();
  }
});
