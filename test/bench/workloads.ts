/** What the bench runs: folders that `generate.mjs` makes, the mapping in them, and how many statements must come out. */

export interface Workload {
  readonly folder: string;
  readonly mapping: string;
  readonly options: readonly string[];
  /** The field of `expected.json`. */
  readonly expected: 'distinct' | 'triples';
}

const distinct = (folder: string, mapping = 'mapping.ttl'): Workload => ({ folder, mapping, options: [], expected: 'distinct' });

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  'flat-100k': distinct('flat-100k'),
  'flat-1m': distinct('flat-1m'),
  'flat-1m-all': { folder: 'flat-1m', mapping: 'mapping.ttl', options: ['--no-distinct'], expected: 'triples' },
  dup: distinct('dup'),
  'join-nm': distinct('join-nm'),
  'gtfs-1': distinct('gtfs-1', 'mapping-csv.ttl'),
  'gtfs-1-json': distinct('gtfs-1', 'mapping-json.ttl'),
  'gtfs-1-xml': distinct('gtfs-1', 'mapping-xml.ttl'),
  'gtfs-10': distinct('gtfs-10', 'mapping-csv.ttl'),
  'json-nested-20mb': distinct('json-nested-20mb'),
  'json-nested': distinct('json-nested'),
  'xml-nested-20mb': distinct('xml-nested-20mb'),
  'xml-nested': distinct('xml-nested'),
};

/** What runs when no workload is named. */
export const USUAL: readonly string[] = Object.keys(WORKLOADS).filter((name) => !/20mb|-json$|-xml$/.test(name));
