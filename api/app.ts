/** The HTTP application: mounts the routes, refuses other requests, turns faults into problem answers and records metrics. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { SERVICES, type Service } from '../queues/jobs.ts';
import { describeFault, Fault } from '../src/core/fault.ts';
import { nearest } from '../src/core/nearest.ts';
import { observeRequest } from '../src/core/telemetry/observe.ts';
import { inRequestSpan } from '../src/core/telemetry/trace.ts';
import { type Access, type Guard, makeGuard } from './access/guard.ts';
import { type Input, inputOf } from './input.ts';
import { openApiRoute } from './openapi.ts';
import { dashboard, dashboardRoute } from './pages/dashboard.ts';
import { startPageRoute } from './pages/start-page.ts';
import { faultOf, PROBLEM_TYPE, problemAnswer, RequestFault } from './problem.ts';
import type { Api, MountedRoute, Reply, Route } from './route.ts';
import { configRoutes } from './routes/config.ts';
import { customFunctionsRoute } from './routes/custom-functions.ts';
import { databaseRoutes } from './routes/databases/database.ts';
import { datasetRoutes } from './routes/datasets/datasets.ts';
import { kafkaRoute } from './routes/kafka.ts';
import { licenceRoute } from './routes/licence.ts';
import { masterMappingRoutes, rmlRoutes } from './routes/mappings/rml.ts';
import { operatorRoutes, READINESS } from './routes/operators.ts';
import { processRoutes, sqlProcessRoute } from './routes/process.ts';
import { runRoutes } from './routes/runs/runs.ts';
import { cronRoute } from './routes/schedule.ts';
import { sparqlRoutes } from './routes/sparql.ts';
import { studioRoutes } from './routes/studio/studio.ts';
import { writerRoutes } from './routes/writer.ts';
import { SECURITY_HEADERS } from './server/security-headers.ts';
import { sendStream } from './stream.ts';

const ALL_SERVICES = Object.keys(SERVICES) as readonly Service[];

/** The services of a process: one at the root, all under their prefixes, or none (a worker). */
export type Served = Service | 'all' | 'none';

const servicesOf = (served: Served): readonly Service[] => (served === 'all' ? ALL_SERVICES : served === 'none' ? [] : [served]);

/** All routes of a process with the option SERVICE. */
export function mountRoutes(api: Api, served: Served): readonly MountedRoute[] {
  const mounted: MountedRoute[] = [];
  for (const service of servicesOf(served)) {
    const prefix = served === 'all' ? `/${service}` : '';
    for (const route of serviceRoutes(api, service)) mounted.push({ route, service, prefix });
  }
  for (const route of operatorRoutes(api)) mounted.push({ route, service: undefined, prefix: '' });
  for (const route of studioRoutes(api, servicesOf(served))) mounted.push({ route, service: undefined, prefix: '' });
  if (served !== 'none') for (const route of datasetRoutes(api)) mounted.push({ route, service: undefined, prefix: '' });
  for (const route of sparqlRoutes(api)) mounted.push({ route, service: undefined, prefix: '' });
  if (api.queues !== undefined) mounted.push({ route: dashboardRoute(), service: undefined, prefix: '' });
  for (const route of [openApiRoute(() => mounted), startPageRoute(() => mounted)]) mounted.push({ route, service: undefined, prefix: '' });
  return mounted;
}

function serviceRoutes(api: Api, service: Service): readonly Route[] {
  const shared = [kafkaRoute(api), licenceRoute(api)];
  switch (service) {
    case 'semi-structured-transformer':
      return [...processRoutes(api), ...runRoutes(api), ...configRoutes(api), ...rmlRoutes(api), customFunctionsRoute(api), ...shared];
    case 'sql-transformer':
      return [
        sqlProcessRoute(api),
        ...runRoutes(api),
        ...configRoutes(api),
        ...masterMappingRoutes(api),
        cronRoute(api),
        ...databaseRoutes(api),
        customFunctionsRoute(api),
        ...shared,
      ];
    case 'graph-writer':
      return [...writerRoutes(api), ...runRoutes(api), ...configRoutes(api), ...shared];
  }
}

/**
 * Creates the application. Reads the options of the guard from the current configuration, and SERVICE unless `served` is given.
 *
 * @throws Fault config/invalid — as `makeGuard`
 */
export function makeApp(api: Api, served: Served = api.config.snapshot().SERVICE): Koa {
  const guard = makeGuard(api.config.snapshot(), () => api.config.snapshot());
  const mounted = mountRoutes(api, served);
  const router = new Router({ sensitive: true });
  for (const one of mounted) {
    const input = inputOf(one.route);
    router.register(one.prefix + one.route.path.replace(/\{(\w+)\}/g, ':$1'), [one.route.method], (context) =>
      serve(context, one, input, mounted, guard, api),
    );
  }
  // Each request that waits for an outcome adds a listener and removes it when it is answered.
  setMaxListeners(0, api.ending);
  const app = new Koa();
  app.on('error', (error: unknown) => api.logger[isClientGone(error) ? 'info' : 'error']({ error }, 'answer failed'));
  app.use((context, next) => answerAndObserve(context, next, api));
  if (api.queues !== undefined) app.use(dashboard(api, guard, api.queues));
  app.use(router.routes());
  app.use((context) => refuse(context, mounted, served));
  return app;
}

async function serve(
  context: Context,
  mounted: MountedRoute,
  input: Input,
  all: readonly MountedRoute[],
  guard: Guard,
  api: Api,
): Promise<void> {
  const route = mounted.prefix + mounted.route.path;
  context.state.route = route;
  if (context.method === 'HEAD' && mounted.route.hasSideEffects) throw methodFault(context, methodsOf(route, all));
  // Operators poll these routes every few seconds, so they are not traced.
  if (mounted.service === undefined) return answer(context, mounted, input, guard, api);
  await inRequestSpan({ method: context.method, route, headers: context.headers }, async () => {
    await answer(context, mounted, input, guard, api);
    return (context.state.status as number | undefined) ?? context.status;
  });
}

async function answer(context: Context, { route, service, prefix }: MountedRoute, input: Input, guard: Guard, api: Api): Promise<void> {
  const changes = route.hasSideEffects === true || !['GET', 'HEAD'].includes(context.method);
  const access: Access | undefined =
    route.role === undefined ? undefined : await guard.admit(context.req, { changes, works: changes || route.isQuery === true });
  const actor = route.role === undefined ? 'anonymous' : (access?.require(route.role) ?? '');
  const given = {
    query: new URLSearchParams(context.querystring),
    params: context.params as Record<string, string>,
    request: context.req,
  };
  const reply = await route.handle({
    service: service ?? 'semi-structured-transformer',
    baseUrl: originOf(context) + prefix,
    ...given,
    parameters: input.parameters(given),
    body: () => input.body(context.req, api.config.snapshot().MAX_BODY_BYTES),
    actor,
    authorize: (role) => void access?.require(role),
  });
  send(context, reply);
  if (reply.stream !== undefined) await sendParts(context, reply.stream, reply, api);
}

function send(context: Context, { status, body, stream, type, headers }: Reply): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers ?? {})) context.set(name, value);
  if (type !== undefined) context.set('Content-Type', type);
  if (stream !== undefined) context.respond = false;
  else if (body !== undefined) context.body = body;
  else {
    context.body = '';
    context.remove('Content-Type');
  }
}

async function sendParts(context: Context, stream: AsyncIterable<Uint8Array>, { trailers }: Reply, api: Api): Promise<void> {
  const end = await sendStream(context.res, stream, trailers);
  if (end.kind === 'closed') return;
  context.state.status = end.kind === 'sent' ? context.status : end.fault.status;
  if (end.kind === 'sent') return;
  const { fault } = end;
  const reason = fault.code === 'internal/error' ? { error: fault.cause ?? fault } : { detail: describeFault(fault) };
  const request = context.response.get('X-Request-Id');
  api.logger[levelOf(fault)]({ request, method: context.method, path: context.path, code: fault.code, ...reason }, 'answer cut off');
}

/** Error: not transient, and not a time limit set by the client, so someone should look at it. */
const levelOf = (fault: Fault): 'warn' | 'error' => (fault.retriable || fault.status === 504 ? 'warn' : 'error');

/** The client has closed the connection before the answer was sent. */
const isClientGone = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');

/** As the client sees it: a TLS proxy sets X-Forwarded-Proto. */
function originOf(context: Context): string {
  if (context.host === '') return '';
  const proto = context.get('X-Forwarded-Proto').split(',')[0]?.trim();
  return `${proto === 'https' || proto === 'http' ? proto : context.protocol}://${context.host}`;
}

/** Node takes the first of several, a proxy before it perhaps another. @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
function assertOneHost({ req: { rawHeaders } }: Context): void {
  if (rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length > 1)
    throw new RequestFault('request/malformed', 'The request has several Host headers');
}

/** Outermost middleware: sets the request id, turns errors into problem answers, and records metrics. */
async function answerAndObserve(context: Context, next: () => Promise<unknown>, api: Api): Promise<void> {
  const started = performance.now();
  const given = context.get('X-Request-Id');
  const id = /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
  context.set('X-Request-Id', id);
  context.set(SECURITY_HEADERS);
  if (context.secure) context.set('Strict-Transport-Security', 'max-age=31536000');
  try {
    assertOneHost(context);
    await next();
  } catch (error) {
    const fault = faultOf(error);
    const answer = problemAnswer(fault, { path: context.path, id });
    send(context, { status: answer.status, type: PROBLEM_TYPE, body: JSON.stringify(answer.body), headers: answer.headers });
    // A readiness check that is answered with "not ready" is not a failed request.
    const isAnswer = context.state.route === READINESS && fault.code !== 'internal/error';
    if (fault.status >= 500 && !isAnswer) {
      const reason = fault.code === 'internal/error' ? { error } : { detail: fault.message };
      api.logger[levelOf(fault)](
        { request: id, method: context.method, path: context.path, code: fault.code, ...reason },
        'request failed',
      );
    }
  }
  const left = context.req.socket.destroyed;
  observeRequest({
    route: (context.state.route as string | undefined) ?? 'none',
    method: KNOWN_METHODS.has(context.method) ? context.method : 'other',
    status: (context.state.status as number | undefined) ?? (left ? CLIENT_CLOSED_REQUEST : context.status),
    seconds: (performance.now() - started) / 1000,
  });
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Status in the metrics for a request whose client closed the connection before the answer. */
const CLIENT_CLOSED_REQUEST = 499;

/** Called when no route matched: a known path with another method, or an unknown path. */
function refuse(context: Context, mounted: readonly MountedRoute[], served: Served): void {
  const [layer] = (context.matched ?? []) as readonly { readonly path: string | RegExp }[];
  if (layer !== undefined) {
    const route = String(layer.path).replace(/:(\w+)/g, '{$1}');
    context.state.route = route;
    const allowed = methodsOf(route, mounted);
    if (context.method !== 'OPTIONS') throw methodFault(context, allowed);
    send(context, { status: 204, headers: { Allow: allowed.join(', ') } });
    return;
  }
  throw notFound(context.path, mounted, served);
}

/** HEAD is answered like GET, except where GET has side effects. */
function methodsOf(route: string, mounted: readonly MountedRoute[]): readonly string[] {
  const here = mounted.filter(({ prefix, route: { path } }) => prefix + path === route).map((one) => one.route);
  return here.flatMap(({ method, hasSideEffects }) => (method === 'GET' && hasSideEffects !== true ? [method, 'HEAD'] : [method])).sort();
}

function methodFault(context: Context, allowed: readonly string[]): Fault {
  const allow = allowed.join(', ');
  return new RequestFault('request/method', `${context.path} does not answer ${context.method}; it answers ${allow}`, {
    headers: { Allow: allow },
  });
}

function notFound(path: string, mounted: readonly MountedRoute[], served: Served): Fault {
  const paths = [...new Set(mounted.map(({ route, prefix }) => prefix + route.path))];
  const below = paths.filter((one) => one.endsWith(path) && path.length > 1);
  const near = below.length > 0 ? below : nearest(path, paths);
  const where = served === 'all' ? `; the services stand at ${ALL_SERVICES.map((service) => `/${service}`).join(', ')}` : '';
  return new Fault('request/not-found', `There is nothing at ${path}${where}`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'GET /openapi.json lists every path',
  });
}
