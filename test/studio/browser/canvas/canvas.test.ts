/** The canvas: blocks and lines by mouse and by keyboard, and the rules while a line is drawn. */
import { expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { expectAccessible, expectSoon, useStudio, type Visit } from '../support/browser.ts';
import { block, drawTo, dropField, placeOf, port } from '../support/canvas.ts';
import { openShop, row } from '../support/shop.ts';

const studio = await useStudio();

async function orderAndLine({ page, ...visit }: Visit): Promise<void> {
  await openShop({ page, ...visit });
  await dropField(page, /^id, int/, 'Entity', { x: 300, y: 60 });
  await block(page, /^Entity .*Order/).waitFor();
  await row(page, 'lines, list').click();
  await page.keyboard.press('ArrowRight');
  await dropField(page, /^sku/, 'Entity', { x: 300, y: 260 });
  await block(page, /^Entity .*Line/).waitFor();
}

studio.test('fields are dragged to the canvas, entities connected by drawing, and the rules say why not', async (visit) => {
  const { page } = visit;
  await orderAndLine(visit);
  await expectAccessible(page);
  await drawTo(page, port(page, /^Entity .*Line/), block(page, /^Entity .*Order/));
  await page.getByText('An edge runs within one level or downwards.').first().waitFor();
  await page.mouse.up();
  await page.getByRole('button', { name: 'Draw it the other way' }).waitFor();
  await drawTo(page, port(page, /^Entity .*Order/), block(page, /^Entity .*Line/));
  await page.mouse.up();
  await page.getByRole('dialog').getByLabel('Predicate').fill('contains');
  await page.keyboard.press('Enter');
  await page.locator('.react-flow__edge-text', { hasText: 'contains' }).waitFor();
  await row(page, /^total/).dragTo(block(page, /^Entity .*Order/));
  await block(page, /^Entity .*Order.*, 1 attribute, 1 edge/).waitFor();
  const accept = page.getByRole('application', { name: 'Canvas' }).getByRole('button', { name: /^Accept/ });
  await expectSoon(() => accept.count(), 1);
});

studio.soakTest('keys: blocks, rows, lists of targets, names, moving and removing, without a pointer', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.mouse.move(0, 0);
  await page.keyboard.press('e');
  await row(page, 'lines, list').waitFor();
  const canvas = page.getByRole('application', { name: 'Canvas' });
  await block(page, /^Entity .*Order/).waitFor();
  await canvas.focus();
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label')?.startsWith('Entity'));
  await page.keyboard.press('F2');
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Order');
  await page.keyboard.press('Enter');
  await block(page, /^Entity Order,/).waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label')?.startsWith('Input'));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByRole('combobox').fill('total');
  await page.getByRole('dialog').getByLabel('Predicate').fill('total');
  await page.keyboard.press('Enter');
  await block(page, /^Entity Order,.* 1 attribute, 0 edges/).waitFor();
  const before = await placeOf(block(page, /^Entity Order,/));
  await page.keyboard.press('Control+Shift+ArrowDown');
  await page.keyboard.press('Control+ArrowDown');
  await page.waitForFunction(
    (y) => Math.round(document.querySelector('[aria-label^="Entity Order,"]')?.getBoundingClientRect().top ?? 0) === y,
    Math.round(before.y) + 64 + 8,
  );
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('total'));
  await page.keyboard.press('Delete');
  await block(page, /^Entity Order,.* 0 attributes, 0 edges/).waitFor();
  await page.keyboard.press('Control+z');
  await block(page, /^Entity Order,.* 1 attribute, 0 edges/).waitFor();
  await expectAccessible(page);
});

studio.soakTest('keys of two inputs are drawn to each other: a join', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await dropField(page, /^id, int/, 'Entity', { x: 300, y: 60 });
  await dropField(page, /^name, text, Ada/, 'Entity', { x: 300, y: 260 });
  await block(page, /^Input .*orders\.json/)
    .getByRole('button', { name: 'Show all' })
    .click();
  await block(page, /^Input .*people\.csv/)
    .getByRole('button', { name: 'Show all' })
    .click();
  const field = (of: RegExp, name: string): Locator => block(page, of).locator('li', { hasText: name });
  await drawTo(
    page,
    field(/^Input .*orders/, 'customerId')
      .first()
      .locator('.react-flow__handle'),
    field(/^Input .*people/, 'id').first(),
  );
  await page.getByText(/^Join .*Order to /).waitFor();
  await page.mouse.up();
  await page.getByRole('dialog').getByText('12 of the first 12 records find a partner.').waitFor();
  await page.getByRole('dialog').getByLabel('Predicate').fill('customer');
  await page.keyboard.press('Enter');
  await page.locator('.react-flow__edge-text', { hasText: '⋈ customer' }).waitFor();
  await expectAccessible(page);
});

studio.soakTest('a line between lists that are side by side is refused with its sentence, and Esc gives it up', async (visit) => {
  const { page } = visit;
  await orderAndLine(visit);
  await row(page, 'payments, list').click();
  await page.keyboard.press('ArrowRight');
  await dropField(page, /^way, text/, 'Entity', { x: 300, y: 360 });
  await block(page, /^Entity Payment/).waitFor();
  await drawTo(page, port(page, /^Entity Line/), block(page, /^Entity Payment/));
  await page.getByText(/are side by side: nothing says which/).waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await page.getByText(/are side by side/).waitFor({ state: 'detached' });
});

studio.soakTest(
  'a viewer looks at the canvas and changes nothing',
  async ({ page, prefix, saveMapping }) => {
    const mapping = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <https://example.org/> .
ex:Order a rml:TriplesMap ; rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "orders.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:subjectMap [ rml:template "https://example.org/order/{$.id}" ; rml:class ex:Order ] .`;
    expect(await saveMapping(`${prefix}seen.ttl`, mapping)).toBe(201);
    await page.goto(`/studio/#/files/${prefix}seen.ttl`);
    await block(page, /^Entity Order/).waitFor();
    expect(await port(page, /^Entity Order/).isVisible()).toBe(false);
    await block(page, /^Entity Order/).click();
    await page.keyboard.press('Delete');
    await page.getByText('Changing a model needs the role operator.').first().waitFor();
    await block(page, /^Entity Order/).waitFor();
    await expectAccessible(page);
  },
  { role: 'viewer' },
);

studio.soakTest(
  'a menu at the edge of the canvas is not covered; what is new is selected; a canvas that opens shows all blocks',
  async (visit) => {
    const { page } = visit;
    await openShop(visit);
    await dropField(page, /^id, int/, 'Entity', { x: 660, y: 300 });
    // The inspector describes what was just drawn.
    await page.getByRole('region', { name: 'Inspector' }).getByLabel('Template').waitFor();
    await row(page, /^total/).dragTo(block(page, /^Entity .*Order,/), { targetPosition: { x: 8, y: 8 } });
    const predicate = block(page, /^Entity .*Order,/).locator('.suggested');
    await predicate.getByText('total?').waitFor();
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.getByRole('button', { name: 'Canvas', exact: true }).click();
    await block(page, /^Entity .*Order,/).waitFor();
    await page.waitForFunction(() => {
      const region = document.querySelector('#region-canvas')?.getBoundingClientRect();
      const buttons = document.querySelector('.controls')?.getBoundingClientRect();
      const blocks = [...document.querySelectorAll('[data-block]')].map((one) => one.getBoundingClientRect());
      return (
        region !== undefined &&
        blocks.length === 3 &&
        blocks.every(
          (one) => one.left >= region.left && one.right <= region.right && one.top >= (buttons?.bottom ?? 0) && one.bottom <= region.bottom,
        )
      );
    });
  },
);

studio.soakTest(
  'all blocks of a model that is opened are seen, also when the canvas gets less room, until the view is moved',
  async (visit) => {
    const { page, prefix, saveMapping, expectError } = visit;
    const name = `${prefix}seen.ttl`;
    const text = `@prefix rml: <http://w3id.org/rml/> .
<#Person> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/person/{id}" ; rml:class <https://example.org/Person> ] .
`;
    expect(await saveMapping(name, text)).toBe(201);
    expectError(/studio\/samples/);
    await page.goto(`/studio/#/files/${name}`);
    const isSeen = async (): Promise<boolean> => {
      const [inner, outer] = await Promise.all([block(page, /^Entity/).boundingBox(), page.locator('#region-canvas').boundingBox()]);
      return inner !== null && outer !== null && inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width;
    };
    await expectSoon(isSeen, true);
    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByRole('textbox', { name: 'Text of the mapping' }).waitFor();
    await expectSoon(isSeen, true);
  },
);

studio.soakTest('entities of several fields that are dropped together do not cover each other', async (visit) => {
  const { page } = visit;
  await openShop(visit);
  await row(page, /^customerId/).click();
  await row(page, /^total/).click({ modifiers: ['Shift'] });
  await dropField(page, /^customerId/, 'Entity', { x: 330, y: 60 });
  await block(page, /^Entity Total,/).waitFor();
  const [first, second] = [await placeOf(block(page, /^Entity .*[Oo]rder,/)), await placeOf(block(page, /^Entity Total,/))];
  expect(second.y).toBeGreaterThanOrEqual(first.y + first.height);
});

studio.test('what is accepted is what is suggested now, also before it has been counted', async (visit) => {
  const { page } = visit;
  await page.clock.install();
  await openShop(visit);
  await row(page, /^id, int/).click();
  await page.keyboard.press('e');
  const accept = page.getByRole('application', { name: 'Canvas' }).getByRole('button', { name: 'Accept a suggestion' });
  await accept.waitFor();
  // Timers stand still: nothing is counted again.
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await row(page, /^total/).click();
  await page.keyboard.press('a');
  await expectSoon(() => page.getByRole('button', { name: /^Undo/ }).getAttribute('title'), 'Undo: Make an attribute');
  await accept.click();
  await expectSoon(() => page.getByRole('button', { name: /^Undo/ }).getAttribute('title'), 'Undo: Accept 3 suggestions');
  await page.clock.resume();
  await page.getByText('24 statements of 12 records').waitFor();
});
