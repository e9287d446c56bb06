/** IRIs that a person writes. */
import { findNotInIri, hasScheme } from '../../../src/core/text.ts';

/** Whether the text is an absolute IRI. */
export const isAbsoluteIri = (text: string): boolean => hasScheme(text) && findNotInIri(text) < 0;

/** The first text that is no absolute IRI. */
export const notAbsolute = (iris: readonly string[]): string | undefined => iris.find((iri) => !isAbsoluteIri(iri));

/** Where new IRIs begin: the base of the document, as something that a name can follow. */
export const iriBase = (base = 'https://example.org/'): string => (/[/#:]$/.test(base) ? base : `${base}/`);
