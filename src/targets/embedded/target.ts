/** The embedded store as a target of the graph writer: the store of this process by its URL, or a directory opened for one write. */
import { Fault } from '../../core/fault.ts';
import { sparqlTarget } from '../sparql/sparql.ts';
import type { GraphTarget, TargetAddress } from '../target.ts';
import { openEmbeddedStore, storeDirectory } from './embedded.ts';

/**
 * `endpoint` is the URL of an open store, or a directory (a path or a `file:` URL), whose store is then open as long as the target.
 *
 * @throws Fault config/invalid — no endpoint; service/unavailable — another process has the directory open, or it cannot be read
 */
export async function embeddedTarget(address: TargetAddress): Promise<GraphTarget> {
  const { endpoint } = address;
  if (/^https?:/i.test(endpoint)) {
    // The login in the URL wins over one that is configured for another target.
    const own = URL.canParse(endpoint) && new URL(endpoint).username !== '';
    return sparqlTarget(own ? { ...address, username: undefined, password: undefined } : address);
  }
  if (endpoint === '') {
    throw new Fault('config/invalid', 'The embedded store has no directory', { hint: 'Name one with --target or TRIPLESTORE_ENDPOINT' });
  }
  const directory = storeDirectory(endpoint);
  const warnings: string[] = [];
  const store = await openEmbeddedStore(directory, {
    ...address.storeLimits,
    salvage: address.salvage ?? false,
    warn: (message) => void warnings.push(message),
  });
  try {
    // As above: the login of the store, whatever is configured.
    const target = await sparqlTarget({ ...address, endpoint: store.endpoint, username: undefined, password: undefined });
    return {
      describe: () => `Embedded store in ${directory}`,
      sizes: target.sizes,
      takesBlankNodes: target.takesBlankNodes,
      takesTripleTerms: target.takesTripleTerms ?? false,
      probe: (signal) => target.probe(signal),
      prepare: (signal) => target.prepare(signal),
      insert: (statements, signal) => target.insert(statements, signal),
      replace: (statements, scope, signal) => target.replace(statements, scope, signal),
      replaceGraph: (graph, key, signal) => target.replaceGraph(graph, key, signal),
      ...(target.versions && { versions: target.versions }),
      warnings: () => warnings,
      async close() {
        await target.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
