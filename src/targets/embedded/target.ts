/** The embedded store as a target of the graph writer: that of another part of the process by its URL, or one opened for the write. */
import { Fault } from '../../core/fault.ts';
import { sparqlTarget } from '../sparql/sparql.ts';
import type { GraphTarget, TargetAddress } from '../target.ts';
import { openEmbeddedStore, storeDirectory } from './embedded.ts';

/**
 * `endpoint` is the URL that an open store has, or the directory (a path or a `file:` URL) of one, which is then open as long as the target.
 *
 * @throws Fault config/invalid — no endpoint; service/unavailable — another process has the directory open, or it cannot be read
 */
export async function embeddedTarget(address: TargetAddress): Promise<GraphTarget> {
  const { endpoint } = address;
  if (/^https?:/i.test(endpoint)) {
    // Its own login, whatever user of another target is still configured.
    const own = URL.canParse(endpoint) && new URL(endpoint).username !== '';
    return sparqlTarget(own ? { ...address, username: undefined, password: undefined } : address);
  }
  if (endpoint === '') {
    throw new Fault('config/invalid', 'The embedded store has no directory', { hint: 'Name one with --target or TRIPLESTORE_ENDPOINT' });
  }
  const directory = storeDirectory(endpoint);
  const store = await openEmbeddedStore(directory);
  try {
    // The login is that of the store, whatever else is configured.
    const target = await sparqlTarget({ ...address, endpoint: store.endpoint, username: undefined, password: undefined });
    return {
      describe: () => `Embedded store in ${directory}`,
      sizes: target.sizes,
      takesBlankNodes: target.takesBlankNodes,
      probe: (signal) => target.probe(signal),
      prepare: (signal) => target.prepare(signal),
      insert: (statements, signal) => target.insert(statements, signal),
      replace: (statements, scope, signal) => target.replace(statements, scope, signal),
      replaceGraph: (graph, key, signal) => target.replaceGraph(graph, key, signal),
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
