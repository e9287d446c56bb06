/**
 * Pages of the studio in a Chromium, on the built service.
 *
 * ```ts
 * const studio = await useStudio();
 * studio.test('opens a model', async ({ page, prefix }) => { … });
 * ```
 *
 * A case fails when its page asks another host, breaks its content security policy, writes an error to the console, or throws. All files
 * share one service and one browser; each case has a separate page, with empty storage, and a `prefix` for names of models and uploads
 * that no other case uses.
 */
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { SHARED_START_MS, type SharedStudio, sharedStudio } from '../../../servers/shared/shared.ts';
import { missingChromium, STUDIO_TOKENS } from '../../../servers/studio/studio.ts';
import { soakTest, test } from '../../../support/jest/extent.ts';

export type Role = keyof typeof STUDIO_TOKENS;

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly url: string;
  /** Working directory of the service. */
  readonly directory: string;
  readonly prefix: string;
  /** A request to the service, with the token of an admin. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
  /** Saves a new mapping on the service. @returns the status: 201, unless it is refused or has a name that is taken */
  readonly saveMapping: (name: string, text: string) => Promise<number>;
  /** Errors that the case expects: lines of the console that match are no failure. */
  readonly expectError: (pattern: RegExp) => void;
}

export interface VisitOptions {
  /** Whose token the tab has. Default: admin. */
  readonly role?: Role | 'nobody';
  readonly scheme?: 'light' | 'dark';
  /** Default: 1280 × 800. */
  readonly size?: { readonly width: number; readonly height: number };
}

export type Case = (name: string, act: (visit: Visit) => Promise<void>, options?: VisitOptions) => void;

export interface Studio {
  /** Of `npm test`. All of them together take less than a minute, so most belong to the others. */
  readonly test: Case;
  /** Of the soak tests. */
  readonly soakTest: Case;
}

/** Against hanging alone: what is waited for comes when the machine has time for it. */
const WAIT_MS = 60_000;
const LOOK_MS = 20;

/** Waits until what is read is as it should be: the page goes on by itself, also while it is read. */
export async function expectSoon(read: () => unknown, wanted: unknown): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const found = await read();
    try {
      return expect(found).toEqual(wanted);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

/** Whether the focus is on an element, or in it. */
export const hasFocus = (target: Locator): Promise<boolean> => target.evaluate((element) => element.contains(document.activeElement));

/** A service with `STUDIO_API_TOKENS`. */
export interface OwnService {
  readonly url: string;
  readonly directory: string;
  stop(): Promise<void>;
}

/** To be called once, at the top of a file. @param startOwn the service, in place of the shared one */
export async function useStudio(startOwn?: () => Promise<OwnService>): Promise<Studio> {
  const missing = await missingChromium();
  let shared: SharedStudio;
  let own: OwnService | undefined;
  let browser: Browser;
  let number = 0;
  if (missing === undefined) {
    beforeAll(async () => {
      shared = await sharedStudio();
      browser = await chromium.connect(shared.browser);
      own = await startOwn?.();
    }, SHARED_START_MS);
    afterAll(async () => {
      await own?.stop();
      await browser?.close();
      await shared?.stop();
    });
  }
  const caseOf =
    (of: typeof test): Case =>
    (name, act, options = {}) => {
      if (missing !== undefined) of.skip(`${name} (not tested: ${missing})`, () => undefined);
      else of(name, () => visit(browser, own ?? shared, `${shared.prefix}${++number}-`, options, act));
    };
  return { test: caseOf(test), soakTest: caseOf(soakTest) };
}

async function visit(
  browser: Browser,
  { url, directory }: Pick<SharedStudio, 'url' | 'directory'>,
  prefix: string,
  { role = 'admin', scheme = 'light', size = { width: 1280, height: 800 } }: VisitOptions,
  act: (visit: Visit) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, baseURL: url, reducedMotion: 'reduce' });
  const faults: string[] = [];
  const expected: RegExp[] = [];
  let page: Page | undefined;
  try {
    // Requests elsewhere are not even sent.
    await context.route(
      (address) => address.origin !== new URL(url).origin && address.protocol.startsWith('http'),
      (route) => {
        faults.push(`asked another host: ${route.request().url()}`);
        return route.abort();
      },
    );
    await context.addInitScript(
      (token) => {
        if (token !== undefined && sessionStorage.getItem('quadmill-token') === null) sessionStorage.setItem('quadmill-token', token);
        document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
          console.error(`content security policy: ${violatedDirective} ${blockedURI}`),
        );
      },
      role === 'nobody' ? undefined : STUDIO_TOKENS[role],
    );
    page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => {
      const text = `${message.text()} ${message.location().url}`;
      if (message.type() === 'error' && !expected.some((pattern) => pattern.test(text))) faults.push(`console: ${text}`);
    });
    page.on('pageerror', (error) => void faults.push(`thrown: ${error.stack ?? error.message}`));
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(url + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${STUDIO_TOKENS.admin}` },
      });
    const headers = { 'content-type': 'application/json', 'if-none-match': '*' };
    const saveMapping = async (name: string, text: string): Promise<number> =>
      (await ask(`/studio/mappings/${name}`, { method: 'PUT', headers, body: JSON.stringify({ text }) })).status;
    await act({ page, context, url, directory, prefix, ask, saveMapping, expectError: (pattern) => void expected.push(pattern) });
    expect(faults).toEqual([]);
  } catch (error) {
    // What the page has said, and shows, often says why an element never came.
    const shown = await page
      ?.locator('body')
      .innerText({ timeout: 1_000 })
      .catch(() => '');
    throw new Error([(error as Error).message, ...faults, shown].join('\n'), { cause: error });
  } finally {
    await context.close();
  }
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** WCAG 2.2 AA, and what axe counts as good practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface AxeFinding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** axe finds nothing on the page as it is now. Its script is put into the page by the debugger, which its policy does not concern. */
export async function expectAccessible(page: Page): Promise<void> {
  const { readFile } = await import('node:fs/promises');
  await page.evaluate(await readFile(AXE, 'utf8'));
  const found = await page.evaluate(async (tags): Promise<readonly AxeFinding[]> => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: AxeFinding[] }> } };
    return (await axe.run({ runOnly: tags })).violations;
  }, TAGS);
  expect(
    found.map(
      ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join('\n')}`,
    ),
  ).toEqual([]);
}
