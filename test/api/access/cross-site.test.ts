/** Requests that browsers make for pages of other sites, with and without tokens. */
import { expect, test } from '@jest/globals';
import { type CrossSiteCheck, refuseCrossSite } from '../../../api/access/cross-site.ts';

const READS = { changes: false, tokens: false };
const CHANGES = { changes: true, tokens: false };
const QUERIES = { changes: false, works: true, tokens: false };
const READS_BY_TOKEN = { changes: false, tokens: true };
const CHANGES_BY_TOKEN = { changes: true, tokens: true };
const ALL = [READS, CHANGES, QUERIES, READS_BY_TOKEN, CHANGES_BY_TOKEN];
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };

test.each<[string, Readonly<Record<string, string>>, readonly CrossSiteCheck[]]>([
  ['a program', {}, []],
  ['curl', { 'user-agent': 'curl/8.0' }, []],
  ['another site', { 'sec-fetch-site': 'cross-site' }, [READS, CHANGES, QUERIES, CHANGES_BY_TOKEN]],
  ['another name of the same site', { 'sec-fetch-site': 'same-site' }, [READS, CHANGES, QUERIES, CHANGES_BY_TOKEN]],
  ['its own pages', { ...BROWSER, 'sec-fetch-site': 'same-origin', origin: 'https://mill.example:8080' }, []],
  ['the address bar, or a link in a mail', { ...BROWSER, 'sec-fetch-site': 'none' }, [CHANGES, QUERIES]],
  ['the address bar of a browser with another name', { 'sec-fetch-site': 'none' }, [CHANGES, QUERIES]],
  ['an old browser, from another origin', { origin: 'https://evil.example' }, [READS, CHANGES, QUERIES, CHANGES_BY_TOKEN]],
  ['another port', { origin: 'https://mill.example:9090' }, [READS, CHANGES, QUERIES, CHANGES_BY_TOKEN]],
  ['an origin that is not told', { origin: 'null' }, [READS, CHANGES, QUERIES, CHANGES_BY_TOKEN]],
  ['an image in a page of another site', { referer: 'https://evil.example/page' }, [CHANGES, CHANGES_BY_TOKEN]],
  ['an image in a page of the service', { referer: 'https://mill.example:8080/queues/' }, []],
  ['a browser that tells nothing', BROWSER, [CHANGES]],
  ['its own page over plain HTTP', { ...BROWSER, origin: 'http://mill.example:8080' }, []],
  ['a link in its own page over plain HTTP', { ...BROWSER, referer: 'http://mill.example:8080/queues/' }, []],
  ['a browser over plain HTTP, by a page that hides itself', { ...BROWSER, accept: 'image/avif,image/webp' }, [CHANGES]],
])('%s', (_, headers, refused) => {
  const isRefused = (check: CrossSiteCheck): boolean => {
    try {
      refuseCrossSite({ host: 'mill.example:8080', ...headers }, check);
      return false;
    } catch (error) {
      expect(error).toMatchObject({ code: 'request/forbidden' });
      return true;
    }
  };
  expect(ALL.filter(isRefused)).toEqual(refused);
});
