/**
 * Documents → one graph in which every statement knows its place.
 *
 * n3 creates a term while it consumes the term's token, so a data factory that looks at the current token gives each term its position. A
 * statement has the position of its object (for `[ … ]`, of the bracket).
 */
import { XSD } from '../../core/value.ts';
import type { CustomFunctions } from '../../functions/definition.ts';
import { type Described, type Graph, type GraphNode, nodeId, type Statement } from '../model/graph.ts';
import { hasYarrrmlEnding } from '../model/language.ts';
import type { Origin, RdfTerm } from '../model/model.ts';
import { acceptBlanks } from '../turtle/accepted.ts';
import { Parser } from '../turtle/parser.ts';
import { syntaxFinding, type Token } from '../turtle/syntax.ts';
import type { Prefixes } from '../vocabulary/near-namespaces.ts';
import { type Repetition, renameNamesakes, withoutRepetitions } from './namesakes.ts';

export interface Document {
  /** The name under which the user knows the document. */
  readonly name: string;
  /** Turtle, or YARRRML where the name says so; a byte order mark is ignored. */
  readonly text: string;
}

/** Whether a document is YARRRML, by its name. */
export const isYarrrml = ({ name }: Pick<Document, 'name'>): boolean => hasYarrrmlEnding(name);

export interface ReadOptions {
  /** Base for relative IRIs in documents without `@base`. */
  readonly baseIri: string;
  /**
   * The documents are independent, like the files of a directory: where they contradict each other, one name means a different node in
   * each.
   */
  readonly separate?: boolean;
  /** Functions that mappings may call beside the built-in ones, which they win over. */
  readonly functions?: CustomFunctions | undefined;
}

/** Why a document is not valid Turtle. */
export interface SyntaxFinding {
  readonly origin: Origin;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Unique over the documents of a reading: in front of the labels of blank nodes. */
export const scopeOf = (index: number): string => `d${index}`;

/**
 * Parses documents into one graph. An IRI that several documents describe is one node; blank nodes of different documents are different.
 *
 * A document that is not valid Turtle contributes only its finding, because the parser stops at the first error.
 *
 * @param translated statements of the documents that are not Turtle
 * @returns `accepted`: what is not Turtle, and was read as what is meant
 */
export function parseDocuments(
  documents: readonly Document[],
  { baseIri, separate = false }: ReadOptions,
  translated: ReadonlyMap<Document, readonly Described[]> = new Map(),
): { graph: Graph; findings: SyntaxFinding[]; accepted: SyntaxFinding[]; repetitions: readonly Repetition[]; prefixes: Prefixes } {
  const prefixes = new Map<string, DeclaredPrefixes>();
  const accepted: SyntaxFinding[] = [];
  const parsed: (readonly Described[])[] = [];
  const findings: SyntaxFinding[] = [];
  documents.forEach((document, index) => {
    const known = translated.get(document);
    if (known !== undefined) {
      parsed.push(known);
      return;
    }
    const text = withoutMark(document);
    const parse = (of: string): readonly Described[] | SyntaxFinding => {
      const declared: DeclaredPrefixes = new Map();
      prefixes.set(document.name, declared);
      try {
        return parseTurtle(of, document.name, scopeOf(index), baseIri, declared).flatMap(described);
      } catch (error) {
        return syntaxFinding(error, document.name, of);
      }
    };
    const first = parse(text);
    const mended = 'message' in first ? acceptBlanks(text, document.name) : undefined;
    accepted.push(...(mended?.slips ?? []));
    const last = mended === undefined ? first : parse(mended.text);
    if ('message' in last) findings.push(last);
    else parsed.push(last);
  });
  const { documents: kept, repetitions } = withoutRepetitions(separate ? renameNamesakes(parsed) : parsed);
  return { graph: graphOf(kept.flat()), findings, accepted, repetitions, prefixes };
}

export function graphOf(statements: readonly Described[]): Graph {
  const graph = new Map<string, GrowingNode>();
  for (const one of statements) add(graph, one);
  return graph;
}

/** The text without its byte order mark. */
export const withoutMark = ({ text }: Document): string => text.replace(/^\ufeff/, '');

interface GrowingNode extends GraphNode {
  readonly statements: Statement[];
  readonly seen: Set<string>;
}

interface Triple {
  readonly subject: PlacedTerm | Triple;
  readonly predicate: PlacedTerm;
  readonly object: PlacedTerm | Triple;
}

/** Converts a triple to a statement; none for a triple term of Turtle 1.2, which no mapping language uses. */
function described({ subject, predicate, object }: Triple): readonly Described[] {
  if (!('term' in subject) || !('term' in object)) return [];
  const subjectOrigin = subject.origin ?? predicate.origin;
  const origin = object.origin ?? predicate.origin ?? subjectOrigin;
  if (origin === undefined || subjectOrigin === undefined) return [];
  const statement = { property: predicate.term.value, object: object.term, origin, propertyOrigin: predicate.origin ?? origin };
  return [{ subject: subject.term, subjectOrigin, statement }];
}

function add(graph: Map<string, GrowingNode>, { subject, subjectOrigin, statement }: Described): void {
  const id = nodeId(subject);
  if (id === undefined) return;
  let node = graph.get(id);
  if (node === undefined) {
    node = { id, origin: subjectOrigin, statements: [], seen: new Set() };
    graph.set(id, node);
  }
  const key = `${statement.property} ${JSON.stringify(statement.object)}`;
  if (node.seen.has(key)) return;
  node.seen.add(key);
  node.statements.push(statement);
}

type DeclaredPrefixes = Map<string, { readonly iri: string; readonly origin: Origin | undefined }>;

/** What the data factory below creates for a token; n3 uses only `termType`, `value` and `id`. */
interface PlacedTerm {
  readonly termType: string;
  readonly value: string;
  readonly id: string;
  readonly term: RdfTerm;
  readonly origin: Origin | undefined;
}

/**
 * The triples of one Turtle document. The whole document is parsed before the first triple is returned.
 *
 * @param prefixes gets those that the document declares
 * @throws Error of n3, with its `context`; `syntaxFinding` interprets it
 */
function parseTurtle(text: string, document: string, scope: string, baseIri: string, prefixes: DeclaredPrefixes): Triple[] {
  let token: Token | undefined;
  let literalToken: Token | undefined;
  const labels = new Map<string, string>();
  let anonymous = 0;

  const at = (where: Token | undefined): Origin | undefined =>
    where === undefined ? undefined : { document, line: where.line, column: where.start + 1 };
  const place = (termType: string, term: RdfTerm, origin: Origin | undefined): PlacedTerm => ({
    termType,
    value: term.value,
    id: term.value,
    term,
    origin,
  });

  const factory = {
    namedNode: (value: string) => place('NamedNode', { kind: 'iri', value }, at(token)),
    blankNode(name?: string) {
      let label = name === undefined ? undefined : labels.get(name);
      if (label === undefined) {
        label = `${scope}b${anonymous++}`;
        if (name !== undefined) labels.set(name, label);
      }
      return place('BlankNode', { kind: 'blank', value: label }, at(token));
    },
    /** A literal is complete only after the next token has been read, so its position was saved. */
    literal(value: string, tag?: string | { language: string } | PlacedTerm) {
      const language = typeof tag === 'string' ? tag : tag !== undefined && 'language' in tag ? tag.language : undefined;
      const datatype = tag !== undefined && typeof tag !== 'string' && 'value' in tag ? tag.value : undefined;
      const term: RdfTerm = {
        kind: 'literal',
        value,
        datatype: language !== undefined ? RDF_LANG_STRING : (datatype ?? `${XSD}string`),
        language,
      };
      return place('Literal', term, at(literalToken));
    },
    variable: (value: string) => place('Variable', { kind: 'blank', value }, at(token)),
    defaultGraph: () => place('DefaultGraph', { kind: 'iri', value: '' }, undefined),
    quad: (subject: PlacedTerm | Triple, predicate: PlacedTerm, object: PlacedTerm | Triple): Triple & { id: string } => ({
      subject,
      predicate,
      object,
      id: '',
    }),
  };

  // The published types lack two documented features of n3: a custom term factory and the `onToken` callback.
  const parser = new Parser({ format: 'text/turtle', baseIRI: baseIri, blankNodePrefix: 'b', factory: factory as never });
  const parse = parser.parse.bind(parser) as unknown as (
    input: string,
    callbacks: { onToken(next: Token): void; onPrefix(prefix: string, namespace: PlacedTerm): void },
  ) => Triple[];
  return parse(text, {
    onToken(next) {
      token = next;
      if (next.type === 'literal') literalToken = next;
    },
    onPrefix: (prefix, { value, origin }) => prefixes.set(prefix, { iri: value, origin }),
  });
}

const RDF_LANG_STRING = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString';
