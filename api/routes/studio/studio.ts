/** The routes below `/studio`: what the modelling interface asks the service for. */
import type { Service } from '../../../queues/jobs.ts';
import type { Api, Route } from '../../route.ts';
import { mappingRoutes } from '../mappings/studio.ts';
import { askFor } from './ask.ts';
import { functionsRoute } from './functions.ts';
import { meRoute } from './me.ts';
import { ontologyRoute } from './ontologies.ts';
import { pageRoutes } from './page.ts';
import { previewRoutes } from './previews.ts';
import { samplesRoutes } from './samples.ts';
import { uploadRoute } from './uploads.ts';

/** The routes at the root of a process with these services; none without a transformer. */
export function studioRoutes(api: Api, services: readonly Service[]): readonly Route[] {
  if (services.every((service) => service === 'graph-writer')) return [];
  const ask = askFor(api);
  return [
    ...pageRoutes(),
    meRoute(api, services),
    functionsRoute(api),
    ...mappingRoutes(api, services),
    uploadRoute(api),
    ...samplesRoutes(ask, services),
    ontologyRoute(ask),
    ...previewRoutes(ask, services),
  ];
}
