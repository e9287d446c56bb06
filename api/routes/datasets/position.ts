/** `/datasets/{name}/position`: the version of a dataset that the target of the graph writer has. */
import { targetOf } from '../../../queues/requests/writer.ts';
import { Fault } from '../../../src/core/fault.ts';
import { redact } from '../../../src/core/redact.ts';
import type { Api, Route } from '../../route.ts';
import { NAME, openDataset } from './place.ts';

export function positionRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/datasets/{name}/position',
    role: 'operator',
    summary: 'Asks the target of the graph writer which version of the dataset it has',
    parameters: [NAME],
    isQuery: true,
    replies: { 200: { description: 'The version of the target beside the newest one', schema: 'DatasetPosition' } },
    handle: async ({ parameters }) => {
      const { description, current } = await openDataset(api, parameters.name as string);
      const snapshot = api.config.snapshot();
      const address = targetOf(snapshot, api.store);
      const { openTarget } = await import('../../../src/targets/open.ts');
      const target = await openTarget(address);
      try {
        if (target.versions === undefined) {
          throw new Fault('request/invalid', `${target.describe()} keeps no versions of datasets`, {
            hint: 'Write to the embedded store, a SPARQL store or Neo4j',
          });
        }
        const found = (await target.versions.positions(api.ending)).find(({ id }) => id === description.id);
        const { TRIPLESTORE_ENDPOINT: endpoint } = snapshot;
        return {
          status: 200,
          body: {
            target: endpoint === undefined ? 'embedded' : redact(endpoint),
            type: address.type,
            version: found?.version ?? 0,
            complete: found?.complete ?? true,
            currentVersion: current,
          },
        };
      } finally {
        await target.close();
      }
    },
  };
}
