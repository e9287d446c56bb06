/** What is sent to each product for versions of datasets, also to those that no test can start. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SPARQL_PRODUCTS, type SparqlType } from '../../../../src/targets/sparql/products.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import { deleteData } from '../../../../src/targets/sparql/update.ts';
import type { VersionTarget } from '../../../../src/targets/target.ts';
import { address, statements } from './stores.ts';
import { faultOf, never } from './trouble.ts';

let server: Server;
let origin: string;
let seen: { readonly line: string; readonly body: string }[] = [];
let answer: (url: string) => { readonly status: number; readonly body: string };

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const url = decodeURIComponent(request.url ?? '');
    seen.push({ line: `${request.method} ${url}`, body: Buffer.concat(pieces).toString() });
    const { status, body } = answer(url);
    response.writeHead(status).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen = [];
  answer = () => ({ status: 200, body: results([]) });
});

const results = (rows: readonly Readonly<Record<string, string>>[]): string =>
  JSON.stringify({
    results: { bindings: rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, { value }]))) },
  });

async function withVersions<T>(type: SparqlType, path: string, act: (versions: VersionTarget) => Promise<T>): Promise<T> {
  const target = await sparqlTarget(address(type, `${origin}${path}`));
  try {
    return await act(target.versions as VersionTarget);
  } finally {
    await target.close();
  }
}

const REMOVED = statements('<urn:s> <urn:p> "1" .\n<urn:s> <urn:p> "1" <urn:g> .');
const ADDED = statements('<urn:s> <urn:p> "2" .');
const DATASET = { id: '1-2', name: 'a "b"\n' };
const POSITION = { version: 7, complete: true, form: 'graph default' };

const STORED = `DELETE { GRAPH <urn:x-quadmill:datasets> { ?s ?p ?o } } WHERE { GRAPH <urn:x-quadmill:datasets> { ?s <urn:x-quadmill:name> "a \\"b\\"\\n" . ?s ?p ?o } } ;
DELETE { GRAPH <urn:x-quadmill:datasets> { <urn:uuid:1-2> ?p ?o } } WHERE { GRAPH <urn:x-quadmill:datasets> { <urn:uuid:1-2> ?p ?o } } ;
INSERT DATA { GRAPH <urn:x-quadmill:datasets> { <urn:uuid:1-2> <urn:x-quadmill:name> "a \\"b\\"\\n" ; <urn:x-quadmill:version> 7 ; <urn:x-quadmill:form> "graph default" } }`;
const own = `DELETE DATA {
<urn:s> <urn:p> "1" .
GRAPH <urn:g> {
<urn:s> <urn:p> "1" .
}
} ;
INSERT DATA {
<urn:s> <urn:p> "2" .
} ;
`;
const nil = `DELETE DATA {
GRAPH <urn:g> {
<urn:s> <urn:p> "1" .
}
} ;
DELETE {
GRAPH <http://www.openrdf.org/schema/sesame#nil> {
<urn:s> <urn:p> "1" .
}
} WHERE {} ;
INSERT DATA {
<urn:s> <urn:p> "2" .
} ;
`;
const named = (iri: string): string => `DELETE DATA {
GRAPH <${iri}> {
<urn:s> <urn:p> "1" .
}
GRAPH <urn:g> {
<urn:s> <urn:p> "1" .
}
} ;
INSERT DATA {
GRAPH <${iri}> {
<urn:s> <urn:p> "2" .
}
} ;
`;

describe('a version', () => {
  test.each<[SparqlType, string, string, string]>([
    ['embedded', '/sparql', 'POST /sparql', own],
    ['sparql', '/sparql', 'POST /sparql', own],
    ['fuseki', '/ds', 'POST /ds', own],
    ['graphdb', '/repositories/r', 'POST /repositories/r/statements', nil],
    ['rdf4j', '/repositories/r', 'POST /repositories/r/statements', nil],
    ['stardog', '/db', 'POST /db/update', own],
    ['blazegraph', '/bigdata/namespace/kb/sparql', 'POST /bigdata/namespace/kb/sparql', named('http://www.bigdata.com/rdf#nullGraph')],
    ['neptune', '', 'POST /sparql', named('http://aws.amazon.com/neptune/vocab/v01/DefaultNamedGraph')],
    ['virtuoso', '/sparql', 'POST /sparql', named('virt:DEFAULT')],
  ])('to %s is one request, its position last', async (type, path, line, data) => {
    await withVersions(type, path, (versions) => versions.change({ removed: REMOVED, added: ADDED, kept: [] }, POSITION, DATASET, never));
    expect(seen).toEqual([{ line, body: data + STORED }]);
  });

  test('that is being loaded has another predicate', async () => {
    const loading = { ...POSITION, complete: false };
    await withVersions('sparql', '/sparql', (versions) => versions.change({ removed: [], added: [], kept: [] }, loading, DATASET, never));
    expect(seen[0]?.body).toBe(STORED.replace('quadmill:version>', 'quadmill:loading>'));
  });

  test('nothing is sent for nothing', async () => {
    await withVersions('sparql', '/sparql', (versions) => versions.change({ removed: [], added: [], kept: [] }, undefined, DATASET, never));
    expect(seen).toEqual([]);
  });

  test('a product that takes few statements at once gets several DELETE DATA', () => {
    const many = statements(Array.from({ length: 4_500 }, (_, i) => `<urn:${i}> <urn:p> "1" .\n`).join(''));
    expect(deleteData(many, SPARQL_PRODUCTS.virtuoso).match(/DELETE DATA/g)).toHaveLength(3);
    expect(deleteData(many, SPARQL_PRODUCTS.rdf4j).match(/DELETE/g)).toHaveLength(1);
    expect(deleteData([], SPARQL_PRODUCTS.rdf4j)).toBe('');
  });
});

describe('positions', () => {
  const row = (s: string, p: string, o: string) => ({ s, p: `urn:x-quadmill:${p}`, o });

  test('are read, and what is none is left out', async () => {
    answer = () => ({
      status: 200,
      body: results([
        row('urn:uuid:1%2F2', 'name', 'a'),
        row('urn:uuid:1%2F2', 'version', '7'),
        row('urn:uuid:1%2F2', 'form', 'f'),
        row('urn:uuid:3', 'name', 'b'),
        row('urn:uuid:3', 'loading', '1'),
        row('urn:uuid:4', 'name', 'c'),
        row('http://example.org/', 'version', '1'),
      ]),
    });
    const found = await withVersions('sparql', '/sparql?key=1', (versions) => versions.positions(never));
    expect(found).toEqual([
      { id: '1/2', name: 'a', version: 7, complete: true, form: 'f' },
      { id: '3', name: 'b', version: 1, complete: false, form: '' },
    ]);
    expect(seen[0]?.line).toMatch(/^GET \/sparql\?key=1&query=SELECT \?s \?p \?o WHERE \{ GRAPH <urn:x-quadmill:datasets>/);
  });

  test.each([
    [401, '', 'target/credentials'],
    [400, 'no queries here', 'target/refused'],
    [503, '', 'target/busy'],
    [200, '<html>', 'target/refused'],
  ])('an answer %i %j', async (status, body, code) => {
    answer = () => ({ status, body });
    const fault = await withVersions('sparql', '/sparql', (versions) => faultOf(versions.positions(never)));
    expect(fault.code).toBe(code);
  });
});

describe('reading back', () => {
  const read = (type: SparqlType, path: string, graph: string): Promise<unknown> =>
    withVersions(type, path, async (versions) => {
      const found: string[] = [];
      for await (const some of versions.read?.(graph, never) ?? [])
        for (const { subject, predicate, object, graph } of some) found.push([subject, predicate, object, graph].join(' '));
      return found;
    });

  test.each<[SparqlType, string, string, string]>([
    ['fuseki', '/ds', '<urn:g>', 'WHERE { GRAPH <urn:g> { ?s ?p ?o } }'],
    ['fuseki', '/ds', '', 'WHERE { ?s ?p ?o }'],
    ['rdf4j', '/repositories/r', '', 'FROM <http://www.openrdf.org/schema/sesame#nil> WHERE { ?s ?p ?o }'],
    ['virtuoso', '/sparql', '', 'WHERE { GRAPH <virt:DEFAULT> { ?s ?p ?o } }'],
  ])('from %s%s, the graph %j', async (type, path, graph, pattern) => {
    answer = (url) => ({ status: 200, body: url.includes('COUNT') ? results([{ n: '1' }]) : '<urn:s> <urn:p> "\\u00E4" .\n' });
    expect(await read(type, path, graph)).toEqual([`<urn:s> <urn:p> "\u00c3\u00a4" ${graph}`]);
    const [counted, asked] = seen.slice(-2);
    expect(counted?.line).toContain(`SELECT (COUNT(*) AS ?n) ${pattern}`);
    expect(asked?.line).toContain(`CONSTRUCT { ?s ?p ?o } ${pattern}`);
  });

  test('a store that gives only a part is not believed', async () => {
    answer = (url) => ({ status: 200, body: url.includes('COUNT') ? results([{ n: '2' }]) : '<urn:s> <urn:p> "1" .\n' });
    await expect(read('sparql', '/sparql', '<urn:g>')).rejects.toMatchObject({
      code: 'target/refused',
      message: expect.stringContaining('gives 1 of the 2 statements of <urn:g>'),
    });
  });
});
