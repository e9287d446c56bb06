/** Routes of the specification that a later version offers: they answer 501, so a client knows the path is right. */
import { SERVICES, type Service } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Role } from '../auth.ts';
import type { Method, Route } from '../route.ts';

type LaterRow = readonly [method: Method, path: string, role: Role, summary: string];

const SHARED: readonly LaterRow[] = [
  ['PUT', '/uploadConfigBackup', 'admin', 'Writes the configuration to the backup location'],
  ['GET', '/license', 'viewer', 'Shows the licence'],
];

const CUSTOM_FUNCTIONS: LaterRow = ['GET', '/updateCustomFunctions', 'admin', 'Downloads and deploys the custom functions'];

const LATER: Readonly<Record<Service, readonly LaterRow[]>> = {
  'semi-structured-transformer': [...SHARED, CUSTOM_FUNCTIONS],
  'sql-transformer': [...SHARED, CUSTOM_FUNCTIONS],
  'graph-writer': SHARED,
};

export function laterRoutes(service: Service): readonly Route[] {
  return LATER[service].map(([method, path, role, summary]) => ({
    method,
    path,
    role,
    summary,
    acts: true,
    replies: { 501: { description: 'This version does not offer it yet', type: 'application/problem+json', schema: 'Problem' } },
    handle: async () => {
      throw new Fault('service/not-yet', `This version does not offer ${method} ${path} of the ${SERVICES[service].name} yet`);
    },
  }));
}
