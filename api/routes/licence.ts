/** `/license`: the licence of the fleet, as the specification has it (Resources, "Licence object"). */
import { licenceObject, licenceOf } from '../../src/config/licence.ts';
import type { Api, Route } from '../route.ts';

export function licenceRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/license',
    role: 'viewer',
    summary: 'Shows the licence',
    replies: { 200: { description: 'The licence, and whether it is valid', schema: 'Licence' } },
    handle: async () => {
      const now = Date.now();
      return { status: 200, body: licenceObject(licenceOf(api.config.snapshot(), now), now) };
    },
  };
}
