/** The page of the studio and its files: built by `npm run build`, open to everyone, since they hold no data. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { PROJECT_ROOT } from '../../../src/config/version.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Reply, Route } from '../../route.ts';

const BUILT = new URL('dist/studio/page/', PROJECT_ROOT);
const ASSETS = new URL('assets/', BUILT);

/** What the page has in place of the nonce. */
const PLACEHOLDER = 'STYLE_NONCE';
const NONCE_BYTES = 16;

/** `nonce`: of style elements that the text editor makes. Everything else comes from files of this service. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** A worker has the policy of its script. It loads parts of itself when it needs them. */
const SCRIPT_POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
/** The name of a file says what is in it, so it never changes. */
const FOREVER = 'public, max-age=31536000, immutable';
/** Made by the build beside each file; the first one that the browser takes. */
const PACKINGS: readonly (readonly [encoding: string, suffix: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];
const PLAIN = [undefined, ''] as const;

export function pageRoutes(): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/studio',
      role: undefined,
      summary: 'The page of the studio at `/studio/`; without the slash, the way there',
      replies: {
        200: { description: 'The page', type: 'text/html; charset=utf-8', schema: { type: 'string' } },
        308: { description: 'The page is at `/studio/`' },
      },
      handle: async ({ request }) => (pathOf(request).endsWith('/') ? page() : { status: 308, headers: { Location: 'studio/' } }),
    },
    {
      method: 'GET',
      path: '/studio/assets/{file}',
      role: undefined,
      summary: 'A script, style or picture of the page of the studio',
      parameters: [{ name: 'file', in: 'path', required: true, description: 'Its name, with the hash of its content' }],
      replies: { 200: { description: 'The file', type: Object.values(TYPES), schema: { type: 'string', format: 'binary' } } },
      handle: async ({ params, request }) => asset(params.file as string, request),
    },
  ];
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] as string;

/** @throws Fault service/unavailable — the page is not built */
async function page(): Promise<Reply> {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const text = await readFile(new URL('index.html', BUILT), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw notBuilt(error);
    throw error;
  });
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy(nonce) },
    body: text.replace(PLACEHOLDER, nonce),
  };
}

const notBuilt = (cause: Error): Fault =>
  new Fault('service/unavailable', 'The page of the studio is not built', { hint: 'Run npm run build', cause });

/** No path: a name without slashes, with an extension that the studio has. */
const NAME = /^[\w-]+(?:\.[\w-]+)*\.(js|css|svg)$/;

/** @throws Fault request/not-found */
async function asset(name: string, request: IncomingMessage): Promise<Reply> {
  const type = TYPES[NAME.exec(name)?.[1] ?? ''];
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((one) => one.trim().split(';', 1)[0]);
  const packings = PACKINGS.filter(([encoding]) => accepted.includes(encoding));
  for (const [encoding, suffix] of type === undefined ? [] : [...packings, PLAIN]) {
    const body = await readFile(new URL(name + suffix, ASSETS)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (body === undefined) continue;
    const headers = {
      'Cache-Control': FOREVER,
      Vary: 'Accept-Encoding',
      ...(name.endsWith('.js') && { 'Content-Security-Policy': SCRIPT_POLICY }),
    };
    return {
      status: 200,
      type: type as string,
      headers: encoding === undefined ? headers : { ...headers, 'Content-Encoding': encoding },
      body,
    };
  }
  throw new Fault('request/not-found', `The studio has no file ${name}`, { hint: 'Load the page again: it may be of an older version' });
}
