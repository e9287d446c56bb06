/** The built service with its studio, and a Chromium for its pages: both started once, for all files of tests in a browser. */
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserServer, chromium } from 'playwright-core';
import { spawnService } from '../../support/service/process.ts';
import { guard } from '../process/guard.ts';

/** Where Debian has it. */
const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** No background requests, and no sandbox, which containers do not allow. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** One token for each role: `viewer`, `operator` and `admin` are also their names. */
export const STUDIO_TOKENS = { viewer: 'viewer-long-secret', operator: 'operator-long-secret', admin: 'admin-long-secret' } as const;

/** The value of API_TOKENS for a service with them. */
export const STUDIO_API_TOKENS = Object.entries(STUDIO_TOKENS)
  .map(([role, token]) => `${role}:${role}:${token}`)
  .join();

export interface StudioServer {
  /** `http://127.0.0.1:port`; tokens are `STUDIO_TOKENS`. */
  readonly url: string;
  /** For `chromium.connect` of Playwright. */
  readonly browser: string;
  /** Working directory of the service; its data stand in `data`. */
  readonly directory: string;
  stop(): Promise<void>;
}

/** Why there are no tests in a browser here; undefined: there are. */
export const missingChromium = (): Promise<string | undefined> =>
  access(PROGRAM, constants.X_OK).then(
    () => undefined,
    () => `there is no ${PROGRAM}: apt-get install chromium`,
  );

export async function startStudio(): Promise<StudioServer | { readonly skip: string }> {
  const missing = await missingChromium();
  if (missing !== undefined) return { skip: missing };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-studio-'));
  const service = spawnService({ cwd: directory, env: { PORT: '0', API_TOKENS: STUDIO_API_TOKENS } });
  let browser: BrowserServer | undefined;
  try {
    [browser] = await Promise.all([
      chromium.launchServer({
        executablePath: PROGRAM,
        args: FLAGS,
        headless: false,
        env: { HOME: directory, PATH: process.env.PATH ?? '' },
      }),
      service.waitForLog('listening'),
    ]);
    guard(browser.process(), undefined);
  } catch (error) {
    service.kill('SIGKILL');
    throw error;
  }
  const { url } = service;
  return {
    url,
    browser: browser.wsEndpoint(),
    directory,
    async stop() {
      await browser?.close();
      await service.stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
