/** Inputs: uploads, the tree of their fields, the switch of grouping, and entities and edges that are made from it by keyboard. */
import { expect } from '@jest/globals';
import { write } from '../../../src/sources/sheet/sheet-js.ts';
import { xlsx, xlsxRows } from '../../../src/sources/sheet/workbooks.ts';
import { expectAccessible, expectSoon, useStudio } from '../support/browser.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

/** How many drafts the browser has. */
const DRAFTS = `new Promise((resolve) => {
  const opened = indexedDB.open('quadmill-studio');
  opened.onsuccess = () => {
    const count = opened.result.transaction('drafts').objectStore('drafts').count();
    count.onsuccess = () => (opened.result.close(), resolve(count.result));
  };
})`;

studio.test(
  'fields have kinds, samples, key sign and share of nulls; deeper levels open, and become entities by keyboard',
  async (visit) => {
    const { page, prefix } = visit;
    await openShop(visit);
    await row(page, /^id, int, 1001, different in 12 of 12 records/).waitFor();
    await row(page, 'note, text, by post, 25 % have no value').waitFor();
    expect(await row(page, 'lines, list').getAttribute('aria-expanded')).toBe('false');
    await expectAccessible(page);
    await row(page, /^id, int/).click();
    await page.keyboard.press('e');
    await row(page, /^total/).click();
    await page.keyboard.press('a');
    await row(page, 'lines, list').click();
    await page.keyboard.press('ArrowRight');
    await row(page, /^sku/).click();
    await page.keyboard.press('e');
    await page.getByRole('tab', { name: 'Outline' }).click();
    const order = row(page, new RegExp(`^entity .*[Oo]rder, from ${prefix}orders.json, 1 attribute, 0 edges`));
    await order.click();
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByRole('combobox').fill('line');
    await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
    await page.keyboard.press('Enter');
    await row(page, /^contains → /).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Control+z');
    await row(page, /contains → /).waitFor({ state: 'detached' });
  },
);

studio.soakTest('grouping is switched off beside the name: items stand one by one, and a flat input has no switch', async (visit) => {
  const { page, prefix } = visit;
  await openShop(visit);
  expect(await page.locator('[data-region=inputs]').getByRole('switch').count()).toBe(1);
  await page.getByRole('switch', { name: `Grouping of ${prefix}orders.json` }).click();
  await row(page, /^item 12/).waitFor();
  await row(page, /^item 2,/).click();
  await page.keyboard.press('ArrowRight');
  // The value of this item, and not of any other.
  await row(page, 'id, int, 1002').click();
  await page.keyboard.press('e');
  await page.getByText('order/1002').first().waitFor();
});

studio.soakTest('an empty cell is no value in samples, preview and mapping, until the switch of its input is off', async (visit) => {
  const { page, prefix } = visit;
  await page.goto(`/studio/#/new/files/${prefix}empty.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  const buffer = Buffer.from('id,name\n1,Ada\n2,\n3,""\n');
  await chooser.setFiles([{ name: `${prefix}empty.csv`, mimeType: 'text/csv', buffer }]);
  await row(page, /^name, text, Ada, 67 % have no value/).click();
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, /^name, text, Ada/).click();
  await page.keyboard.press('a');
  await page.getByRole('button', { name: /^Accept (a suggestion|\d+ suggestions)/ }).click();
  await page.getByRole('button', { name: 'N-Quads' }).click();
  const names = page
    .getByRole('list', { name: 'N-Quads' })
    .getByRole('button')
    .filter({ hasText: /name> "/ });
  await expectSoon(() => names.count(), 1);
  await row(page, new RegExp(`^${prefix}empty.csv`)).click();
  const empty = page.getByRole('switch', { name: `Empty texts of ${prefix}empty.csv are no value` });
  expect(await empty.getAttribute('aria-checked')).toBe('true');
  await empty.click();
  await row(page, 'name, text, Ada').waitFor();
  await expectSoon(() => names.count(), 3);
  await page.getByRole('button', { name: /^Undo/ }).click();
  await row(page, /^name, text, Ada, 67 % have no value/).waitFor();
  await expectSoon(() => names.count(), 1);
  await page
    .getByRole('radio', { name: 'Text' })
    .or(page.getByRole('button', { name: 'Text', exact: true }))
    .first()
    .click();
  await page.locator('.cm-content').getByText('rml:null ""').waitFor();
  await expectAccessible(page);
});

studio.soakTest('a field that is dropped on one of another input joins the entities of both', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int, 1001/).click();
  await page.keyboard.press('e');
  await row(page, /^id, text, C-1/).click();
  await page.keyboard.press('e');
  // Within one input nothing comes of it.
  await row(page, /^total/).dragTo(row(page, /^id, int, 1001/));
  await row(page, /^customerId/).dragTo(row(page, /^id, text, C-1/));
  const inspector = page.getByRole('region', { name: 'Inspector' });
  await inspector.getByText('customerId = id').waitFor();
  await inspector.getByText(/^12 of the first 12 records find a partner/).waitFor();
  await expectSoon(() => page.getByRole('button', { name: /^Undo/ }).getAttribute('title'), expect.stringMatching(/^Undo: Connect/));
});

studio.soakTest('an edge upwards is refused with its sentence (rule R3), and the other way is offered', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^sku/).click();
  await page.keyboard.press('e');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity Line/).click();
  await page.keyboard.press('c');
  const upwards = page.getByRole('option', { name: /An edge runs within one level or downwards\./ }).first();
  await upwards.click();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'An edge runs within one level or downwards.' }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Draw it the other way' }).click();
  await row(page, /^no predicate yet → Line/).waitFor();
});

studio.soakTest(
  'a viewer sees no values, and cannot add inputs',
  async ({ page, prefix }) => {
    await page.goto(`/studio/#/new/files/${prefix}seen.ttl`);
    await page.getByText('Samples need the role operator.').waitFor();
    await expectSoon(() => page.getByRole('button', { name: 'Add input' }).getAttribute('aria-disabled'), 'true');
    await expectAccessible(page);
  },
  { role: 'viewer' },
);

studio.test('the delimiter of CSV and the namespaces of XML are found, and the mapping says them', async (visit) => {
  const { page, prefix } = visit;
  await page.goto(`/studio/#/new/files/${prefix}found.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  const xml = '<f:feed xmlns:f="http://f.example/"><f:entry><f:id>7</f:id></f:entry><f:entry><f:id>8</f:id></f:entry></f:feed>';
  await chooser.setFiles([
    { name: `${prefix}members.csv`, mimeType: 'text/csv', buffer: Buffer.from('no;name\n1;Ada\n2;Bo\n') },
    { name: `${prefix}feed.xml`, mimeType: 'application/xml', buffer: Buffer.from(xml) },
  ]);
  await row(page, /^no, int, 1/).click();
  await page.keyboard.press('e');
  await row(page, /^name, text, Ada/).click();
  await page.keyboard.press('a');
  await row(page, /^f:feed/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^f:entry/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^f:id, int, 7/).click();
  await page.keyboard.press('e');
  await page.getByRole('button', { name: 'Accept 3 suggestions' }).click();
  await page.getByText('6 statements of 4 records').waitFor();
});

studio.soakTest('a mapping that reads another delimiter than its file has says so, and is corrected in one step', async (visit) => {
  const { page, prefix, ask, saveMapping } = visit;
  const uploaded = await ask(`/studio/uploads?name=${prefix}s.csv`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: 'id;name\n1;Ada\n',
  });
  const { url } = (await uploaded.json()) as { readonly url: string };
  const text = `@prefix rml: <http://w3id.org/rml/> .
<#Person> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "${url}" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/{id}" ; rml:class <https://example.org/Person> ] .
`;
  expect(await saveMapping(`${prefix}s.ttl`, text)).toBe(201);
  await page.goto(`/studio/#/files/${prefix}s.ttl`);
  await page.getByText('0 statements until an error: see Problems').waitFor();
  await page.getByRole('button', { name: 'Problems (1)' }).click();
  await page.getByText('s.csv: There is no column "id"').waitFor();
  await page.getByRole('button', { name: 'Read with ;' }).click();
  await page.getByText('1 statement of 1 record').waitFor();
});

studio.soakTest('a file whose name another one has on the service is uploaded under the next name', async (visit) => {
  const { page, prefix, ask, expectError } = visit;
  const headers = { 'content-type': 'application/octet-stream' };
  expect((await ask(`/studio/uploads?name=${prefix}towns.csv`, { method: 'POST', headers, body: 'code\nBS\n' })).status).toBe(201);
  expectError(/studio\/uploads/);
  await page.goto(`/studio/#/new/files/${prefix}again.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  await chooser.setFiles([{ name: `${prefix}towns.csv`, mimeType: 'text/csv', buffer: Buffer.from('code,name\nZH,Zürich\n') }]);
  await page.getByRole('alert').getByText(`There is another file named ${prefix}towns.csv on the service.`).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: `Upload as ${prefix}towns-2.csv` }).click();
  await row(page, /^name, text, Zürich/).waitFor();
});

studio.test('with grouping off, an item far behind is found by its number or a value, and made an entity of', async (visit) => {
  const { page, prefix } = visit;
  await page.goto(`/studio/#/new/files/${prefix}far.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  const items = Array.from({ length: 900 }, (_, i) => ({ id: 1000 + i, town: i === 800 ? 'Chur' : 'Bern', lines: [{ sku: `A${i}` }] }));
  await chooser.setFiles([{ name: `${prefix}far.json`, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(items)) }]);
  await row(page, /^id, int, 1000/).waitFor();
  await page.getByRole('switch', { name: /^Grouping of/ }).click();
  await row(page, /^item 20,/).waitFor();
  expect(await row(page, /^item 21,/).count()).toBe(0);
  await row(page, 'other items …').click();
  const dialog = page.getByRole('dialog', { name: 'Other items' });
  await dialog.getByRole('button', { name: /^item 21, 1020, Bern/ }).waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Next items' }).click();
  await dialog.getByRole('button', { name: /^item 41, 1040, Bern/ }).waitFor();
  await dialog.getByLabel('Number or value').fill('57');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: /^item 57, 1056, Bern/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(page, /^item 57,/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^id, int, 1056/).click();
  await page.keyboard.press('e');
  await row(page, 'other items …').click();
  await dialog.getByLabel('Number or value').fill('chur');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: /^item 801, 1800, Chur/ }).click();
  await row(page, /^item 801,/).waitFor();
  await page.getByRole('button', { name: 'Accept a suggestion' }).click();
  await page.getByText('1 statement of 1 record').waitFor();
});

studio.test(
  'new fields of XML of an opened mapping have its prefixes, and namespaces that it lacks are declared with them',
  async (visit) => {
    const { page, prefix, ask, saveMapping } = visit;
    const uploaded = await ask(`/studio/uploads?name=${prefix}feed.xml`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: `<m:feed xmlns="http://f.example/" xmlns:m="http://m.example/">
      <m:entry><id>7</id><m:by>Ada</m:by></m:entry><m:entry><id>8</id><m:by>Bo</m:by></m:entry></m:feed>`,
    });
    const { url } = (await uploaded.json()) as { readonly url: string };
    const text = `@prefix rml: <http://w3id.org/rml/> .
<#Entry> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "${url}" ] ;
    rml:referenceFormulation [ a rml:XPathReferenceFormulation ; rml:namespace [ rml:namespacePrefix "own" ; rml:namespaceURL "http://m.example/" ] ] ;
    rml:iterator "/own:feed/own:entry" ] ;
  rml:subjectMap [ rml:template "https://example.org/{own:by}" ; rml:class <https://example.org/Entry> ] .
`;
    expect(await saveMapping(`${prefix}feed.ttl`, text)).toBe(201);
    await page.goto(`/studio/#/files/${prefix}feed.ttl`);
    await page.getByText('2 statements of 2 records').waitFor();
    await row(page, /^own:feed/).click();
    await page.keyboard.press('ArrowRight');
    await row(page, /^own:entry/).click();
    await page.keyboard.press('ArrowRight');
    await row(page, /^own:by, text, Ada/).waitFor();
    await row(page, /^d:id, int, 7/).click();
    await page.keyboard.press('a');
    await page.getByRole('button', { name: /^Accept 2 suggestions/ }).click();
    await page.getByText('4 statements of 2 records').waitFor();
  },
);

studio.test('JSON Lines: records are items, a far one is found, and stands in the tree after the model is opened again', async (visit) => {
  const { page, prefix } = visit;
  await page.goto(`/studio/#/new/files/${prefix}lines.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  const lines = Array.from({ length: 900 }, (_, i) => JSON.stringify({ id: 1000 + i, town: i === 800 ? 'Chur' : 'Bern' }));
  await chooser.setFiles([{ name: `${prefix}far.jsonl`, mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) }]);
  await row(page, /^id, int, 1000/).click();
  await page.keyboard.press('e');
  await page.getByRole('button', { name: 'Accept a suggestion' }).click();
  await page.getByText('100 statements of the first 100 records').waitFor();
  // The sample of single items comes late: the item that is chosen meanwhile is not lost.
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/studio/samples', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('switch', { name: /^Grouping of/ }).click();
  await row(page, 'other items …').click();
  const dialog = page.getByRole('dialog', { name: 'Other items' });
  await dialog.getByLabel('Number or value').fill('chur');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: /^item 801, 1800, Chur/ }).click();
  answer();
  await row(page, /^item 801,/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^id, int, 1800/).click();
  await page.keyboard.press('e');
  await page.getByRole('button', { name: 'Accept a suggestion' }).click();
  await page.getByText('101 statements of the first 101 records').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  // It has the address of a file, and not that of a new one any more.
  await page.waitForURL(/#\/files\//);
  // The browser removes the draft a moment later.
  await expectSoon(() => page.evaluate(DRAFTS), 0);
  await page.reload();
  await row(page, /^item 801,/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, 'id, int, 1800').waitFor();
  expect(await row(page, /^item 802,/).count()).toBe(0);
});

studio.soakTest('single items that a mapping without a side file reads stand in the tree, also of lists within items', async (visit) => {
  const { page, prefix, ask, saveMapping } = visit;
  const items = Array.from({ length: 400 }, (_, i) => ({ id: i, lines: Array.from({ length: 40 }, (__, j) => ({ sku: `${i}-${j}` })) }));
  const uploaded = await ask(`/studio/uploads?name=${prefix}deep.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: JSON.stringify({ all: items }),
  });
  const { url } = (await uploaded.json()) as { readonly url: string };
  const text = `@prefix rml: <http://w3id.org/rml/> .
<#Line> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "${url}" ] ; rml:referenceFormulation rml:JSONPath ;
    rml:iterator "$.all[312]" ] ;
  rml:subjectMap [ rml:template "https://example.org/{$.lines[33].sku}" ; rml:class <https://example.org/Line> ] .
`;
  expect(await saveMapping(`${prefix}deep.ttl`, text)).toBe(201);
  await page.goto(`/studio/#/files/${prefix}deep.ttl`);
  await page.getByText('1 statement of 1 record').waitFor();
  await row(page, 'all, list').click();
  await page.keyboard.press('ArrowRight');
  await row(page, /^item 313,/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  // The rows beyond the window are made when they come into it.
  for (let i = 0; i < 21; i++) await page.keyboard.press('ArrowDown');
  await row(page, /^item 34,/).click();
  await page.keyboard.press('ArrowRight');
  await row(page, 'sku, text, 312-33').waitFor();
});

studio.test('what cannot be read says why and where, and what is left out of an input is reported', async (visit) => {
  const { page, prefix, expectError } = visit;
  // The samples of files that cannot be read.
  expectError(/status of 400/);
  await page.goto(`/studio/#/new/files/${prefix}notes.ttl`);
  await page.getByRole('button', { name: 'Add input' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files …' }).click()]);
  const of = (name: string, text: string | Buffer) => ({ name: `${prefix}${name}`, mimeType: 'text/plain', buffer: Buffer.from(text) });
  const sheets = {
    Staff: xlsxRows([
      ['no', 'who'],
      ['1', 'Ann'],
    ]),
    Pay: xlsxRows([['month'], ['May']]),
  };
  await chooser.setFiles([
    of('broken.json', '[{"id":1},\n{"id":oops}]'),
    of('lines.json', '{"id":1}\n{"id":2}\n'),
    of('empty.xml', ''),
    of('plain.txt', 'hello'),
    of('head.csv', 'id,name\n'),
    of('odd.csv', '"full ""name""",town,town,,größe\nAnn,Bern,Basel,x,3\n'),
    of('two.xlsx', xlsx({ sheets })),
    of('old.xls', write({ sheets: { Stock: [['shelf'], ['north']], Prices: [['price']] } }, 'xls')),
    of('long.json', `{"a":"${'x'.repeat(5_000_000)}"}`),
  ]);
  const notes = page.getByRole('region', { name: 'What is to be known of the inputs' });
  const told = (name: string, text: string) => notes.getByText(`${prefix}${name}: ${text}`).waitFor();
  await told('broken.json', 'Line 2, column 7: No JSON value stands here. Only fields before that place are shown. A run would end there.');
  await told(
    'lines.json',
    'Line 2, column 1: There is more behind the value. One document holds one value. Several, one a line (JSON Lines)',
  );
  await told('empty.xml', `Line 1, column 1: ${prefix}empty.xml is empty.`);
  await told('odd.csv', 'The header names 2 columns "town": left out; rename them in the file.');
  await told('odd.csv', 'A column has no name in the header: left out.');
  await told('two.xlsx', 'The sheet Staff is read. The inspector chooses another one: Pay.');
  await told('old.xls', 'The sheet Stock is read. The inspector chooses another one: Prices.');
  await told('long.json', 'Within its first');
  await page.getByRole('alert').getByText(`${prefix}plain.txt has no ending that the studio knows. Give it that of its format`).waitFor();
  // In the order in which they were uploaded, some are below the window of the list.
  const find = page.getByRole('searchbox', { name: 'Find a field' });
  const shows = async (field: string, name: RegExp | string): Promise<void> => {
    await find.fill(field);
    await row(page, name).waitFor();
  };
  await shows('id', /^id, int, 1/);
  await shows('name', /^name, text/);
  await shows('full', /^full "name", text, Ann/);
  await shows('größe', /^größe, int, 3/);
  await shows('shelf', 'shelf, text, north');
  await find.fill('');
  await expectAccessible(page);
  await notes.getByRole('button', { name: 'Read more of it' }).click();
  await shows('a', /^a, text, xxx/);
});
