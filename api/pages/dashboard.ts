/**
 * The dashboard of the queues, bull-board, at `/queues/`.
 *
 * Viewers can only look. Operators can also do what does not break the rule that a run has exactly one outcome: pause and resume queues,
 * promote delayed retries, and remove a run, which cancels it. All other actions of bull-board are refused, because a job is part of a run.
 * The library is loaded at the first request.
 */
import type { IServerAdapter } from '@bull-board/api/typings/app';
import type { Context, Middleware, Next } from 'koa';
import { queuesOf } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import type { Access, Guard } from '../access/guard.ts';
import { RequestFault } from '../problem.ts';
import { type Api, type Route, withinQueueWait } from '../route.ts';

type DashboardQueues = NonNullable<Api['queues']>;

const PATH = '/queues';

/** Actions of operators, as routes of bull-board; `cancelRun` handles `clean` of a job. */
const ACTIONS: ReadonlySet<string> = new Set([
  '/api/queues/pause',
  '/api/queues/resume',
  '/api/queues/:queueName/pause',
  '/api/queues/:queueName/resume',
  '/api/queues/:queueName/promote',
  '/api/queues/:queueName/:jobId/promote',
]);

const REFUSAL = 'A job is a part of a run, and a run has one outcome: start a new run instead, or cancel this one by removing it';

/** Allows only content of this process. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Both colours are set: the default text colour follows the browser's theme and would be unreadable in one of them. */
const BANNER_COLOURS = { color: '#445566', textColor: '#ffffff' } as const;

/** The address without a trailing slash, which relative links of the page need. */
export function dashboardRoute(): Route {
  return {
    method: 'GET',
    path: PATH,
    role: undefined,
    summary: 'Redirects a browser to the dashboard of the queues, which asks for any user name, and a token as the password',
    replies: { 308: { description: `The dashboard is at ${PATH}/` } },
    handle: async () => ({ status: 308, headers: { Location: `${PATH}/` } }),
  };
}

type BoardRole = 'viewer' | 'operator';

/** Answers all requests below `/queues/` that `guard` authorizes. */
export function dashboard(api: Api, guard: Guard, queues: DashboardQueues): Middleware {
  let opening: Promise<Readonly<Record<BoardRole, Middleware>>> | undefined;

  return async (context, next) => {
    if (!context.path.startsWith(`${PATH}/`)) return next();
    context.state.route = PATH;
    const { role, actor } = await authorize(guard, context);
    context.set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' });
    if (!isReading(context.method)) {
      assertMayAct(role);
      api.logger.info({ actor, method: context.method, path: context.path }, 'dashboard action');
      const removed = /^\/queues\/api\/queues\/([^/]+)\/([^/]+)\/clean$/.exec(context.path);
      // The same path with a state instead of an id would remove many jobs. It is refused below, because no run has such an id.
      if (removed !== null && context.method === 'PUT') return cancelRun(context, api, removed[1] as string, removed[2] as string);
    }
    opening ??= openBoards(queues, api).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    const board = (await opening)[role];
    if (!context.path.startsWith(`${PATH}/api/`)) return serveFile(context, board, next);
    await withinQueueWait(api, queues.ping());
    await withinQueueWait(api, Promise.resolve(board(context, next)));
  };
}

/** @throws Fault request/unauthorized with a challenge that browsers understand; request/forbidden; request/too-many */
async function authorize(guard: Guard, { req, method }: Context): Promise<{ readonly role: BoardRole; readonly actor: string }> {
  const authorization = withBearer(req.headers.authorization);
  const access = await guard.admit(req, { changes: !isReading(method), ...(authorization === undefined ? {} : { authorization }) });
  try {
    return roleOf(access);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'request/unauthorized') throw error;
    throw new RequestFault(error.code, 'The dashboard needs a token', {
      hint: 'Give any user name, and a token of API_TOKENS as the password; or send the header Authorization: Bearer TOKEN',
      headers: { 'WWW-Authenticate': 'Basic realm="quadmill", charset="UTF-8"' },
    });
  }
}

function roleOf(access: Access): { readonly role: BoardRole; readonly actor: string } {
  try {
    return { role: 'operator', actor: access.require('operator') };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'request/forbidden') throw error;
    return { role: 'viewer', actor: access.require('viewer') };
  }
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Browsers can only ask for a user name and a password: the password is the token. */
function withBearer(authorization: string | undefined): string | undefined {
  const basic = /^Basic +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (basic === undefined) return authorization;
  const pair = Buffer.from(basic, 'base64').toString('utf8');
  return `Bearer ${pair.slice(pair.indexOf(':') + 1)}`;
}

/** The guard has refused pages of other sites, to whose requests a browser adds the password by itself. @throws Fault request/forbidden */
function assertMayAct(role: BoardRole): void {
  if (role === 'viewer') throw new RequestFault('request/forbidden', 'A viewer can only look at the queues; this needs the role operator');
}

/** Removing the job would make the run fail without a useful reason, so the run is cancelled instead. */
async function cancelRun(context: Context, api: Api, queue: string, id: string): Promise<void> {
  const before = queuesOf(api.services).some(({ name, ofRuns }) => ofRuns && name === queue)
    ? await withinQueueWait(api, api.runs.get(id))
    : undefined;
  if (before === undefined) throw new RequestFault('request/forbidden', REFUSAL);
  if (before.outcome !== undefined) {
    throw new RequestFault('request/conflict', `The run ${id} has ${before.state} and is kept until KEEP_RUNS_SECONDS are over`);
  }
  await withinQueueWait(api, api.runs.cancel(id), CANCEL_MS);
  context.status = 204;
}

const CANCEL_MS = 5_000;

/** The names of these files change with their content, so browsers may cache them, but not the page itself. */
async function serveFile(context: Context, board: Middleware, next: Next): Promise<void> {
  if (context.path.startsWith(`${PATH}/static/`)) context.set('Cache-Control', 'private, max-age=86400');
  await board(context, async () => {
    context.set('Cache-Control', 'no-store');
    await next();
  });
  // The page links to fonts of another host: a browser would try to reach it, and name it in its console when the policy stops it.
  if (typeof context.body === 'string') context.body = context.body.replace(/<link\b[^>]*\bhref="https?:[^>]*>\s*/gi, '');
}

async function openBoards(queues: DashboardQueues, { queueName, services }: Api): Promise<Readonly<Record<BoardRole, Middleware>>> {
  const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/koa'),
  ]);
  const open = (role: BoardRole): Middleware => {
    const server = new KoaAdapter().setBasePath(PATH);
    createBullBoard({
      queues: queuesOf(services).map(({ name, description, ofRuns }) => {
        const readOnlyMode = role === 'viewer' || !ofRuns;
        return new BullMQAdapter(queues.queue(name), { description, readOnlyMode, allowRetries: false });
      }),
      serverAdapter: server as unknown as IServerAdapter,
      options: {
        uiConfig: { boardTitle: 'Quadmill', hideDocsLink: true, environment: { label: redact(queueName), ...BANNER_COLOURS } },
        handlerHooks: {
          before: ({ method, route }) =>
            method === 'get' || ACTIONS.has(route) ? { allow: true } : { allow: false, status: 403, message: REFUSAL },
          after: (_, response) => ({ ...response, body: redacted(response.body) as typeof response.body }),
        },
      },
    });
    // Errors are answered as on all other routes.
    server.setErrorHandler((error) => {
      throw error;
    });
    return server.registerPlugin() as Middleware;
  };
  return { viewer: open('viewer'), operator: open('operator') };
}

/**
 * The data without passwords in URLs. The bytes of source messages, which may contain passwords anywhere, are left out; they can be read
 * from the topic.
 */
function redacted(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (value === null || typeof value !== 'object') return value;
  const left = 'topic' in value && 'offset' in value ? ['key', 'value'] : ['base64'];
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (left.includes(key) ? [] : [[key, redacted(one)]])));
}
