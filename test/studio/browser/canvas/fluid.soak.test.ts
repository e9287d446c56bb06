/** Large models stay fluid: what the page does in each frame while a block is dragged, the canvas moved, and a tree scrolled. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import type { CDPSession, Page } from 'playwright-core';
import { useStudio, type Visit } from '../support/browser.ts';
import { placeOf } from '../support/canvas.ts';
import { row } from '../support/shop.ts';

const studio = await useStudio();

const ENTITIES = 290;
const INPUTS = 10;
const FIELDS = 5_000;
const FRAME_MS = 16;
/** Fewer tell nothing. */
const MIN_FRAMES = 10;
const FIRST_PAINT_MS = 1_500;
const STEPS = 40;

/** 300 blocks: tables with entities, each with a few attributes and an edge to the next one. */
function mapping(prefix: string): string {
  const parts = Array.from({ length: ENTITIES }, (_, i) => {
    const edge =
      i % 29 === 28 ? '' : `;\n  rml:predicateObjectMap [ rml:predicate ex:next ; rml:objectMap [ rml:parentTriplesMap ex:E${i + 1} ] ]`;
    return `ex:E${i} a rml:TriplesMap ; rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${prefix}t${Math.floor(i / 29)}.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "https://example.org/e${i}/{c0}" ; rml:class ex:C${i} ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "c${1 + (i % 40)}" ] ] ${edge} .`;
  });
  return `@prefix rml: <http://w3id.org/rml/> .\n@prefix ex: <https://example.org/> .\n${parts.join('\n')}`;
}

const csv = (fields: number): string => {
  const names = Array.from({ length: fields }, (_, i) => `c${i}`);
  return `${names.join(',')}\n${names.map((_, i) => i).join(',')}\n`;
};

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  /** Microseconds that the thread itself worked: what else the machine does is not in it. */
  readonly tdur?: number;
  readonly pid: number;
  readonly tid: number;
}

interface Traced {
  readonly page: Page;
  readonly session: CDPSession;
}

/** Milliseconds that the page works in each frame, while something is done. */
async function framesOf(
  { page, session }: Traced,
  act: () => Promise<void>,
): Promise<{ readonly p95: number; readonly longest: number; readonly frames: number }> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { readonly value: readonly object[] }): void => void events.push(...(value as readonly TraceEvent[]));
  session.on('Tracing.dataCollected', collect);
  await session.send('Tracing.start', {
    traceConfig: { includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'] },
  });
  // The trace has the pages of all files: this event tells which process and thread are those of this page.
  await page.evaluate(() => console.timeStamp());
  await act();
  const ended = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
  await session.send('Tracing.end');
  await ended;
  session.off('Tracing.dataCollected', collect);
  const main = events.find(({ name }) => name === 'TimeStamp');
  if (main === undefined) throw new Error('the trace does not have this page');
  const own = events.filter(({ pid, tid }) => pid === main.pid && tid === main.tid);
  // What follows a frame belongs to the next one.
  const ends = own
    .filter(({ name }) => name === 'Commit')
    .map(({ ts }) => ts)
    .sort((a, b) => a - b);
  const tasks = own.filter(({ name, ph }) => name === 'RunTask' && ph === 'X');
  const busy = ends.map((end, i) => {
    const start = ends[i - 1] ?? 0;
    return tasks.filter(({ ts }) => ts >= start && ts < end).reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1_000;
  });
  busy.sort((a, b) => a - b);
  return {
    p95: busy[Math.floor(busy.length * 0.95)] ?? 0,
    longest: Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000,
    frames: busy.length,
  };
}

async function opened({ page, prefix, ask, saveMapping }: Visit): Promise<void> {
  const name = `${prefix}large.ttl`;
  expect(await saveMapping(name, mapping(prefix))).toBe(201);
  const { location } = (await (await ask(`/studio/mappings/${name}`)).json()) as { readonly location: string };
  await mkdir(dirname(location), { recursive: true });
  for (let i = 0; i < INPUTS; i++) await writeFile(join(dirname(location), `${prefix}t${i}.csv`), csv(i === 0 ? FIELDS : 50));
  await page.goto(`/studio/#/files/${name}`);
  await page.locator('.react-flow__node').first().waitFor();
  await row(page, /^c0, /).first().waitFor();
}

const frame = (page: Page): Promise<unknown> => page.evaluate(() => new Promise(requestAnimationFrame));

/** There and back, so that what is tried again finds the canvas as it was. Each step is a separate frame, also on a busy machine. */
const drag = async (page: Page, [x, y]: readonly [number, number]): Promise<void> => {
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= STEPS; i++) {
    const away = 100 - Math.abs(100 - (200 * i) / STEPS);
    await page.mouse.move(x - away, y + away);
    await frame(page);
  }
  await page.mouse.up();
};

/** One of a few that is good: a neighbour that empties the caches makes any code slow, and one that takes the processor leaves few frames. */
async function best(traced: Traced, act: () => Promise<void>): ReturnType<typeof framesOf> {
  const isGood = ({ p95, frames }: Awaited<ReturnType<typeof framesOf>>): boolean => p95 < FRAME_MS && frames > MIN_FRAMES;
  let found = await framesOf(traced, act);
  for (let i = 0; i < 4 && !isGood(found); i++) found = await framesOf(traced, act);
  return found;
}

studio.soakTest('300 blocks and an input of 5,000 fields: dragging, moving the canvas and scrolling stay below a frame', async (visit) => {
  const { page, context } = visit;
  await opened(visit);
  const traced = { page, session: await context.newCDPSession(page) };
  const at = async (name: string): Promise<readonly [number, number]> => {
    const box = await placeOf(page.getByRole('group', { name }));
    return [box.x + 20, box.y + 12];
  };
  const dragged = await best(traced, async () => drag(page, await at('Entity E29,')));
  const moved = await best(traced, () => drag(page, [500, 200]));
  const drawn = await best(traced, async () => {
    const port = await placeOf(page.getByRole('group', { name: 'Entity E58,' }).locator('.react-flow__handle[title]'));
    await drag(page, [port.x + 8, port.y + 8]);
    // The line ends where it began: an edge of the entity to itself, whose meaning is asked for.
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });
  const scrolled = await best(traced, async () => {
    await page.getByRole('tree', { name: 'Inputs and their fields' }).hover();
    for (let i = 0; i < STEPS; i++) {
      await page.mouse.wheel(0, 120);
      await frame(page);
    }
  });
  for (const [what, { p95, frames }] of Object.entries({ dragged, moved, drawn, scrolled })) {
    expect({ what, hasEnough: frames > MIN_FRAMES, frames }).toMatchObject({ hasEnough: true });
    expect({ what, isFluid: p95 < FRAME_MS, p95 }).toMatchObject({ isFluid: true });
  }
});

studio.soakTest('the first paint of the start page comes within 1.5 s', async ({ page }) => {
  const paint = async (): Promise<number> => {
    await page.goto('/studio/');
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.POSITIVE_INFINITY);
  };
  let first = await paint();
  for (let i = 0; i < 2 && first >= FIRST_PAINT_MS; i++) first = await paint();
  expect(first).toBeLessThan(FIRST_PAINT_MS);
});
