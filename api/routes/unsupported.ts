/** Routes of the specification that this version does not support: they answer 501, so that a client knows the path is right. */
import { SERVICES, type Service } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Role } from '../auth.ts';
import type { HttpMethod, Route } from '../route.ts';

type UnsupportedRow = readonly [method: HttpMethod, path: string, role: Role, summary: string];

const CUSTOM_FUNCTIONS: UnsupportedRow = ['GET', '/updateCustomFunctions', 'admin', 'Downloads and deploys the custom functions'];

const UNSUPPORTED: Readonly<Record<Service, readonly UnsupportedRow[]>> = {
  'semi-structured-transformer': [CUSTOM_FUNCTIONS],
  'sql-transformer': [CUSTOM_FUNCTIONS],
  'graph-writer': [],
};

export function unsupportedRoutes(service: Service): readonly Route[] {
  return UNSUPPORTED[service].map(([method, path, role, summary]) => ({
    method,
    path,
    role,
    summary,
    hasSideEffects: true,
    replies: { 501: { description: 'This version does not offer it yet', type: 'application/problem+json', schema: 'Problem' } },
    handle: async () => {
      throw new Fault('service/not-yet', `This version does not offer ${method} ${path} of the ${SERVICES[service].name} yet`);
    },
  }));
}
