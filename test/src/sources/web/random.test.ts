/** Random records in random pages, from a server that breaks connections at random places: the statements are those of one file. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { Random } from '../../../support/random.ts';
import { plainLabels } from '../../../support/read-rdf.ts';
import { type Answering, makeRuns, startAnswering } from './running.ts';

const runs = makeRuns();
let server: Answering;
beforeAll(async () => {
  server = await startAnswering();
});
beforeEach(() => void server.seen.splice(0));
afterAll(async () => {
  await server.stop();
  runs.remove();
});

interface Row {
  readonly id: number;
  readonly boss: number;
  readonly name: string;
}

interface Format {
  readonly type: string;
  readonly extension: string;
  readonly formulation: string;
  write(rows: readonly Row[]): string;
}

const FORMATS: readonly Format[] = [
  {
    type: 'text/csv',
    extension: 'csv',
    formulation: 'rml:referenceFormulation rml:CSV',
    write: (rows) => ['id,boss,name', ...rows.map(({ id, boss, name }) => `${id},${boss},"${name}"`), ''].join('\n'),
  },
  {
    type: 'application/json',
    extension: 'json',
    formulation: 'rml:referenceFormulation rml:JSONPath ; rml:iterator "$.rows[*]"',
    write: (rows) => JSON.stringify({ rows: rows.map(({ id, boss, name }) => ({ id: `${id}`, boss: `${boss}`, name })) }),
  },
  {
    type: 'application/xml',
    extension: 'xml',
    formulation: 'rml:referenceFormulation rml:XPath ; rml:iterator "/rows/row"',
    write: (rows) =>
      `<rows>${rows.map(({ id, boss, name }) => `<row><id>${id}</id><boss>${boss}</boss><name>${name}</name></row>`).join('')}</rows>`,
  },
];

/** Blank nodes and joins: what would show that a record came twice, or at another place. */
const mappingOf = (source: string, formulation: string): string => `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
@prefix td: <https://www.w3.org/2019/wot/td#> . @prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> . @prefix qw: <http://w3id.org/quadmill/web#> .
<http://e/S> rml:source [ ${source} ] ; ${formulation} .
<http://e/M> rml:logicalSource <http://e/S> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] , [ rml:predicate ex:boss ;
    rml:objectMap [ rml:parentTriplesMap <http://e/M> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] ] ] ,
    [ rml:predicate ex:node ; rml:objectMap [ rml:template "{name}" ; rml:termType rml:BlankNode ] ] .
<http://e/V> a rml:LogicalView ; rml:viewOn <http://e/S> ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] .
<http://e/N> rml:logicalSource <http://e/V> ; rml:subjectMap [ rml:template "http://e/n{#}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:at ; rml:objectMap [ rml:reference "id" ] ] .
`;

test.each(Array.from({ length: 12 }, (_, seed) => seed))('random pages and breaks, seed %d', async (seed) => {
  const random = new Random(seed);
  const format = FORMATS[seed % FORMATS.length] as Format;
  const rows: Row[] = Array.from({ length: random.between(1, 60) }, () => ({
    id: random.between(0, 40),
    boss: random.between(0, 40),
    name: random.pick(['Ada', 'Zoë 🦆', 'Bo, "x"'.replaceAll('"', "'"), 'x'.repeat(random.between(0, 3000))]),
  }));
  const pages: string[] = [];
  for (let at = 0; at < rows.length; ) {
    const to = at + random.between(0, 20);
    pages.push(format.write(rows.slice(at, to)));
    at = to;
  }
  let breaks = 2;
  const send = (response: Parameters<Answering['answer']>[1], text: string, more: Record<string, string>): void => {
    const body = Buffer.from(text);
    response.writeHead(200, {
      'content-type': format.type,
      ...(random.chance(0.5) ? { 'content-length': String(body.length) } : {}),
      ...more,
    });
    if (breaks === 0 || random.chance(0.6)) return void response.end(body);
    breaks--;
    response.write(body.subarray(0, random.between(0, body.length - 1)));
    setTimeout(() => response.destroy(), 20);
  };
  server.answer = (request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, server.origin);
    if (pathname !== '/rows') return send(response, format.write(rows), {});
    const page = Number(searchParams.get('p') ?? 0);
    send(response, pages[page] as string, page + 1 < pages.length ? { link: `<?p=${page + 1}>; rel="next"` } : {});
  };
  const file = runs.write(`rows.${format.extension}`, format.write(rows));
  const request = { runId: 'same', web: { ...RUN_DEFAULTS.web, retries: 5 } };
  const expected = await runs.run(mappingOf(`a rml:FilePath ; rml:path "${file}"`, format.formulation), request);
  const thing = `a td:Thing ; td:hasForm [ hctl:hasTarget "${server.origin}/rows" ; qw:paging [ a qw:LinkHeader ] ]`;
  const paged = await runs.run(mappingOf(thing, format.formulation), request);
  // A plain document is not held: its bytes are compared.
  const plain = await runs.run(
    mappingOf(`a rml:FilePath ; rml:path "${server.origin}/all.${format.extension}"`, format.formulation),
    request,
  );
  expect(expected.lines.length).toBeGreaterThan(0);
  for (const { lines, report } of [paged, plain]) {
    // Labels of blank nodes name the input.
    expect(lines.map(plainLabels)).toEqual(expected.lines.map(plainLabels));
    expect(report.records).toBe(expected.report.records);
  }
});

test('a run that wants the first records alone asks for no further page', async () => {
  const format = FORMATS[1] as Format;
  server.answer = (request, response) => {
    const page = Number(new URL(request.url as string, server.origin).searchParams.get('p') ?? 0);
    const rows = Array.from({ length: 5 }, (_, i) => ({ id: page * 5 + i, boss: 0, name: 'Ada' }));
    response.writeHead(200, { 'content-type': format.type, link: `<?p=${page + 1}>; rel="next"` }).end(format.write(rows));
  };
  const mapping = mappingOf(
    `a td:Thing ; td:hasForm [ hctl:hasTarget "${server.origin}/rows" ; qw:paging [ a qw:LinkHeader ] ]`,
    format.formulation,
  );
  const [first = ''] = mapping.split('\n<http://e/V>');
  const plain = first.replace(/ , \[ rml:predicate ex:boss ;\s+rml:objectMap \[.*?\] \] \]/s, '');
  const { report } = await runs.run(plain, { firstRecords: 7 });
  expect(report.records).toBe(7);
  expect(server.seen).toHaveLength(2);
});
