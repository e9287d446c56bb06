/** The text beside the canvas: typing, errors, undo, completion, and what follows what. */
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, expectSoon, hasFocus, useStudio, type Visit } from './support/browser.ts';
import { openShop, row } from './support/shop.ts';

const studio = await useStudio();

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <https://example.org/> .

# Every person once.
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ] ; # no class yet
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;

const code = (page: Page): Locator => page.getByRole('textbox', { name: 'Text of the mapping' });
const lineOf = (page: Page, text: string): Locator => page.locator('.cm-line').filter({ hasText: text });
const person = (page: Page): Locator => row(page, /^entity Person,/);

/** A model whose text was written by hand, beside its canvas. @returns its name */
async function opened({ page, prefix, saveMapping, expectError }: Visit): Promise<string> {
  const name = `${prefix}people.ttl`;
  expect(await saveMapping(name, MAPPING)).toBe(201);
  // There is no such file to sample.
  expectError(/studio\/(samples|previews)/);
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await page.getByRole('button', { name: 'Split', exact: true }).click();
  await code(page).waitFor();
  return name;
}

/** Types behind a text that stands once. */
async function typeBehind(page: Page, text: string, typed: string): Promise<void> {
  await lineOf(page, text).click();
  await page.keyboard.press('Control+f');
  const find = page.getByRole('textbox', { name: 'Find' });
  await find.selectText();
  await page.keyboard.type(text);
  await find.press('Enter');
  await find.press('Escape');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.insertText(typed);
}

const hasClass = (page: Page): Locator => page.locator('#region-canvas').getByText(/ex:Human/);

studio.test(
  'what is typed is in the outline; half of it is an error that leaves the rest; undo goes back; comments are saved',
  async (visit) => {
    const { page, ask } = visit;
    const name = await opened(visit);
    await person(page).waitFor();
    await typeBehind(page, 'person/{id}"', ' ; rml:class ex:Human');
    await hasClass(page).waitFor();
    await typeBehind(page, 'rml:reference "name"', ' ; rml:termType [');
    await page.getByText(/^The text has an error at \d+:\d+\./).waitFor();
    await hasClass(page).waitFor();
    await row(page, 'ex:name → name, attribute').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Go there' }).click();
    await expectSoon(() => hasFocus(code(page)), true);
    // A drawn change is refused meanwhile.
    await person(page).click();
    await page.keyboard.press('Control+d');
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText(/Correct it, or undo what was typed\.$/).waitFor();
    await page.getByRole('button', { name: 'Undo: Type in the text' }).click();
    await status
      .getByText(/^The text has an error/)
      .first()
      .waitFor({ state: 'detached' });
    await expectSoon(() => code(page).innerText(), expect.not.stringContaining('termType'));
    expect(await code(page).innerText()).toContain('ex:Human');
    await page.keyboard.press('Control+s');
    await page.getByText('Everything is saved').waitFor();
    const saved = (await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string };
    expect(saved.text).toBe(MAPPING.replace('person/{id}"', 'person/{id}" ; rml:class ex:Human'));
  },
);

studio.soakTest('Ctrl+Space completes terms and fields of samples, F8 goes to problems', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^name, text, Ada/).click();
  await page.keyboard.press('e');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await row(page, /^entity /)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await lineOf(page, 'rml:logicalSource').first().waitFor();
  await typeBehind(page, 'rml:subjectMap', '');
  await page.keyboard.press('End');
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('<#Person> rml:subjectM');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: 'rml:subjectMap', exact: true }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.keyboard.insertText(' [ rml:reference "');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: /^id/ }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByText(/^The text has an error at 1:/).waitFor();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('F8');
  await page.locator('.cm-tooltip-lint, .cm-diagnostic').first().waitFor();
  await page.keyboard.press('Control+Shift+M');
  await page.getByRole('listbox', { name: 'Diagnostics' }).waitFor();
  await expectAccessible(page);
});

studio.soakTest('Ctrl+Z undoes what was typed, then steps of the history; a reload keeps what is half typed', async (visit) => {
  const { page } = visit;
  await opened(visit);
  await person(page).click();
  await page.keyboard.press('F2');
  await page.getByRole('dialog').getByRole('textbox', { name: /name/i }).fill('Human');
  await page.keyboard.press('Enter');
  await row(page, /^entity Human,/).waitFor();
  await typeBehind(page, 'person/{id}"', ' ; rml:class ex:Human');
  await hasClass(page).waitFor();
  await typeBehind(page, 'rml:reference "name"', ' ; rml:datatype');
  await page.getByText(/^The text has an error at/).waitFor();
  await page.getByText(/^Kept in this browser/).waitFor();
  await page.reload();
  await page.getByText(/^The text has an error at/).waitFor();
  await page.getByRole('button', { name: 'Go there' }).click();
  await lineOf(page, '; rml:datatype ]').waitFor();
  await hasClass(page).waitFor();
  await page.keyboard.press('Control+z');
  await lineOf(page, '; rml:datatype ]').waitFor({ state: 'detached' });
  await page.keyboard.insertText('#');
  await page.keyboard.press('Control+z');
  await hasClass(page).waitFor();
  await page.keyboard.press('Control+z');
  await hasClass(page).waitFor({ state: 'detached' });
  await expectSoon(() => code(page).innerText(), expect.not.stringContaining('ex:Human'));
  await page.keyboard.press('Control+z');
  await page.getByRole('tab', { name: 'Outline' }).click();
  await person(page).waitFor();
  for (let i = 0; i < 2; i++) {
    await code(page).focus();
    await page.keyboard.press('Control+y');
  }
  await hasClass(page).waitFor();
});

studio.soakTest('the caret selects what it is in, and F12 goes between text and blocks', async (visit) => {
  const { page } = visit;
  await opened(visit);
  await lineOf(page, 'rml:reference "name"').click({ position: { x: 330, y: 8 } });
  await page.getByRole('treeitem', { name: /^ex:name → name/, selected: true }).waitFor();
  await lineOf(page, '# Every person').click();
  await person(page).click();
  await page.keyboard.press('F12');
  await page.keyboard.insertText('#mark ');
  await lineOf(page, '#mark <#Person>').waitFor();
});

studio.soakTest(
  'a viewer reads the text and cannot change it',
  async (visit) => {
    const { page } = visit;
    await opened(visit);
    await code(page).focus();
    await page.keyboard.insertText('# changed');
    expect(await code(page).innerText()).not.toContain('# changed');
    await page.getByText('Changing the text needs the role operator.').waitFor();
    await expectAccessible(page);
  },
  { role: 'viewer', scheme: 'dark' },
);

studio.soakTest(
  'the dark colours have enough contrast',
  async (visit) => {
    const { page } = visit;
    await opened(visit);
    await typeBehind(page, 'rml:reference "name"', ' ; rml:termType [');
    await page.locator('.cm-lintRange').first().waitFor();
    await page.keyboard.press('Control+Home');
    await code(page).focus();
    await page.keyboard.press('Control+f');
    await expectAccessible(page);
  },
  { scheme: 'dark' },
);

studio.soakTest('Esc then Tab leaves the text; Tab alone indents', async (visit) => {
  const { page } = visit;
  await opened(visit);
  await code(page).focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expectSoon(() => hasFocus(code(page)), false);
  expect(await code(page).innerText()).toContain('# Every person once.');
});

studio.test('what a text of YARRRML says of several subjects is written out on demand, and then changed for one of them', async (visit) => {
  const { page, prefix, saveMapping, expectError } = visit;
  const name = `${prefix}people.yml`;
  const text = `prefixes:
  ex: https://example.org/
mappings:
  person: # of the town
    sources: [[people.csv~csv]]
    s: [ex:person/$(id), ex:member/$(id)]
    po:
      - [ex:name, $(name)]
`;
  expect(await saveMapping(name, text)).toBe(201);
  expectError(/studio\/(samples|previews)/);
  await page.goto(`/studio/#/files/${name}`);
  await page.getByRole('tab', { name: 'Outline' }).click();
  await page.getByRole('button', { name: 'Split', exact: true }).click();
  await row(page, /^ex:name → name/)
    .nth(1)
    .click();
  const predicate = page.getByRole('region', { name: 'Inspector' }).getByLabel('Add a predicate');
  await predicate.fill('ex:label');
  await predicate.press('Enter');
  await page
    .getByRole('region', { name: 'Status' })
    .getByText(/^The rules of the mapping person are those of all/)
    .waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Write it out, and do it' }).click();
  await row(page, /^ex:name, ex:label → name/).waitFor();
  await lineOf(page, '- [[ex:name, ex:label], $(name)]').waitFor();
  expect(await lineOf(page, '- [ex:name, $(name)]').count()).toBe(1);
  await lineOf(page, '# of the town').waitFor();
  await page.getByRole('button', { name: /^Undo/ }).click();
  await page.getByRole('button', { name: /^Undo/ }).click();
  await lineOf(page, 's: [ex:person/$(id), ex:member/$(id)]').waitFor();
});

studio.test(
  'what a text of Turtle says of a drawn value and of one that is not drawn is written out on demand; undo brings it back',
  async (visit) => {
    const { page, prefix, ask, saveMapping, expectError } = visit;
    const name = `${prefix}people.ttl`;
    const text = MAPPING.replace(
      'rml:objectMap [ rml:reference "name" ] ]',
      'rml:objectMap [ rml:reference "name" ], # plain\n    [ rml:reference "name" ; rml:languageMap [ rml:reference "tongue" ] ] ]',
    );
    expect(await saveMapping(name, text)).toBe(201);
    expectError(/studio\/(samples|previews)/);
    await page.goto(`/studio/#/files/${name}`);
    await page.getByRole('tab', { name: 'Outline' }).click();
    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await row(page, /^ex:name → name/).click();
    const predicate = page.getByRole('region', { name: 'Inspector' }).getByLabel('Add a predicate');
    await predicate.fill('ex:label');
    await predicate.press('Enter');
    await page
      .getByRole('region', { name: 'Status' })
      .getByText(/^This stands in the text together with what the canvas does not draw/)
      .waitFor();
    await page.getByRole('button', { name: 'Write it out, and do it' }).click();
    await row(page, /^ex:name, ex:label → name/).waitFor();
    // The comment goes with its object.
    await lineOf(page, 'rml:predicate ex:name, ex:label ; rml:objectMap [ rml:reference "name" ] # plain').waitFor();
    await lineOf(page, 'rml:objectMap [ rml:reference "name" ; rml:languageMap [ rml:reference "tongue" ] ] ]').waitFor();
    await page.getByRole('button', { name: /^Undo/ }).click();
    await page.getByRole('button', { name: /^Undo/ }).click();
    await row(page, /^ex:name → name/).waitFor();
    await predicate.waitFor();
    await page.getByRole('button', { name: 'Save as …, in any language' }).waitFor();
    await expectSoon(async () => (await code(page).innerText()).includes('# plain\n    [ rml:reference "name"'), true);
    expect(((await (await ask(`/studio/mappings/${name}`)).json()) as { readonly text: string }).text).toBe(text);
  },
);
