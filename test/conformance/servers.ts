/** The servers of cases over HTTP: SPARQL endpoints, and the files of a case. Started when the first case wants them. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { type Fuseki, startFuseki } from '../servers/stores/fuseki.ts';
import type { Case } from './manifest.ts';

/** As the manifest calls them. */
export const SERVED_FORMATS = ['SPARQL', 'DCAT-JSON', 'HTTP-JSON'] as const;
export type ServedFormat = (typeof SERVED_FORMATS)[number];

export const isServed = (format: string): format is ServedFormat => (SERVED_FORMATS as readonly string[]).includes(format);

export class CaseServers {
  #fuseki: Promise<Fuseki | { readonly skip: string }> | undefined;
  #files: Promise<{ readonly origin: string; folder: string; stop(): Promise<void> }> | undefined;

  /** The mapping of a case with the addresses of its servers, which then hold its inputs; or why it cannot be run. */
  async serve(test: Case, folder: string, mapping: string): Promise<{ readonly mapping: string } | { readonly skip: string }> {
    if (test.format !== 'SPARQL') {
      this.#files ??= serveFiles();
      const files = await this.#files;
      files.folder = folder;
      return { mapping: mapping.replace(UPSTREAM_FILES, `${files.origin}/`) };
    }
    if (mapping.search(ENDPOINTS) < 0) return { skip: 'its endpoint is a public one, whose data changes' };
    this.#fuseki ??= startFuseki({ sets: 2 });
    const fuseki = await this.#fuseki;
    if ('skip' in fuseki) return fuseki;
    const sets = fuseki.sets.map(({ memory }) => memory);
    for (const [i, set] of sets.entries()) {
      const name = test.inputs.find((input) => input === `resource${i + 1}.ttl`) ?? (i === 0 ? 'resource.ttl' : undefined);
      const body = name === undefined || !test.inputs.includes(name) ? '' : await readFile(join(folder, name));
      await fetch(`${set}/data?default`, { method: 'PUT', headers: { 'content-type': 'text/turtle' }, body });
    }
    return { mapping: mapping.replace(ENDPOINTS, (_, set) => `${sets[Number(set) - 1]}/query`) };
  }

  async close(): Promise<void> {
    const fuseki = await this.#fuseki;
    if (fuseki !== undefined && 'stop' in fuseki) await fuseki.stop();
    await (await this.#files)?.stop();
  }
}

/** The places that upstream left for the endpoints. */
const ENDPOINTS = /http:\/\/(?:HOST|localhost):PORT\/ds([12])\/sparql/g;
const UPSTREAM_FILES = /http:\/\/w3id\.org\/rml\/resources\/rml-io\/\w+\//g;

async function serveFiles(): Promise<{ readonly origin: string; folder: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    readFile(join(state.folder, basename(request.url ?? ''))).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const state = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    folder: '',
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return state;
}
