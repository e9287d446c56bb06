/** Statements about classes and properties → a list of them. */

export const TERM_KINDS = ['class', 'property', 'object-property', 'datatype-property', 'annotation-property'] as const;
export type TermKind = (typeof TERM_KINDS)[number];

export interface Text {
  readonly text: string;
  readonly language?: string;
}

export interface OntologyTerm {
  readonly iri: string;
  readonly kind: TermKind;
  readonly labels: readonly Text[];
  /** The beginning of it: in English or without a language, where there is one. */
  readonly comment?: Text;
  /** Of a property, and of its unions each member. */
  readonly domain: readonly string[];
  readonly range: readonly string[];
  /** Of a class: those that have a name. */
  readonly subClassOf: readonly string[];
}

/** A node: `_:` and a name, or an IRI. */
type Node = string;

export type Value =
  | { readonly kind: 'node'; readonly node: Node }
  | { readonly kind: 'literal'; readonly text: string; readonly language: string };

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const RDFS = 'http://www.w3.org/2000/01/rdf-schema#';
const OWL = 'http://www.w3.org/2002/07/owl#';
const SKOS = 'http://www.w3.org/2004/02/skos/core#';

const KINDS: ReadonlyMap<string, TermKind> = new Map([
  ...[`${OWL}Class`, `${OWL}DeprecatedClass`, `${RDFS}Class`].map((iri) => [iri, 'class'] as const),
  ...[`${RDF}Property`, `${OWL}FunctionalProperty`, `${OWL}DeprecatedProperty`].map((iri) => [iri, 'property'] as const),
  ...['Object', 'InverseFunctional', 'Transitive', 'Symmetric', 'Asymmetric', 'Reflexive', 'Irreflexive'].map(
    (name) => [`${OWL}${name}Property`, 'object-property'] as const,
  ),
  [`${OWL}DatatypeProperty`, 'datatype-property'],
  [`${OWL}AnnotationProperty`, 'annotation-property'],
  [`${OWL}OntologyProperty`, 'annotation-property'],
]);

type Part = 'type' | 'label' | 'comment' | 'domain' | 'range' | 'subClassOf' | 'subPropertyOf' | 'unionOf' | 'first' | 'rest';

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  [`${RDF}type`, 'type'],
  [`${RDF}first`, 'first'],
  [`${RDF}rest`, 'rest'],
  [`${RDFS}label`, 'label'],
  [`${SKOS}prefLabel`, 'label'],
  [`${RDFS}comment`, 'comment'],
  [`${SKOS}definition`, 'comment'],
  ['http://purl.org/dc/terms/description', 'comment'],
  [`${RDFS}domain`, 'domain'],
  [`${RDFS}range`, 'range'],
  ['http://schema.org/domainIncludes', 'domain'],
  ['https://schema.org/domainIncludes', 'domain'],
  ['http://schema.org/rangeIncludes', 'range'],
  ['https://schema.org/rangeIncludes', 'range'],
  [`${RDFS}subClassOf`, 'subClassOf'],
  [`${RDFS}subPropertyOf`, 'subPropertyOf'],
  [`${OWL}unionOf`, 'unionOf'],
]);

/** Whether statements with this predicate say anything about terms. */
export const isAboutTerms = (predicate: string): boolean => PARTS.has(predicate);

const COMMENT_CHARACTERS = 300;
const LABEL_CHARACTERS = 200;
const MOST_LABELS = 20;
const MOST_CLASSES = 20;
/** What may stand in no IRI. */
const NO_IRI = /[\s<>"{}|\\^`]/;
/** No real IRI is longer. With a prefix it takes a few characters of the document, but is held as a whole here. */
const IRI_CHARACTERS = 2_000;

interface Facts {
  kind: TermKind | undefined;
  /** It is used as one, whatever it says that it is. */
  isClass: boolean;
  isProperty: boolean;
  readonly labels: Text[];
  comment: Text | undefined;
  readonly domain: Node[];
  readonly range: Node[];
  readonly subClassOf: Node[];
  /** A list. */
  union: Node | undefined;
  first: Node | undefined;
  rest: Node | undefined;
}

/** Takes the statements of a document in any order. */
export class TermCollector {
  readonly #facts = new Map<Node, Facts>();

  add(subject: Node, predicate: string, value: Value): void {
    const part = PARTS.get(predicate);
    if (part === undefined || subject.length > IRI_CHARACTERS) return;
    if (value.kind === 'node' && value.node.length > IRI_CHARACTERS) return;
    const facts = this.#of(subject);
    if (value.kind === 'literal') {
      if (part === 'label') addLabel(facts, textOf(value, LABEL_CHARACTERS));
      if (part === 'comment') facts.comment = better(facts.comment, textOf(value, COMMENT_CHARACTERS));
      return;
    }
    const { node } = value;
    switch (part) {
      case 'type':
        addKind(facts, KINDS.get(node));
        break;
      case 'domain':
      case 'range':
        facts.isProperty = true;
        addTo(facts[part], node);
        break;
      case 'subClassOf':
        facts.isClass = true;
        addTo(facts.subClassOf, node);
        break;
      case 'subPropertyOf':
        facts.isProperty = true;
        break;
      case 'unionOf':
        facts.union = node;
        break;
      case 'first':
      case 'rest':
        facts[part] = node;
    }
  }

  /** Those with an IRI, in the order in which the document first says something about them. */
  *terms(): Iterable<OntologyTerm> {
    for (const [iri, facts] of this.#facts) {
      if (isBlank(iri) || NO_IRI.test(iri)) continue;
      const kind = facts.kind ?? (facts.isClass ? 'class' : facts.isProperty ? 'property' : undefined);
      if (kind === undefined) continue;
      yield {
        iri,
        kind,
        labels: facts.labels,
        ...(facts.comment !== undefined && { comment: facts.comment }),
        domain: this.#classesOf(facts.domain),
        range: this.#classesOf(facts.range),
        subClassOf: facts.subClassOf.filter((node) => !isBlank(node)),
      };
    }
  }

  #of(subject: Node): Facts {
    const found = this.#facts.get(subject);
    if (found !== undefined) return found;
    const facts: Facts = {
      kind: undefined,
      isClass: false,
      isProperty: false,
      labels: [],
      comment: undefined,
      domain: [],
      range: [],
      subClassOf: [],
      union: undefined,
      first: undefined,
      rest: undefined,
    };
    this.#facts.set(subject, facts);
    return facts;
  }

  #classesOf(nodes: readonly Node[]): readonly string[] {
    return [...new Set(nodes.flatMap((node) => (isBlank(node) ? this.#membersOf(node) : [node])))].slice(0, MOST_CLASSES);
  }

  /** Of a union, those with an IRI. A list may lead back to itself. */
  #membersOf(node: Node): readonly string[] {
    const members: string[] = [];
    let list = this.#facts.get(node)?.union;
    for (let i = 0; i < MOST_CLASSES && list !== undefined; i++) {
      const cell = this.#facts.get(list);
      if (cell?.first !== undefined && !isBlank(cell.first)) members.push(cell.first);
      list = cell?.rest;
    }
    return members;
  }
}

const isBlank = (node: Node): boolean => node.startsWith('_:');

/** The kind that says more. A term that is a class and a property counts as what is said first. */
function addKind(facts: Facts, kind: TermKind | undefined): void {
  if (kind === undefined) return;
  if (facts.kind === undefined || (facts.kind === 'property' && kind !== 'class')) facts.kind = kind;
}

function addLabel({ labels }: Facts, label: Text): void {
  const isThere = labels.some(({ text, language }) => text === label.text && language === label.language);
  if (label.text !== '' && !isThere && labels.length < MOST_LABELS) labels.push(label);
}

function addTo(nodes: Node[], node: Node): void {
  if (nodes.length < MOST_CLASSES && (isBlank(node) || !NO_IRI.test(node)) && !nodes.includes(node)) nodes.push(node);
}

function textOf({ text, language }: Extract<Value, { kind: 'literal' }>, characters: number): Text {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  // A cut may leave half of a character.
  const beginning = line.slice(0, characters - 1).replace(/\p{Surrogate}$/u, '');
  const shown = line.length > characters ? `${beginning.trimEnd()}…` : line;
  return { text: shown, ...(language !== '' && { language }) };
}

const isForAll = ({ language }: Text): boolean => language === undefined || /^en\b/i.test(language);

function better(one: Text | undefined, other: Text): Text | undefined {
  if (other.text === '') return one;
  return one === undefined || (!isForAll(one) && isForAll(other)) ? other : one;
}
