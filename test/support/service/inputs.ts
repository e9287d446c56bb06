/** Mappings and inputs for service tests, and an HTTP server whose input ends when the test releases it. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PREFIXES = '@prefix rml: <http://w3id.org/rml/> .\n@prefix ex: <http://example.com/> .\n';

const FORMULATIONS = { csv: 'CSV', json: 'JSONPath', xml: 'XPath' } as const;

/** One triples map: `http://example.com/{id}` has the name `name`. */
export function peopleMapping(format: keyof typeof FORMULATIONS, source: string): string {
  const iterator = { csv: '', json: ' ; rml:iterator "$.people[*]"', xml: ' ; rml:iterator "/people/person"' }[format];
  return `${PREFIXES}
ex:People a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "${source}" ] ;
    rml:referenceFormulation rml:${FORMULATIONS[format]}${iterator} ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;
}

/** People live in towns; the two files are joined by the town's code. */
export const JOIN_MAPPING = `${PREFIXES}
ex:People a rml:TriplesMap ;
  rml:logicalSource ex:PeopleSource ;
  rml:subjectMap [ rml:template "http://example.com/person/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:livesIn ; rml:objectMap [
    rml:parentTriplesMap ex:Towns ; rml:joinCondition [ rml:child "town" ; rml:parent "code" ] ] ] .
ex:Towns a rml:TriplesMap ;
  rml:logicalSource ex:TownsSource ;
  rml:subjectMap [ rml:template "http://example.com/town/{name}" ] .
ex:PeopleSource a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV .
ex:TownsSource a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "towns.csv" ] ; rml:referenceFormulation rml:CSV .
`;

export const PEOPLE = {
  csv: 'id,name\n1,Ann\n2,Bob\n',
  json: JSON.stringify({
    people: [
      { id: 1, name: 'Ann' },
      { id: 2, name: 'Bob' },
    ],
  }),
  xml: '<people><person><id>1</id><name>Ann</name></person><person><id>2</id><name>Bob</name></person></people>',
} as const;

/** The statements of both, in any order. */
export const PEOPLE_LINES = [
  '<http://example.com/1> <http://example.com/name> "Ann" .',
  '<http://example.com/2> <http://example.com/name> "Bob" .',
];

export interface SlowInput {
  /** Ends in `.csv`. */
  readonly url: string;
  /** Resolves when a run starts to read. */
  readonly asked: Promise<void>;
  /** Number of requests. */
  count(): number;
  /** Lets all current and future readers reach the end. */
  release(): void;
  close(): Promise<void>;
}

/** People as CSV over HTTP: the first rows at once, the last one after `release`. */
export async function slowInput(rows = 2_000): Promise<SlowInput> {
  const first = `id,name\n${Array.from({ length: rows - 1 }, (_, i) => `${i + 1},Name ${i + 1}\n`).join('')}`;
  const last = `${rows},Name ${rows}\n`;
  const readers = new Set<ServerResponse>();
  let count = 0;
  let released = false;
  let tell: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const server = createServer((_, response) => {
    count++;
    response.setHeader('content-type', 'text/csv');
    response.write(first);
    if (released) response.end(last);
    else readers.add(response);
    response.on('close', () => readers.delete(response));
    tell();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/people.csv`,
    asked,
    count: () => count,
    release() {
      released = true;
      for (const reader of readers) reader.end(last);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Triples maps of one source, of about this many bytes. */
export function largeMapping(bytes: number): string {
  const [head, one] = peopleMapping('csv', 'people.csv').split(/(?=^ex:People)/m) as [string, string];
  const parts = [head];
  for (let i = 0; i * one.length < bytes; i++) parts.push(one.replace('ex:People', `ex:People${i}`));
  return parts.join('');
}

/** As much as an upload may have. */
export const largestMapping = (): string => largeMapping(9.5 * 2 ** 20);
