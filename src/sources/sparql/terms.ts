/** RDF terms of SPARQL results → values. Texts are UTF-8 in one-byte strings. */
import { excerpt, Fault, type FaultPlace } from '../../core/fault.ts';
import { findNotInIri, fromBytes, toBytes } from '../../core/text.ts';
import { TypedValue, type Value, XSD } from '../../core/value.ts';

/**
 * The value of a literal with a datatype, in the form that the endpoint gives it.
 *
 * @throws Fault record/term — the datatype is no IRI that can be written
 */
export function literalOf(text: string, datatype: string, place: FaultPlace): Value {
  if (datatype === `${XSD}string`) return text;
  if (datatype === '' || findNotInIri(datatype) >= 0)
    throw new Fault('record/term', 'The datatype of a literal is no IRI', { place: { ...place, value: excerpt(fromBytes(datatype)) } });
  return new TypedValue(text, datatype);
}

const LITERAL = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')(?:@[A-Za-z0-9-]+|\^\^<([^>]*)>)?$/s;
const LONG_LITERAL = /^("""|''')(.*)\1(?:@[A-Za-z0-9-]+|\^\^<([^>]*)>)?$/s;
/** Numbers and booleans may be written without quotes. The first pattern that fits gives the datatype. */
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^[+-]?[0-9]+$/, `${XSD}integer`],
  [/^[+-]?[0-9]*\.[0-9]+$/, `${XSD}decimal`],
  [/^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+$/, `${XSD}double`],
  [/^(?:true|false)$/, `${XSD}boolean`],
];

/**
 * A term in the syntax of Turtle, as TSV results have it.
 *
 * @throws Fault record/term — it is no such term, or a quoted triple
 * @see https://www.w3.org/TR/sparql11-results-csv-tsv/#tsv-terms
 */
export function parseTerm(written: string, place: FaultPlace): Value {
  if (written.startsWith('<') && written.endsWith('>') && !written.startsWith('<<')) return unescaped(written.slice(1, -1));
  if (written.startsWith('_:')) return written.slice(2);
  const long = LONG_LITERAL.exec(written);
  if (long !== null) return ofDatatype(long[2] as string, long[3], place);
  const literal = LITERAL.exec(written);
  if (literal !== null) return ofDatatype((literal[1] ?? literal[2]) as string, literal[3], place);
  const bare = BARE.find(([pattern]) => pattern.test(written));
  if (bare !== undefined) return new TypedValue(written, bare[1]);
  throw new Fault('record/term', 'A cell is no RDF term of SPARQL results in TSV', {
    place: { ...place, value: excerpt(fromBytes(written)) },
  });
}

const ofDatatype = (text: string, datatype: string | undefined, place: FaultPlace): Value =>
  datatype === undefined ? unescaped(text) : literalOf(unescaped(text), unescaped(datatype), place);

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', '"': '"', "'": "'", '\\': '\\' };

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs, (all, short, long, letter) => {
    const code = short ?? long;
    if (code === undefined) return ESCAPES[letter] ?? all;
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? all : toBytes(String.fromCodePoint(point));
  });
}
