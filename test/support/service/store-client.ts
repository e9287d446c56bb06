/** A client of an embedded store. */
export interface StoreClient {
  /** `search` with its question mark; the login is added. */
  ask(search: string, init?: RequestInit): Promise<Response>;
  query(query: string, accept?: string): Promise<Response>;
  /** @throws Error with the status and the message of the store */
  update(update: string): Promise<void>;
  /** Adds N-Quads. @throws Error as `update` */
  add(quads: string): Promise<void>;
  /** Lines of N-Quads, sorted. */
  quads(): Promise<readonly string[]>;
  /** Statements of all graphs. */
  count(): Promise<number>;
}

export function storeClient(endpoint: string): StoreClient {
  const url = new URL(endpoint);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  const base = url.origin + url.pathname;
  const ask = (search: string, init: RequestInit = {}): Promise<Response> =>
    fetch(base + search, { ...init, headers: { authorization, ...(init.headers as Record<string, string> | undefined) } });
  const post = async (type: string, body: string): Promise<void> => {
    const response = await ask('', { method: 'POST', headers: { 'content-type': type }, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  };
  const query = (text: string, accept = 'application/sparql-results+json'): Promise<Response> =>
    ask(`?query=${encodeURIComponent(text)}`, { headers: { accept } });
  return {
    ask,
    query,
    update: (update) => post('application/sparql-update', update),
    add: (quads) => post('application/n-quads', quads),
    async quads() {
      const response = await ask('', { headers: { accept: 'application/n-quads' } });
      return linesOf(await response.text());
    },
    async count() {
      const all = 'SELECT (COUNT(*) AS ?n) WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }';
      return Number((await (await query(all, 'text/csv')).text()).trim().split(/\s+/)[1]);
    },
  };
}

export const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .sort();
