/** Are two RDF documents the same dataset, up to the names of blank nodes? Graph names count; order and duplicates do not. */
import { DataFactory, Parser, type Quad, type Quad_Object } from 'n3';
import { isomorphic } from 'rdf-isomorphic';
import { XSD } from '../../src/core/value.ts';
import { withoutQuoted } from '../support/quoted-triples.ts';

export interface Document {
  readonly text: string;
  readonly mediaType: string;
  readonly baseIri: string;
}

/** Why they differ, in a line; undefined when they do not. `actual` is N-Quads. */
export function difference(given: Document, wanted: Document): string | undefined {
  const [actual, expected] = [given, wanted].map(plain) as [Document, Document];
  return differenceOfPlain(actual, expected);
}

/** Parsers do not know the quoted triples of RDF-star. */
const plain = (document: Document): Document =>
  /n-(quads|triples)$/.test(document.mediaType) ? { ...document, text: withoutQuoted(document.text) } : document;

function differenceOfPlain(actual: Document, expected: Document): string | undefined {
  const wanted = parse(expected);
  if (wanted === undefined) return differenceOfLines(actual.text, expected.text);
  const given = parse(actual);
  if (given === undefined) return `the output is not ${actual.mediaType}: ${syntaxErrorOf(actual)}`;
  return differenceOfQuads(given, wanted);
}

/** The same for documents that were read. */
export function differenceOfQuads(actual: readonly Quad[], expected: readonly Quad[]): string | undefined {
  const [given, wanted] = [actual.map(withComparable), expected.map(withComparable)];
  if (isomorphic(given, wanted)) return undefined;
  const shownGiven = new Set(given.map(show));
  const shownWanted = new Set(wanted.map(show));
  const parts = [
    part('missing', [...shownWanted].filter((quad) => !shownGiven.has(quad)).sort()),
    part('unexpected', [...shownGiven].filter((quad) => !shownWanted.has(quad)).sort()),
  ].filter((text) => text !== undefined);
  return parts.length > 0 ? parts.join('; ') : 'blank nodes are connected in another way';
}

/** undefined: not of its media type. */
function parse(document: Document): Quad[] | undefined {
  try {
    return parserFor(document).parse(document.text);
  } catch {
    return undefined;
  }
}

const parserFor = ({ mediaType, baseIri }: Document): Parser => new Parser({ format: mediaType, baseIRI: baseIri, blankNodePrefix: '' });

function syntaxErrorOf(document: Document): string {
  try {
    parserFor(document).parse(document.text);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const withComparable = ({ subject, predicate, object, graph }: Quad): Quad =>
  DataFactory.quad(subject, predicate, comparable(object), graph);

const DOUBLE = `${XSD}double`;

/** Doubles by value, since suites disagree about `30.0` and `3.0E1`; what is no number stays as it is. */
function comparable(object: Quad_Object): Quad_Object {
  if (object.termType !== 'Literal' || object.datatype.value !== DOUBLE || object.value.trim() === '') return object;
  const value = Number(object.value);
  return Number.isNaN(value) ? object : DataFactory.literal(String(value), object.datatype);
}

/** Lines with blank nodes all alike: for saying what differs, not for deciding. */
function show(quad: Quad): string {
  const terms = [quad.subject, quad.predicate, quad.object, quad.graph];
  return terms
    .filter((term) => term.termType !== 'DefaultGraph')
    .map((term) => (term.termType === 'BlankNode' ? '_:' : term.termType === 'NamedNode' ? `<${term.value}>` : showOther(term)))
    .join(' ');
}

function showOther(term: Quad['object'] | Quad['graph']): string {
  if (term.termType !== 'Literal') return term.value;
  const kind = term.language !== '' ? `@${term.language}` : term.datatype.value === `${XSD}string` ? '' : `^^<${term.datatype.value}>`;
  return `${JSON.stringify(term.value)}${kind}`;
}

function part(word: string, quads: readonly string[]): string | undefined {
  return quads.length === 0 ? undefined : `${quads.length} ${word}, for example ${quads[0]}`;
}

/** For what no strict parser reads, such as IRIs with spaces. Blank nodes must have the same labels then. */
function differenceOfLines(actual: string, expected: string): string | undefined {
  const [given, wanted] = [linesOf(actual), linesOf(expected)];
  const parts = [
    part(
      'missing',
      [...wanted].filter((line) => !given.has(line)),
    ),
    part(
      'unexpected',
      [...given].filter((line) => !wanted.has(line)),
    ),
  ].filter((text) => text !== undefined);
  return parts.length > 0 ? parts.join('; ') : undefined;
}

const linesOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split('\n')
      .map((line) => line.trim().replace(/\s*\.$/, ''))
      .filter((line) => line !== '' && !line.startsWith('#')),
  );
