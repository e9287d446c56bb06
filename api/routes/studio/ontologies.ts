/** `/studio/ontologies`: the classes and properties of an ontology, read by a worker. */
import type { OntologyQuestion } from '../../../queues/preview.ts';
import type { Route } from '../../route.ts';
import type { Ask } from './ask.ts';
import { assertNoPassword } from './secrets.ts';

export function ontologyRoute(ask: Ask): Route {
  return {
    method: 'POST',
    path: '/studio/ontologies',
    role: 'operator',
    summary: 'Reads an ontology: its classes and properties',
    body: { type: 'application/json', schema: 'StudioOntologyRequest', required: true },
    replies: { 200: { description: 'The terms, as far as they were read', schema: 'StudioOntology' } },
    handle: async ({ request, body }) => {
      const { location, format, mappings } = (await body()) as Omit<OntologyQuestion, 'kind'>;
      assertNoPassword(location);
      return { status: 200, body: await ask({ kind: 'ontology', location, format, mappings }, request) };
    },
  };
}
