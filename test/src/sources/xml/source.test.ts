import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import type { IterationRequest, Scan, XmlOptions } from '../../../../src/sources/source.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

const directory = mkdtempSync(join(tmpdir(), 'xml-source-'));
afterAll(() => rmSync(directory, { recursive: true }));

const READING: XmlOptions = {
  format: 'xml',
  name: 'in.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 2 ** 20,
};
const request = (iterator: string, ...references: string[]): IterationRequest => ({ iterator, references, origin: 'm.ttl:1:1' });
const never = new AbortController().signal;

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const open = (document: string | Uint8Array, iterations: readonly IterationRequest[], reading: Partial<XmlOptions> = {}): Promise<Scan> =>
  openXml(one(typeof document === 'string' ? Buffer.from(document) : document), iterations, { ...READING, ...reading });

async function values(
  document: string | Uint8Array,
  iterator: string,
  reference: string,
  reading: Partial<XmlOptions> = {},
): Promise<unknown[]> {
  const scan = await open(document, [request(iterator, reference)], reading);
  const reader = scan.accessor(0, reference);
  const found: unknown[] = [];
  for await (const batch of scan.batches(never)) {
    for (const record of batch.records) {
      const value = reader(record);
      found.push(typeof value === 'string' ? fromBytes(value) : value);
    }
  }
  return found;
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

describe('the encoding', () => {
  const text = (declaration: string) => `${declaration}<r><a>é€😀</a></r>`;
  const latin = (declaration: string) => Buffer.from(`${declaration}<r><a>é</a></r>`, 'latin1');
  const big = (document: string) => Buffer.from(document, 'utf16le').swap16();

  test.each<[name: string, bytes: Uint8Array, declared: string | undefined, expected: string]>([
    ['UTF-8 by default', Buffer.from(text('')), undefined, 'é€😀'],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text('<?xml version="1.0"?>')}`), undefined, 'é€😀'],
    ['UTF-16 with a mark', Buffer.from(`\ufeff${text('<?xml version="1.0" encoding="UTF-16"?>')}`, 'utf16le'), undefined, 'é€😀'],
    ['UTF-16 without a mark, little end first', Buffer.from(text('<?xml version="1.0"?>'), 'utf16le'), undefined, 'é€😀'],
    ['UTF-16 without a mark, big end first', big(text('<?xml version="1.0"?>')), undefined, 'é€😀'],
    ['by the XML declaration', latin('<?xml version="1.0" encoding="ISO-8859-1"?>'), undefined, 'é'],
    ['by the XML declaration, other quotes', latin("<?xml version='1.0'\n  encoding = 'windows-1252' ?>"), undefined, 'é'],
    ['by the mapping, against the XML declaration', latin('<?xml version="1.0" encoding="UTF-8"?>'), 'iso-8859-1', 'é'],
  ])('is known: %s', async (_, bytes, declared, expected) => {
    expect(await values(bytes, '/r', 'a', { encoding: declared })).toEqual([expected]);
  });

  test('that does not hold is a fault', async () => {
    expect((await faultOf(values(latin(''), '/r', 'a'))).code).toBe('source/encoding');
    expect((await faultOf(values(latin('<?xml version="1.0" encoding="x-absent"?>'), '/r', 'a'))).code).toBe('source/encoding');
  });
});

describe('batches', () => {
  const many = (count: number) => `<r>${Array.from({ length: count }, (_, i) => `<a n="${i}"><b/></a>`).join('')}</r>`;

  test('hold some hundred neighbours and know their first position', async () => {
    const scan = await open(many(5000), [request('/r/a', '@n'), request('/r/a/b')]);
    const reader = scan.accessor(0, '@n');
    const seen = [0, 0];
    for await (const batch of scan.batches(never)) {
      expect(batch.records.length).toBeLessThanOrEqual(512);
      expect(batch.first).toBe(seen[batch.iteration]);
      if (batch.iteration === 0) {
        expect(batch.records.map((record) => reader(record))).toEqual(batch.records.map((_, i) => String(batch.first + i)));
      }
      seen[batch.iteration] = batch.first + batch.records.length;
    }
    expect(seen).toEqual([5000, 5000]);
  });

  test('end with run/cancelled soon after the signal, and close the bytes', async () => {
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('<r>');
        while (true) yield Buffer.from('<a n="1"/>'.repeat(1000));
      } finally {
        closed = true;
      }
    }
    const controller = new AbortController();
    const scan = await openXml(endless(), [request('/r/a', '@n')], READING);
    let batches = 0;
    const fault = await faultOf(
      (async () => {
        for await (const batch of scan.batches(controller.signal)) if (batch.records.length > 0 && ++batches === 3) controller.abort();
      })(),
    );
    expect([fault.code, closed]).toEqual(['run/cancelled', true]);
    expect(batches).toBeLessThan(10);
  });

  test('count the bytes of the document as it is stored', async () => {
    const bytes = Buffer.from('<r><a/></r>', 'utf16le');
    const scan = await open(bytes, [request('/r/a')]);
    for await (const batch of scan.batches(never)) expect(batch.bytes).toBe(bytes.length);
  });

  test('close the bytes where the document is refused at once', async () => {
    let closed = false;
    async function* broken(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('no XML');
        yield Buffer.from('at all');
      } finally {
        closed = true;
      }
    }
    expect((await faultOf(openXml(broken(), [request('/r')], READING))).code).toBe('source/malformed');
    expect(closed).toBe(true);
  });
});

describe('limits', () => {
  test('a record may keep so many bytes', async () => {
    const document = `<r><a/><a><b>${'x'.repeat(3000)}</b></a></r>`;
    const fault = await faultOf(values(document, '/r/a', '.', { maxRecordBytes: 2000 }));
    expect([fault.code, fault.place]).toEqual(['limit/exceeded', { input: 'in.xml', record: 1 }]);
    expect(await values(document, '/r/a', '.', { maxRecordBytes: 4000 })).toHaveLength(2);
  });

  test('what no reference asks for is not kept', async () => {
    const document = `<r v="1">${'<a>text</a>'.repeat(10_000)}<b>2</b></r>`;
    expect(await values(document, '/', 'b', { maxRecordBytes: 1000 })).toEqual(['2']);
    expect(await values(document, '/r', 'b/text()', { maxRecordBytes: 1000 })).toEqual(['2']);
  });

  test('entities of the document expand, others do not', async () => {
    const laughs = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>';
    expect(await values(`${laughs}<r>&b;</r>`, '/r', '.')).toEqual(['haha']);
    expect((await faultOf(values(`${laughs}<r>&c;</r>`, '/r', '.'))).code).toBe('source/malformed');
  });

  test.each<[reference: string]>([['.'], ['.//b'], ['//b'], ['count(.//b)'], ['string(.)']])(
    'depth costs no call stack for %s',
    async (reference) => {
      const levels = 9_990;
      const document = `<r>${'<a>'.repeat(levels)}<b>x</b>${'</a>'.repeat(levels)}</r>`;
      const found = await values(document, '/r', reference).catch((error: Fault) => error.code);
      expect(['limit/exceeded', 'x', '1']).toContain(Array.isArray(found) ? found[0] : found);
      if (!/\(/.test(reference)) expect(found).toEqual(['x']);
    },
  );
});

describe('expressions that are wrong', () => {
  test.each<[iterator: string, reference: string, message: RegExp]>([
    ['/r/[', '.', /not valid/],
    ['/r', 'a[', /not valid/],
    ['/r', 'absent(1)', /not valid/],
    ['count(//a)', '.', /does not give nodes/],
  ])('%s and %s are refused', async (iterator, reference, message) => {
    const fault = await faultOf(values('<r><a/></r>', iterator, reference));
    expect(fault.code).toBe('mapping/reference');
    expect(fault.message).toMatch(message);
  });

  test('a record that makes an expression fail is named by its expression', async () => {
    const fault = await faultOf(values('<r><a>x</a></r>', '/r', 'xs:integer(a)'));
    expect([fault.code, fault.place.expression]).toEqual(['record/term', 'xs:integer(a)']);
  });

  test.each(["tokenize(a, 'x.')", 'parse-json(\'["\\ud83d"]\')?1'])(
    '%s, which cuts a character into halves, is reported',
    async (reference) => {
      const fault = await faultOf(values('<r><a>x😀y</a></r>', '/r', reference));
      expect(fault).toMatchObject({ code: 'record/term', message: expect.stringContaining('surrogate'), place: { expression: reference } });
    },
  );
});
