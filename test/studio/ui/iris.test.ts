/** IRIs as a person writes and reads them. */
import { describe, expect, test } from '@jest/globals';
import { shortIri, writtenIri } from '../../../studio/ui/store/iris.ts';
import { model } from '../core/support/model.ts';

const document = model([{ kind: 'prefix', id: 'p', name: 'shop', iri: 'https://shop.example/' }]);

describe('an IRI', () => {
  test.each([
    ['shop:Order', 'https://shop.example/Order'],
    ['schema:name', 'http://schema.org/name'],
    ['<https://a.example/b>', 'https://a.example/b'],
    ['https://a.example/b', 'https://a.example/b'],
    ['urn:isbn:123', 'urn:isbn:123'],
    ['contains', 'https://example.org/contains'],
    ['unit price', 'https://example.org/unit_price'],
  ])('is written as %s', (written, iri) => expect(writtenIri(document, written)).toBe(iri));

  test.each(['', '  ', 'nowhere:Order', 'a/b', 'https://a b'])('is not made of "%s"', (written) =>
    expect(writtenIri(document, written)).toBeUndefined(),
  );

  test.each([
    ['https://shop.example/Order', 'shop:Order'],
    ['https://example.org/contains', 'contains'],
    ['https://example.org/a/b', 'https://example.org/a/b'],
  ])('%s is read as %s', (iri, short) => expect(shortIri(document, iri)).toBe(short));
});
