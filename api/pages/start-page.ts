/** `/`: a page of links for people who open the address of the service. */
import { VERSION } from '../../src/config/version.ts';
import type { MountedRoute, Route } from '../route.ts';

interface Link {
  readonly path: string;
  readonly text: string;
}

/** The links that the process has, by their routes. A link to a route of a service is shown once for each service. */
const LINKS: readonly Link[] = [
  { path: '/studio', text: 'the studio: draw a mapping' },
  { path: '/queues', text: 'the dashboard of the queues' },
  { path: '/openapi.json', text: 'all routes, as OpenAPI' },
  { path: '/health/ready', text: 'whether the process takes runs' },
  { path: '/metrics', text: 'metrics, for Prometheus' },
  { path: '/runs', text: 'runs' },
  { path: '/config', text: 'configuration' },
  { path: '/license', text: 'licence' },
];

/** @param mounted all routes of the process; read when the page is asked for */
export function startPageRoute(mounted: () => readonly MountedRoute[]): Route {
  return {
    method: 'GET',
    path: '/',
    role: undefined,
    summary: 'A page of links to what the process has, for people',
    replies: { 200: { description: 'The page', type: 'text/html', schema: { type: 'string' } } },
    handle: async () => ({ status: 200, type: 'text/html; charset=utf-8', body: pageOf(mounted()) }),
  };
}

function pageOf(mounted: readonly MountedRoute[]): string {
  const items = LINKS.flatMap(({ path, text }) =>
    mounted
      .filter(({ route }) => route.method === 'GET' && route.path === path)
      .map(
        ({ prefix, service }) =>
          `<li><a href="${prefix}${path}">${prefix}${path}</a> ${text}${service ? ` of the ${SERVICE_NAMES[service]}` : ''}</li>`,
      ),
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Quadmill</title></head>
<body>
<h1>Quadmill ${VERSION}</h1>
<ul>
${items.join('\n')}
</ul>
</body>
</html>
`;
}

const SERVICE_NAMES = {
  'semi-structured-transformer': 'semi-structured transformer',
  'sql-transformer': 'SQL transformer',
  'graph-writer': 'graph writer',
} as const;
