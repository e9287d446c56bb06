/** Escapes of markup and addresses, and the parts of addresses. */
import { excerpt } from '../../core/fault.ts';
import { encodeIriPart, encodeUriPart, fromBytes, toBytes } from '../../core/text.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { checked, fns, gives, grel, idlab, qm } from '../names.ts';

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const SCRIPT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };
const ENTITIES_OF_XML: ReadonlyMap<string, string> = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

/** The entities of HTML 4 for the characters from U+00A0 to U+00FF, in order. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';

/** Those of symbols, mathematics and Greek letters, with their hexadecimal code points. */
const SYMBOLS =
  'OElig=152 oelig=153 Scaron=160 scaron=161 Yuml=178 fnof=192 circ=2c6 tilde=2dc Alpha=391 Beta=392 Gamma=393 Delta=394 ' +
  'Epsilon=395 Zeta=396 Eta=397 Theta=398 Iota=399 Kappa=39a Lambda=39b Mu=39c Nu=39d Xi=39e Omicron=39f Pi=3a0 Rho=3a1 ' +
  'Sigma=3a3 Tau=3a4 Upsilon=3a5 Phi=3a6 Chi=3a7 Psi=3a8 Omega=3a9 alpha=3b1 beta=3b2 gamma=3b3 delta=3b4 epsilon=3b5 ' +
  'zeta=3b6 eta=3b7 theta=3b8 iota=3b9 kappa=3ba lambda=3bb mu=3bc nu=3bd xi=3be omicron=3bf pi=3c0 rho=3c1 sigmaf=3c2 ' +
  'sigma=3c3 tau=3c4 upsilon=3c5 phi=3c6 chi=3c7 psi=3c8 omega=3c9 thetasym=3d1 upsih=3d2 piv=3d6 ensp=2002 emsp=2003 ' +
  'thinsp=2009 zwnj=200c zwj=200d lrm=200e rlm=200f ndash=2013 mdash=2014 lsquo=2018 rsquo=2019 sbquo=201a ldquo=201c ' +
  'rdquo=201d bdquo=201e dagger=2020 Dagger=2021 bull=2022 hellip=2026 permil=2030 prime=2032 Prime=2033 lsaquo=2039 ' +
  'rsaquo=203a oline=203e frasl=2044 euro=20ac image=2111 weierp=2118 real=211c trade=2122 alefsym=2135 larr=2190 ' +
  'uarr=2191 rarr=2192 darr=2193 harr=2194 crarr=21b5 lArr=21d0 uArr=21d1 rArr=21d2 dArr=21d3 hArr=21d4 forall=2200 ' +
  'part=2202 exist=2203 empty=2205 nabla=2207 isin=2208 notin=2209 ni=220b prod=220f sum=2211 minus=2212 lowast=2217 ' +
  'radic=221a prop=221d infin=221e ang=2220 and=2227 or=2228 cap=2229 cup=222a int=222b there4=2234 sim=223c cong=2245 ' +
  'asymp=2248 ne=2260 equiv=2261 le=2264 ge=2265 sub=2282 sup=2283 nsub=2284 sube=2286 supe=2287 oplus=2295 otimes=2297 ' +
  'perp=22a5 sdot=22c5 lceil=2308 rceil=2309 lfloor=230a rfloor=230b lang=2329 rang=232a loz=25ca spades=2660 clubs=2663 ' +
  'hearts=2665 diams=2666';

const ENTITIES_OF_HTML: ReadonlyMap<string, string> = new Map([
  ...ENTITIES_OF_XML,
  ...LATIN.split(' ').map((name, i) => [name, String.fromCodePoint(0xa0 + i)] as const),
  ...SYMBOLS.split(' ').map((entry) => {
    const [name = '', code = ''] = entry.split('=');
    return [name, String.fromCodePoint(Number.parseInt(code, 16))] as const;
  }),
]);

const markup = (text: string): string => text.replace(/[&<>"]/g, (character) => MARKUP[character] ?? character);

const hex = (text: string, digits: number): string => text.charCodeAt(0).toString(16).toUpperCase().padStart(digits, '0');

const MODES: Readonly<Record<string, { readonly escape: (text: string) => string; readonly unescape: (text: string) => string }>> = {
  html: { escape: markup, unescape: (text) => entities(text, ENTITIES_OF_HTML) },
  xml: { escape: (text) => markup(text).replaceAll("'", '&apos;'), unescape: (text) => entities(text, ENTITIES_OF_XML) },
  csv: {
    escape: (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
    unescape: (text) => (/^".*"$/s.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text),
  },
  url: { escape: percentEncode, unescape: percentDecode },
  javascript: {
    escape: (text) =>
      text.replace(/[\\"'/]/g, '\\$&').replace(/[\0-\x1f\x7f-\uffff]/g, (character) => SCRIPT[character] ?? `\\u${hex(character, 4)}`),
    unescape: (text) =>
      text.replace(/\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([^]))/g, (_, u?: string, x?: string, letter = '') => {
        const code = u ?? x;
        if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
        return Object.keys(SCRIPT).find((key) => SCRIPT[key] === `\\${letter}`) ?? letter;
      }),
  },
};

function entities(text: string, named: ReadonlyMap<string, string>): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(\w+));/g, (whole, decimal?: string, hexadecimal?: string, name = '') => {
    const code = decimal ?? hexadecimal;
    if (code === undefined) return named.get(name) ?? whole;
    const point = Number.parseInt(code, decimal === undefined ? 16 : 10);
    return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? whole : String.fromCodePoint(point);
  });
}

function percentEncode(text: string): string {
  return fromBytes(encodeUriPart(toBytes(text)));
}

function percentDecode(text: string): string {
  return fromBytes(toBytes(text).replace(/%([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))));
}

function modeOf(name: string): (typeof MODES)[string] {
  const mode = Object.hasOwn(MODES, name.toLowerCase()) ? MODES[name.toLowerCase()] : undefined;
  if (mode === undefined)
    throw new DataError(`${excerpt(name)} is not a mode of escaping`, `Expected one of ${Object.keys(MODES).join(', ')}.`);
  return mode;
}

const mode = checked(grel.mode, modeOf);

/** Scheme, host and path, as they are written; RFC 3986, appendix B. */
const ADDRESS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** Media types by the end of a file name: those of IDLab, and those of the formats that Quadmill reads and writes. */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    csv: 'text/csv',
    tsv: 'text/tab-separated-values',
    json: 'application/json',
    jsonl: 'application/jsonl',
    jsonld: 'application/ld+json',
    xml: 'application/xml',
    rdf: 'application/rdf+xml',
    nt: 'application/n-triples',
    ttl: 'text/turtle',
    trig: 'application/trig',
    nq: 'application/n-quads',
    sql: 'application/sql',
  }),
);

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export const ESCAPE: readonly FunctionDefinition[] = [
  define({
    names: ['grel:escape', 'grel:string_escape'],
    does: 'Escaped for `mode`: `html`, `xml`, `csv`, `url` or `javascript`.',
    takes: [grel.value, mode],
    gives: gives.grelString,
    fails: true,
    call: (value, mode) => modeOf(mode).escape(value),
    examples: [
      [['A&B', 'html'], 'A&amp;B'],
      [["<a b='é'>", 'xml'], '&lt;a b=&apos;é&apos;&gt;'],
      [['a "b"', 'csv'], '"a ""b"""'],
      [['a b/é', 'url'], 'a%20b%2F%C3%A9'],
      [['a\n"é"', 'javascript'], 'a\\n\\"\\u00E9\\"'],
      [['a', 'yaml'], { fails: '"yaml" is not a mode' }],
    ],
  }),
  define({
    names: ['grel:string_unescape', 'grel:unescape'],
    does: 'The inverse of `grel:escape`. `html` knows the named entities of HTML 4 and `&apos;`, `xml` those of XML; others stay as they are.',
    takes: [grel.value, mode],
    gives: gives.grelString,
    fails: true,
    call: (value, mode) => modeOf(mode).unescape(value),
    examples: [
      [['A&amp;B &#233;&#x1F600;&unknown;', 'html'], 'A&B é😀&unknown;'],
      [['caf&eacute;&nbsp;&ndash; 5&thinsp;&euro; &Omega;&yuml;', 'html'], 'café\u00a0– 5\u2009€ Ωÿ'],
      [['&lt;caf&eacute;&gt;', 'xml'], '<caf&eacute;>'],
      [['"a ""b"""', 'csv'], 'a "b"'],
      [['a%20%C3%A9', 'url'], 'a é'],
      [['a\\n\\u00e9\\x41', 'javascript'], 'a\néA'],
    ],
  }),
  define({
    names: ['idlab-fn:toUpperCaseURL', 'grel:toUpperCaseURL'],
    does: 'The text in upper case, with `http://` before it unless it begins with that, or with `https://`.',
    takes: [idlab.str],
    gives: { ...gives.idlabString, aliases: [...gives.idlabString.aliases, ...[gives.grelString.iri, ...gives.grelString.aliases]] },
    call: (text) => (/^https?:\/\//i.test(text) ? text.toUpperCase() : `http://${text.toUpperCase()}`),
    examples: [
      [['www.example.com'], 'http://WWW.EXAMPLE.COM'],
      [['http://example.com/venus'], 'HTTP://EXAMPLE.COM/VENUS'],
      [['https://a.b'], 'HTTPS://A.B'],
    ],
  }),
  define({
    names: ['qm:encodeIri'],
    does: 'Percent-encoded as the values of a template of IRIs are: letters, digits and `-._~` stay, also beyond ASCII.',
    takes: [qm.value],
    gives: gives.string,
    on: 'bytes',
    call: encodeIriPart,
    examples: [
      [['a b/é'], 'a%20b%2Fé'],
      [[''], ''],
    ],
  }),
  define({
    names: ['qm:encodeUri'],
    does: 'Percent-encoded: ASCII letters, digits and `-._~` stay.',
    takes: [qm.value],
    gives: gives.string,
    on: 'bytes',
    call: encodeUriPart,
    examples: [
      [['a b/é'], 'a%20b%2F%C3%A9'],
      [['😀'], '%F0%9F%98%80'],
    ],
  }),
  define({
    names: ['qm:decodeUri'],
    does: 'Percent-encoded bytes decoded as UTF-8. What is not well-formed becomes U+FFFD.',
    takes: [qm.value],
    gives: gives.string,
    call: percentDecode,
    examples: [
      [['a%20%C3%A9'], 'a é'],
      [['100%'], '100%'],
      [['%FF'], '\ufffd'],
    ],
  }),
  define({
    names: ['qm:parseUrl'],
    does: 'The parts of an address: scheme, host (with port and user), path, query, fragment. Parts that are not there are without value.',
    takes: [qm.value],
    gives: [gives.named('scheme'), gives.named('host'), gives.named('path'), gives.named('query'), gives.named('fragment')],
    call: (value) => ADDRESS.exec(value)?.slice(1) ?? [],
    examples: [
      [['https://example.org/a/b?c=d#e'], 'https'],
      [['https://example.org/a/b?c=d#e'], 'example.org', 'host'],
      [['https://example.org/a/b?c=d#e'], '/a/b', 'path'],
      [['https://example.org/é'], '/é', 'path'],
      [['https://example.org/a'], null, 'query'],
      [['https://example.org/a#e'], 'e', 'fragment'],
      [['a/b'], null],
      [[null], null, 'path'],
    ],
  }),
  define({
    names: ['fns:parseURL'],
    does: 'The protocol, the domain and the path of an address `protocol://domain/path`. Without a domain there is none of them.',
    takes: [fns.text],
    gives: [gives.fnsProtocol, gives.fnsDomain, gives.fnsText],
    call: (text) => /^([^:/]+):\/\/([^/]*)\/?(.*)$/su.exec(text)?.slice(1) ?? [],
    examples: [
      [['https://example.org/a/b'], 'https'],
      [['https://example.org/a/b'], 'example.org', 'domain'],
      [['https://example.org/a/b'], 'a/b', 'text'],
      [['https://example.org'], '', 'text'],
      [['example.org/a'], null],
    ],
  }),
  define({
    names: ['fns:schema'],
    does: 'The text with `https://schema.org/` before it.',
    takes: [fns.text],
    gives: gives.fnsText,
    call: (text) => `https://schema.org/${text}`,
    examples: [[['name'], 'https://schema.org/name']],
  }),
  define({
    names: ['idlab-fn:getMIMEType'],
    does: 'The media type for the end of a file name; no result if it is not known. No file is read.',
    takes: [idlab.str],
    gives: gives.idlabString,
    on: 'bytes',
    call: (name) => (name.includes('.') ? MEDIA_TYPES.get(name.slice(name.lastIndexOf('.') + 1)) : null),
    examples: [
      [['student.csv'], 'text/csv'],
      [['a.b.ttl'], 'text/turtle'],
      [['a.unknown'], null],
      [['csv'], null],
    ],
  }),
  define({
    names: ['qm:encodeBase64'],
    does: 'The UTF-8 bytes of the text in Base64.',
    takes: [qm.value],
    gives: gives.string,
    on: 'bytes',
    call: (bytes) => {
      let text = '';
      for (let i = 0; i < bytes.length; i += 3) {
        const [a, b, c] = [bytes.charCodeAt(i), bytes.charCodeAt(i + 1), bytes.charCodeAt(i + 2)] as const;
        const rest = bytes.length - i;
        const three = (a << 16) | ((rest > 1 ? b : 0) << 8) | (rest > 2 ? c : 0);
        text += BASE64.charAt(three >> 18) + BASE64.charAt((three >> 12) & 63);
        text += (rest > 1 ? BASE64.charAt((three >> 6) & 63) : '=') + (rest > 2 ? BASE64.charAt(three & 63) : '=');
      }
      return text;
    },
    examples: [
      [['Venus'], 'VmVudXM='],
      [['é'], 'w6k='],
      [['abc'], 'YWJj'],
      [[''], ''],
    ],
  }),
  define({
    names: ['qm:decodeBase64'],
    does: 'Base64 decoded to bytes, which are read as UTF-8; what is not well-formed becomes U+FFFD. White space is skipped.',
    takes: [qm.value],
    gives: gives.string,
    fails: true,
    call: (text) => {
      const digits = text
        .replace(/\s+/g, '')
        .replace(/={1,2}$/, '')
        .replaceAll('-', '+')
        .replaceAll('_', '/');
      if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1) throw new DataError(`${excerpt(text)} is not Base64`);
      let bytes = '';
      let bits = 0;
      let count = 0;
      for (const digit of digits) {
        bits = ((bits << 6) | BASE64.indexOf(digit)) & 0xffff;
        count += 6;
        if (count >= 8) {
          count -= 8;
          bytes += String.fromCharCode((bits >> count) & 255);
        }
      }
      return fromBytes(bytes);
    },
    examples: [
      [['VmVudXM='], 'Venus'],
      [['w6k'], 'é'],
      [['!'], { fails: 'is not Base64' }],
    ],
  }),
];
