/** `/studio/me`: what the studio shows of its user, and of what the process offers. */

import type { Service } from '../../../queues/jobs.ts';
import { Fault } from '../../../src/core/fault.ts';
import { redact } from '../../../src/core/redact.ts';
import { WRITE_MODES } from '../../../src/targets/target.ts';
import { type Api, type Call, ROLES, type Role, type Route } from '../../route.ts';

/** `services`: those of the process, in the order of the routes. */
export function meRoute({ config }: Api, services: readonly Service[]): Route {
  return {
    method: 'GET',
    path: '/studio/me',
    role: 'viewer',
    summary: 'Says who the caller is, what the role permits, and which services and limits the process has',
    replies: { 200: { description: 'The caller and the process', schema: 'StudioUser' } },
    handle: async (call) => {
      const { MAX_BODY_BYTES, MAX_UPLOAD_BYTES, TRIPLESTORE_TYPE: type, TRIPLESTORE_ENDPOINT: endpoint, WRITE_MODE } = config.snapshot();
      return {
        status: 200,
        body: {
          actor: call.actor,
          role: roleOf(call),
          limits: { maxBodyBytes: MAX_BODY_BYTES, maxUploadBytes: MAX_UPLOAD_BYTES },
          services,
          target: { type, location: endpoint === undefined ? 'embedded' : redact(endpoint) },
          writeModes: WRITE_MODES,
          writeMode: WRITE_MODE,
        },
      };
    },
  };
}

/** The highest role of the caller, who is a viewer at least. */
function roleOf({ authorize }: Call): Role {
  const has = (role: Role): boolean => {
    try {
      authorize(role);
      return true;
    } catch (error) {
      if (error instanceof Fault && error.code === 'request/forbidden') return false;
      throw error;
    }
  };
  return ROLES.findLast(has) ?? 'viewer';
}
