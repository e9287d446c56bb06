/** Web APIs that give their records in pages: a server that behaves, and one that does not. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault } from '../../../../src/core/fault.ts';
import { readLogins } from '../../../../src/storage/logins.ts';
import { secrets } from '../../../support/secrets.ts';
import { xlsx, xlsxRows } from '../sheet/workbooks.ts';
import { type Answering, makeRuns, startAnswering } from './running.ts';

const runs = makeRuns();
let server: Answering;
let other: Answering;
beforeAll(async () => {
  [server, other] = [await startAnswering(), await startAnswering()];
});
beforeEach(() => {
  for (const { seen } of [server, other]) seen.splice(0);
});
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
  runs.remove();
});

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix td: <https://www.w3.org/2019/wot/td#> . @prefix ex: <http://e/> .
@prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> . @prefix qw: <http://w3id.org/quadmill/web#> .
`;
const JSON_ITEMS = 'rml:referenceFormulation rml:JSONPath ; rml:iterator "$.items[*]"';
const thing = (paging: string, path = '/people'): string =>
  `a td:Thing ; td:hasPropertyAffordance [ td:hasForm [ hctl:hasTarget "${server.origin}${path}" ; qw:paging [ ${paging} ] ] ]`;
const mappingOf = (source: string, formulation = JSON_ITEMS, more = ''): string => `${PREFIXES}
<http://e/M> rml:logicalSource [ rml:source [ ${source} ] ; ${formulation} ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:object "x" ] ${more} .
`;
const web = (more: object = {}) => ({ web: { ...RUN_DEFAULTS.web, ...more } });
const idsOf = (lines: readonly string[]): readonly number[] =>
  lines.map((line) => Number(/e\/(\d+)>/.exec(line)?.[1])).sort((a, b) => a - b);
const upTo = (count: number, from = 0): readonly number[] => Array.from({ length: count - from }, (_, i) => from + i);
const items = (from: number, to: number): { readonly id: number }[] => upTo(Math.max(from, to), from).map((id) => ({ id }));

type Request = Parameters<Answering['answer']>[0];
type Response = Parameters<Answering['answer']>[1];
const query = (request: Request): URLSearchParams => new URL(request.url as string, 'http://h').searchParams;
const send = (response: Response, body: unknown, headers: Record<string, string> = {}): void => {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
};

/** Pages of 3 of 7 items; `answer` gets the number of the page, from 0, and what is on it. */
const inPages =
  (
    pageOf: (search: URLSearchParams) => number,
    answer: (page: number, found: readonly { id: number }[], response: Response) => void,
  ): Answering['answer'] =>
  (request, response) => {
    const page = pageOf(query(request));
    answer(page, items(page * 3, Math.min(7, page * 3 + 3)), response);
  };

describe('pages are read to the last one', () => {
  test.each<[name: string, paging: string, answer: Answering['answer'], requests: number]>([
    [
      'by links in the header',
      'a qw:LinkHeader',
      inPages(
        (search) => Number(search.get('p') ?? 0),
        (page, found, response) =>
          send(
            response,
            { items: found },
            { link: `</x>; rel="prev first", <?p=${page + 1}>; title="a, \\"b\\"; c"; rel="${page < 2 ? 'next' : 'last'}"` },
          ),
      ),
      3,
    ],
    [
      'by links in the body',
      'a qw:NextLink ; qw:reference "$.links[?@.rel == \'next\'].href"',
      inPages(
        (search) => Number(search.get('p') ?? 0),
        (page, found, response) =>
          send(response, {
            links: [
              { rel: 'self', href: '' },
              { rel: page < 2 ? 'next' : 'last', href: `/people?p=${page + 1}` },
            ],
            items: found,
          }),
      ),
      3,
    ],
    [
      'by a link that is null in the end, behind the records',
      'a qw:NextLink ; qw:reference "$[\'@odata.nextLink\']"',
      inPages(
        (search) => Number(search.get('p') ?? 0),
        (page, found, response) =>
          send(response, { items: found, '@odata.nextLink': page < 2 ? `${server.origin}/people?p=${page + 1}` : null }),
      ),
      3,
    ],
    [
      'by a cursor',
      'a qw:Cursor ; qw:reference "$.meta.next" ; qw:parameter "after"',
      inPages(
        (search) => Number((search.get('after') ?? '€&0').slice(2)),
        (page, found, response) => send(response, { items: found, ...(page < 2 ? { meta: { next: `€&${page + 1}` } } : {}) }),
      ),
      3,
    ],
    [
      'by a cursor that stays the same in the end, on a page without items',
      'a qw:Cursor ; qw:reference "$.next" ; qw:parameter "cursor" ; qw:items "$.items[*]"',
      inPages(
        (search) => Number(search.get('cursor') ?? 0),
        (page, found, response) => send(response, { items: found, next: Math.min(3, page + 1) }),
      ),
      4,
    ],
    [
      'by the last item',
      'a qw:Cursor ; qw:reference "$.items[-1].id" ; qw:parameter "after"',
      inPages(
        (search) => (Number(search.get('after') ?? -1) + 1) / 3,
        (page, _, response) => send(response, { items: items(page * 3, Math.min(7, page * 3 + 3)) }),
      ),
      4,
    ],
    [
      'by numbers until a page has no items',
      'a qw:PageNumber ; qw:parameter "page" ; qw:items "$.items[*]"',
      inPages(
        (search) => Number(search.get('page')) - 1,
        (_, found, response) => send(response, { items: found }),
      ),
      4,
    ],
    [
      'by numbers from 0 until the last one',
      'a qw:PageNumber ; qw:parameter "page" ; qw:first 0 ; qw:pageCount "$.pages"',
      inPages(
        (search) => Number(search.get('page')),
        (_, found, response) => send(response, { items: found, pages: 3 }),
      ),
      3,
    ],
    [
      'by offsets until there are no more, though the server gives fewer than it was asked for',
      'a qw:Offset ; qw:parameter "offset" ; qw:items "$.items[*]"',
      (request, response) => {
        const from = Number(query(request).get('offset'));
        send(response, { items: items(from, Math.min(7, from + 2)) });
      },
      5,
    ],
    [
      'by offsets until the total, where the iterator is another one than the items',
      'a qw:Offset ; qw:parameter "offset" ; qw:items "$.items" ; qw:recordCount "$.total"',
      (request, response) => {
        const from = Number(query(request).get('offset'));
        send(response, { items: from < 5 ? [{ id: from }] : items(5, 7), total: '6' });
      },
      6,
    ],
  ])('%s', async (_, paging, answer, requests) => {
    server.answer = answer;
    const { lines, report } = await runs.run(mappingOf(thing(paging)));
    expect(idsOf(lines)).toEqual(upTo(7));
    expect(report.warnings).toEqual([]);
    expect(server.seen).toHaveLength(requests);
  });

  test('of CSV, whose columns may stand in another order', async () => {
    const pages = ['id,n\n0,a\n1,b\n', 'n,id\nc,2\n', 'id\n'];
    server.answer = (request, response) => send(response, pages[Number(query(request).get('page')) - 1], { 'content-type': 'text/csv' });
    const mapping = mappingOf(thing('a qw:PageNumber ; qw:parameter "page"'), 'rml:referenceFormulation rml:CSV');
    expect(idsOf((await runs.run(mapping)).lines)).toEqual(upTo(3));
  });

  test('of XML, with the link in an attribute', async () => {
    server.answer = inPages(
      (search) => Number(search.get('p') ?? 0),
      (page, found, response) => {
        const next = page < 2 ? `<link rel="next" href="?p=${page + 1}"/>` : '';
        const entries = found.map(({ id }) => `<entry><id>${id}</id></entry>`).join('');
        send(response, `<feed><link rel="self" href="x"/>${next}${entries}</feed>`, { 'content-type': 'application/atom+xml' });
      },
    );
    const paging = 'a qw:NextLink ; qw:reference "/feed/link[@rel=\'next\']/@href"';
    const { lines } = await runs.run(mappingOf(thing(paging), 'rml:referenceFormulation rml:XPath ; rml:iterator "/feed/entry"'));
    expect(idsOf(lines)).toEqual(upTo(7));
  });

  test('of JSON Lines and JSON text sequences', async () => {
    for (const [type, before] of [
      ['application/x-ndjson', ''],
      ['application/geo+json-seq', '\x1e'],
    ] as const) {
      server.answer = inPages(
        (search) => Number(search.get('p') ?? 0),
        (page, found, response) =>
          send(response, found.map((one) => `${before}${JSON.stringify(one)}\n`).join(''), {
            'content-type': type,
            ...(page < 2 ? { link: `<?p=${page + 1}>;rel=next` } : {}),
          }),
      );
      const { lines } = await runs.run(mappingOf(thing('a qw:LinkHeader'), 'rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"'));
      expect(idsOf(lines)).toEqual(upTo(7));
    }
  });

  test('of a mapping in legacy RML, whose paths omit the root', async () => {
    server.answer = inPages(
      (search) => Number(search.get('after') ?? 0),
      (page, found, response) => send(response, { items: found, ...(page < 2 ? { next: page + 1 } : {}) }),
    );
    const mapping = `@prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix rr: <http://www.w3.org/ns/r2rml#> . ${PREFIXES.replace(/@prefix rml: \S+ \./, '')}
<http://e/M> rml:logicalSource [ rml:source [ ${thing('a qw:Cursor ; qw:reference "next" ; qw:parameter "after" ; qw:items "items[*]"')} ] ;
    rml:referenceFormulation ql:JSONPath ; rml:iterator "$.items[*]" ] ;
  rr:subjectMap [ rr:template "http://e/{id}" ; rr:class ex:Person ] .
`;
    expect(idsOf((await runs.run(mapping)).lines)).toEqual(upTo(7));
  });

  test('with several triples maps, views, joins and items within the records of all pages', async () => {
    server.answer = (request, response) => {
      const page = Number(query(request).get('p') ?? 0);
      const next = page < 2 ? { next: `?p=${page + 1}` } : {};
      send(response, { items: [{ id: page, boss: 2 - page, tags: page === 1 ? [] : [{ t: `t${page}` }] }], ...next });
    };
    const source = thing('a qw:NextLink ; qw:reference "$.next"');
    const mapping = `${PREFIXES}
<http://e/S> rml:source [ ${source} ] ; ${JSON_ITEMS} .
<http://e/M> rml:logicalSource <http://e/S> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:boss ; rml:objectMap [ rml:parentTriplesMap <http://e/M> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] ] ] .
<http://e/V> a rml:LogicalView ; rml:viewOn <http://e/S> ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] ,
  [ a rml:IterableField ; rml:fieldName "tag" ; rml:iterator "$.tags[*]" ; rml:field [ rml:fieldName "t" ; rml:reference "t" ] ] .
<http://e/N> rml:logicalSource <http://e/V> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:tag ; rml:objectMap [ rml:reference "tag.t" ] ] .
`;
    const { lines } = await runs.run(mapping);
    expect(lines).toEqual([
      '<http://e/0> <http://e/boss> <http://e/2> .',
      '<http://e/0> <http://e/tag> "t0" .',
      '<http://e/1> <http://e/boss> <http://e/1> .',
      '<http://e/2> <http://e/boss> <http://e/0> .',
      '<http://e/2> <http://e/tag> "t2" .',
    ]);
    // One pass over the pages serves all of them.
    expect(server.seen).toHaveLength(3);
  });

  test('and a file in the place of the API is read as it is', async () => {
    const file = runs.write('people.json', JSON.stringify({ items: items(0, 3), next: '?p=1' }));
    const name = `${server.origin}/people`;
    const { lines } = await runs.run(mappingOf(thing('a qw:NextLink ; qw:reference "$.next"')), { inputs: [{ name, url: file }] });
    expect(idsOf(lines)).toEqual(upTo(3));
    expect(server.seen).toEqual([]);
  });

  test('with a reference that only some pages have, and a warning of one that none has', async () => {
    server.answer = inPages(
      (search) => Number(search.get('p') ?? 0),
      (page, found, response) =>
        send(response, {
          items: found.map((one) => ({ ...one, ...(page === 1 ? { some: 1 } : {}) })),
          ...(page < 2 ? { next: `?p=${page + 1}` } : {}),
        }),
    );
    const more = ['some', 'none']
      .map((name) => `; rml:predicateObjectMap [ rml:predicate ex:${name} ; rml:objectMap [ rml:reference "${name}" ] ]`)
      .join('');
    const { lines, report } = await runs.run(mappingOf(thing('a qw:NextLink ; qw:reference "$.next"'), JSON_ITEMS, more), {
      onError: 'skip',
    });
    expect(lines).toHaveLength(10);
    expect(report.warnings.filter((one) => /none/.test(one))).toHaveLength(1);
    expect(report.warnings.filter((one) => /some/.test(one))).toEqual([]);
  });
});

describe('a paging that goes wrong', () => {
  const warningsOf = async (paging: string, path = '/people', formulation = JSON_ITEMS): Promise<readonly string[]> =>
    (await runs.run(mappingOf(thing(paging, path), formulation), web())).report.warnings;
  const only =
    (body: unknown, headers: Record<string, string> = {}): Answering['answer'] =>
    (_, response) =>
      send(response, body, headers);
  const link = (expression: string): string => `a qw:NextLink ; qw:reference "${expression}"`;
  const ATOM = 'rml:referenceFormulation rml:XPath ; rml:iterator "/feed/entry"';
  const atom = (rel: string) =>
    only(`<feed><link rel="self" href="x"/><lnk rel="${rel}" href="?p=1"/><entry/></feed>`, { 'content-type': 'application/xml' });

  test.each<[what: string, paging: string, answer: Answering['answer'], words: string, path?: string, formulation?: string]>([
    ['beside a usual name', link('$.nxt'), only({ items: items(0, 2), next: '?p=1' }), 'has nothing at $.nxt, but it has $.next.'],
    ['beside one that is null', link('nextPage'), only({ items: items(0, 2), next_page: null }), 'at nextPage, but it has $.next_page.'],
    [
      'in an object that is there',
      link('$.meta.next'),
      only({ items: items(0, 2), meta: { '@odata.nextLink': 'x' } }),
      "at $.meta.next, but it has $.meta['@odata.nextLink'].",
    ],
    [
      'near a cursor',
      'a qw:Cursor ; qw:reference "$.meta.curser" ; qw:parameter "c"',
      only({ items: items(0, 2), meta: { cursor: 'x' } }),
      'at $.meta.curser, but it has $.meta.cursor.',
    ],
    ['in an object that is not there', link('$.mta.next'), only({ items: items(0, 2), meta: {} }), 'nor anything at $.mta.'],
    [
      'in an object that is not there, of a link that is one',
      link('$._lnks.next.href'),
      only({ items: items(0, 2), _links: {} }),
      'nor anything at $._lnks.',
    ],
    ['with a filter of a list that is not there', link("$.lnks[?@.rel == 'next'].href"), only({ items: [] }), 'nor anything at $.lnks.'],
    ['of an element that is not there', link("/feed/lnx[@rel='next']/@href"), atom('next'), 'nor anything at /feed/lnx.', '/feed', ATOM],
    ['on a page with a link', link('$.more'), only({ items: items(0, 2) }, { link: '<?p=1>; rel="next"' }), 'but its header Link names'],
    [
      'on a full page',
      link('$.more'),
      only({ items: items(0, 2) }),
      'and is full: 2 records, with pageSize=2.',
      '/people?pageSize=2&year=1',
    ],
    ['on a full page of JSON:API', link('$.more'), only({ items: items(0, 2) }), 'with page[size]=2.', '/people?page[size]=2'],
    ['on a full page of a limit', link('$.more'), only({ items: items(0, 2) }), 'with _limit=1.', '/people?_limit=1'],
    [
      'with a name that no API has',
      link('$.weitr'),
      only({ items: items(0, 2), weiter: '?p=1' }),
      'and nothing on it says that it is the last one',
    ],
    ['with such a name in an object that is there', link('$.meta.weitr'), only({ items: items(0, 2), meta: {} }), 'and nothing on it says'],
    ['with such a name of an element', link('/feed/weitr'), atom('next'), 'and nothing on it says', '/feed', ATOM],
    ['with such a name of an attribute', link('/feed/@weitr'), atom('next'), 'and nothing on it says', '/feed', ATOM],
    [
      'of a cursor with such a name',
      'a qw:Cursor ; qw:reference "zeiger" ; qw:parameter "c"',
      only({ items: items(0, 2) }),
      'and nothing on it says',
    ],
    [
      'on a page that tells of more records',
      link('$.next'),
      only({ items: items(0, 2), total: 9 }),
      'but its $.total is 9, and it has 2 records.',
    ],
    [
      'on a page that tells of more records beside it',
      link('$.meta.next'),
      only({ items: items(0, 2), meta: { totalCount: '9' } }),
      'but its $.meta.totalCount is 9, and it has 2 records.',
    ],
    [
      'on a full page of items that are fewer records',
      `${link('$.more')} ; qw:items "$.all[*]"`,
      only({ items: items(0, 1), all: [1, 2, 3] }),
      'and is full: 3 records, with $top=3.',
      '/people?$top=3',
    ],
  ])('at an expression that is misspelt is warned of: %s', async (_, paging, answer, words, ...[path, formulation]) => {
    server.answer = answer;
    const warnings = (await warningsOf(paging, path, formulation)).filter((one) => /qw:/.test(one));
    expect(warnings).toHaveLength(1);
    const [warning = ''] = warnings;
    expect(warning).toContain(words);
    expect(warning).toMatch(/^The only page .*\. If there are more pages, correct qw:reference \(input http.+, mapping .+:\d+:\d+\)$/);
  });

  test.each<[what: string, paging: string, answer: Answering['answer'], path?: string, formulation?: string]>([
    ['has no link', link('$.next'), only({ items: items(0, 2), status: 'ok', self: '?p=0' })],
    ['has null', link('$.next'), only({ items: items(0, 2), next: null })],
    ['has an object without a link', link('$.meta.next'), only({ items: items(0, 2), meta: { total: 2 } })],
    [
      'has its link beside its records',
      link('$.data.next'),
      only({ data: { items: items(0, 2) } }),
      undefined,
      JSON_ITEMS.replace('$', '$.data'),
    ],
    ['has other links', link("$.links[?@.rel == 'next'].href"), only({ items: items(0, 2), links: [{ rel: 'self', href: 'x' }] })],
    ['has no such element', link("/feed/link[@rel='next']/@href"), atom('prev'), '/feed', ATOM],
    ['is not full', link('$.next'), only({ items: items(0, 2) }), '/people?limit=3'],
    [
      'has as many records as another parameter says',
      link('$.next'),
      only({ items: items(0, 2) }),
      '/people?account=1&stop=2&firstname=2&page=1',
    ],
    ['is empty', link('$.next'), only({ items: [] }), '/people?limit=3'],
    ['has null at a name that no API has', link('$.weiter'), only({ items: items(0, 2), weiter: null })],
    ['has no value at such a name, and no records', link('$.weiter'), only({ items: [] })],
    ['has no value at such a name, and is not full', link('$.weiter'), only({ items: items(0, 2) }), '/people?limit=3'],
    ['has no value at such a name, and as many records as there are', link('$.weiter'), only({ items: items(0, 2), total: 2 })],
    [
      'tells of more items than records that are chosen',
      link('$.next'),
      only({ items: items(0, 2), total: 2 }),
      undefined,
      JSON_ITEMS.replace('[*]', '[?@.id > 0]'),
    ],
    [
      'has an empty attribute',
      link('/feed/lnk/@href'),
      only('<feed><lnk href=""/><entry/></feed>', { 'content-type': 'application/xml' }),
      '/feed',
      ATOM,
    ],
    ['has no object of a link', link('$._links.next.href'), only({ items: items(0, 2), _links: { self: { href: 'x' } } })],
    ['has no element of a link', link('/feed/next/@href'), atom('next'), '/feed', ATOM],
    ['has an object where others have a number', link('$.next'), only({ items: items(0, 2), total: { value: 9 }, totalCount: [9, 10] })],
    ['is found by a descendant', link('$..next'), only({ items: items(0, 2) })],
    [
      'has no count because it is empty',
      'a qw:PageNumber ; qw:parameter "p" ; qw:items "$.items[*]" ; qw:pageCount "$.pages"',
      only({ items: [] }),
    ],
  ])('is not warned of where the only page %s', async (_, paging, answer, ...[path, formulation]) => {
    server.answer = answer;
    expect((await warningsOf(paging, path, formulation)).filter((one) => /only page/.test(one))).toEqual([]);
  });

  test('is not warned of where a page before had the expression', async () => {
    server.answer = inPages(
      (search) => Number(search.get('p') ?? 0),
      (page, found, response) => send(response, { items: found, ...(page < 2 ? { next: `?p=${page + 1}` } : { nextPage: null }) }),
    );
    expect(await warningsOf(link('$.next'), '/people?limit=1')).toEqual([]);
  });

  test('is not warned of where a page before had an expression that no API has', async () => {
    server.answer = inPages(
      (search) => Number(search.get('p') ?? 0),
      (page, found, response) => send(response, { items: found, total: 1000, ...(page < 2 ? { weiter: `?p=${page + 1}` } : {}) }),
    );
    expect(await warningsOf(link('$.weiter'))).toEqual([]);
  });

  const NEXT = 'a qw:NextLink ; qw:reference "$.next"';
  const linking =
    (next: (page: number) => unknown): Answering['answer'] =>
    (request, response) => {
      const page = Number(query(request).get('p') ?? 0);
      send(response, { items: [{ id: page }], next: next(page) });
    };

  test('in a circle is reported', async () => {
    server.answer = linking((page) => `?p=${(page + 1) % 3 || 1}`);
    const fault = await runs.faultOf(mappingOf(thing(NEXT)));
    expect(fault).toMatchObject({ code: 'source/malformed', place: { page: 3, input: `${server.origin}/people?p=2` } });
    expect(fault.message).toBe(`Page 3 leads back to a page that was read before: ${server.origin}/people?p=1`);
  });

  test('to another server is refused, and that server is not asked', async () => {
    server.answer = linking(() => `${other.origin}/people`);
    const fault = await runs.faultOf(mappingOf(thing(NEXT)));
    expect(fault).toMatchObject({
      code: 'source/refused',
      message: expect.stringContaining(`another server as that of the next page: ${other.origin}/people`),
    });
    expect(other.seen).toEqual([]);
  });

  test('follows redirects, and the server behind them', async () => {
    server.answer = (_, response) => response.writeHead(307, { location: `${other.origin}/there` }).end();
    other.answer = linking((page) => (page < 2 ? `there?p=${page + 1}` : null));
    expect(idsOf((await runs.run(mappingOf(thing(NEXT)))).lines)).toEqual(upTo(3));
    expect(other.seen.map(({ path }) => path)).toEqual(['/there', '/there?p=1', '/there?p=2']);
  });

  test.each<[name: string, paging: string, body: unknown, message: RegExp]>([
    [
      'an address that is none',
      NEXT,
      { items: [{ id: 1 }], next: 'http://[' },
      /Page 1 gives "http:\/\/\[" as the address of the next page, which is no URL/,
    ],
    [
      'a parameter that the server does not know',
      'a qw:PageNumber ; qw:parameter "page" ; qw:items "$.items[*]"',
      { items: [{ id: 1 }] },
      /Page 2 is the same as the page before it .*Check the name of the parameter "page"/,
    ],
    [
      'a count that is none',
      'a qw:PageNumber ; qw:parameter "page" ; qw:pageCount "$.pages"',
      { items: [{ id: 1 }], pages: 'many' },
      /Page 1 has "many" at \$\.pages, which is to be a number/,
    ],
    [
      'a count that is not there',
      'a qw:Offset ; qw:parameter "o" ; qw:items "$.items[*]" ; qw:recordCount "$.total"',
      { items: [{ id: 1 }] },
      /Page 1 has nothing at \$\.total/,
    ],
  ])('with %s is reported', async (_, paging, body, message) => {
    server.answer = (_request, response) => send(response, body);
    const fault = await runs.faultOf(mappingOf(thing(paging)));
    expect(fault.code).toBe('source/malformed');
    expect(describeFault(fault)).toMatch(message);
  });

  test('with too many pages, or too many bytes on all of them, is reported', async () => {
    server.answer = linking((page) => `?p=${page + 1}`);
    const fault = await runs.faultOf(mappingOf(thing(NEXT)), web({ pages: 5 }));
    expect(fault).toMatchObject({ code: 'limit/exceeded', place: { page: 5 } });
    expect(server.seen).toHaveLength(5);
    const bytes = await runs.faultOf(mappingOf(thing(NEXT)), { limits: { ...RUN_DEFAULTS.limits, inputBytes: 100 } });
    expect(bytes).toMatchObject({ code: 'limit/exceeded', limit: 'MAX_INPUT_BYTES', place: { page: 3 } });
  });

  test('names the page of what is malformed, and the page and record of what is rejected', async () => {
    server.answer = (request, response) => {
      const page = Number(query(request).get('p') ?? 0);
      send(
        response,
        page < 2 ? { items: [{ id: 'a' }, { id: page === 1 ? 'a b' : 'b' }], next: `?p=${page + 1}&token=hidden` } : '{"items": [}',
      );
    };
    const mapping = mappingOf(thing(NEXT)).replace('rml:template "http://e/{id}"', 'rml:reference "id" ; rml:termType rml:IRI');
    const rejected = await runs.faultOf(mapping, { onError: 'strict' });
    expect(rejected).toMatchObject({ code: 'record/term', place: { page: 2, record: 1 } });
    expect(describeFault(rejected)).toMatch(/page 2, line 1, record 1/);
    const malformed = await runs.faultOf(mapping, { onError: 'skip' });
    expect(malformed).toMatchObject({
      code: 'source/malformed',
      place: { page: 3, byte: 11, input: `${server.origin}/people?p=2&token=******` },
    });
  });

  test('ends when the run is cancelled between pages', async () => {
    const ending = new AbortController();
    server.answer = (request, response) => {
      if (query(request).get('p') === '3') return ending.abort();
      linking((page) => `?p=${page + 1}`)(request, response);
    };
    const fault = await runs.faultOf(mappingOf(thing(NEXT)), {}, ending.signal);
    expect(fault.code).toBe('run/cancelled');
  });
});

test('pages are packed as the answer says: zip, gzip and content encodings', async () => {
  const zip = Buffer.from(
    // A stored entry `a.csv` with the text `id\n1\n`.
    '504b0304140000000000000021000fe95bcd050000000500000005000000612e63737669640a310a504b01021403140000000000000021000fe95bcd0500000005000000050000000000000000000000800100000000612e637376504b0506000000000100010033000000280000000000',
    'hex',
  );
  const bodies: readonly (readonly [Buffer, Record<string, string>])[] = [
    [zip, { 'content-type': 'application/zip' }],
    [gzipSync('id\n1\n'), { 'content-type': 'application/gzip' }],
    [gzipSync('id\n1\n'), { 'content-type': 'text/csv', 'content-encoding': 'gzip' }],
  ];
  for (const [body, headers] of bodies) {
    server.answer = (_, response) => send(response, body, headers);
    const { lines } = await runs.run(mappingOf(thing('a qw:LinkHeader', '/export'), 'rml:referenceFormulation rml:CSV'));
    expect(idsOf(lines)).toEqual([1]);
  }
  // A workbook is an archive itself, and not unpacked as one.
  server.answer = (_, response) =>
    send(response, xlsx({ sheets: { One: xlsxRows([['id'], ['1']]) } }), { 'content-type': 'application/zip' });
  const type = 'hctl:forContentType "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" ;';
  const workbook = thing('a qw:LinkHeader', '/export').replace('qw:paging', `${type} qw:paging`);
  expect(idsOf((await runs.run(mappingOf(workbook, 'rml:referenceFormulation rml:CSV'))).lines)).toEqual([1]);
  server.answer = (_, response) => send(response, 'x', { 'content-encoding': 'compress' });
  const fault = await runs.faultOf(mappingOf(thing('a qw:LinkHeader')));
  expect(fault).toMatchObject({ code: 'source/refused', message: expect.stringContaining('content encoding "compress"') });
});

describe('a login', () => {
  test('goes with each page, a parameter of it too, and none is in a fault', async () => {
    server.answer = (request, response) => {
      const page = Number(query(request).get('p') ?? 0);
      if (page === 2) return response.writeHead(403).end();
      send(response, { items: [{ id: page }], next: `?p=${page + 1}` });
    };
    const logins = readLogins(secrets([`${server.origin}/ X-Api-Key: canary1`, `${server.origin}/ ?api_key=canary2%26`]));
    const fault = await runs.faultOf(mappingOf(thing('a qw:NextLink ; qw:reference "$.next"')), web({ logins }));
    expect(fault).toMatchObject({ code: 'source/refused', place: { page: 3 } });
    expect(server.seen.map(({ headers }) => headers['x-api-key'])).toEqual(['canary1', 'canary1', 'canary1']);
    expect(server.seen.map(({ path }) => new URL(path, server.origin).searchParams.get('api_key'))).toEqual([
      'canary2&',
      'canary2&',
      'canary2&',
    ]);
    expect(`${describeFault(fault)} ${JSON.stringify(fault)} ${fault.stack}`).not.toContain('canary');
  });
});
