/** A graph of a mapping → readable Turtle: prefixes, nested blank nodes, nodes and properties in the order of the graph. */
import { XSD } from '../../core/value.ts';
import type { Statement } from '../model/graph.ts';
import { nodeId } from '../model/graph.ts';
import type { RdfTerm } from '../model/model.ts';

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

export interface Node {
  readonly term: RdfTerm;
  readonly statements: readonly Pick<Statement, 'property' | 'object'>[];
  /** Lines above it, without `#`. */
  readonly comments: readonly string[];
}

/** What stands in brackets is written on one line of at most so many characters. */
const LINE = 100;

/** The IRI that names of nodes are relative to. */
export interface Base {
  readonly iri: string;
  /** Whether the document says so itself; otherwise every reader gives the same. */
  readonly isDeclared: boolean;
}

/**
 * @param prefixes prefix → namespace; only those that are used are declared, and of several for one namespace the last
 * @param base undefined: names are absolute
 */
export function writeTurtle(
  nodes: readonly Node[],
  prefixes: ReadonlyMap<string, string>,
  { heading, base }: { readonly heading: readonly string[]; readonly base: Base | undefined },
): string {
  const writer = new TurtleWriter(nodes, prefixes, base);
  const blocks = nodes.filter((node) => !writer.isNested(node)).map((node) => writer.block(node));
  const declared = [...prefixes].filter(([prefix]) => writer.used.has(prefix)).map(([prefix, iri]) => `@prefix ${prefix}: <${iri}> .`);
  if (base?.isDeclared === true && writer.usesBase) declared.push(`@base <${base.iri}> .`);
  return `${[...commentLines(heading), ...declared].join('\n')}\n\n${blocks.join('\n\n')}\n`;
}

/** Pieces of a graph as Turtle, to be put into a text that stands. */
export interface TurtlePieces {
  /** An object: what only it leads to stands in brackets, whose lines after the first begin with `indent`. */
  object(term: RdfTerm, indent: string): string;
  /** A node with all its properties, to the dot. */
  block(node: Node): string;
  iri(iri: string): string;
}

/** @param prefixes those that the text declares: no others are used */
export function turtlePieces(nodes: readonly Node[], prefixes: ReadonlyMap<string, string>, base: Base | undefined): TurtlePieces {
  return new TurtleWriter(nodes, prefixes, base);
}

const commentLines = (comments: readonly string[]): readonly string[] => comments.map((line) => `#${line}`);

class TurtleWriter implements TurtlePieces {
  readonly used = new Set<string>();
  usesBase = false;
  readonly #base: string | undefined;
  readonly #prefixes: readonly (readonly [string, string])[];
  readonly #byId = new Map<string, Node>();
  /** How many statements lead to a blank node. */
  readonly #uses = new Map<string, number>();
  readonly #circular = new Set<string>();

  constructor(nodes: readonly Node[], prefixes: ReadonlyMap<string, string>, base: Base | undefined) {
    this.#base = base?.iri;
    // The longest namespace gives the shortest name.
    this.#prefixes = [...prefixes].reverse().sort(([, a], [, b]) => b.length - a.length);
    for (const node of nodes) {
      this.#byId.set(nodeId(node.term) as string, node);
      for (const { object } of node.statements) {
        if (object.kind === 'blank') this.#uses.set(object.value, (this.#uses.get(object.value) ?? 0) + 1);
      }
    }
    this.#findCircles(nodes);
  }

  /** Blank nodes that lead back to themselves cannot stand in brackets. */
  #findCircles(nodes: readonly Node[]): void {
    const reached = new Set<Node>();
    const reach = (node: Node): void => {
      if (reached.has(node)) return;
      reached.add(node);
      for (const { object } of node.statements) {
        const next = object.kind === 'blank' ? this.#byId.get(`_:${object.value}`) : undefined;
        if (next !== undefined) reach(next);
      }
    };
    for (const node of nodes) if (!this.isNested(node)) reach(node);
    for (const node of nodes) {
      if (reached.has(node)) continue;
      this.#circular.add(node.term.value);
      reach(node);
    }
  }

  isNested({ term }: Node): boolean {
    return term.kind === 'blank' && this.#uses.get(term.value) === 1 && !this.#circular.has(term.value);
  }

  block(node: Node): string {
    const { term } = node;
    const isAnonymous = term.kind === 'blank' && !this.#uses.has(term.value);
    const subject = isAnonymous ? '[]' : this.#term(term);
    return [...commentLines(node.comments), `${subject} ${this.#properties(node, '  ').join(' ;\n  ')} .`].join('\n');
  }

  /** Each property with its objects, or with one of them. */
  #properties({ statements }: Node, indent: string): readonly string[] {
    const byProperty = new Map<string, RdfTerm[]>();
    for (const { property, object } of statements) byProperty.set(property, [...(byProperty.get(property) ?? []), object]);
    return [...byProperty].flatMap(([property, objects]) => {
      const name = property === `${RDF}type` ? 'a' : this.iri(property);
      const written = objects.map((object) => `${this.#commentsOf(object, indent)}${name} ${this.object(object, indent)}`);
      const [first = '', ...others] = written;
      const short = [first, ...others.map((one) => one.slice(name.length + 1))].join(', ');
      // Each on separate lines, as people write predicate object maps.
      return written.some((one) => one.includes('\n')) || short.length > LINE ? written : [short];
    });
  }

  /** The lines above a node in brackets, or above a list. */
  #commentsOf(object: RdfTerm, indent: string): string {
    return commentLines(this.#inBrackets(object))
      .map((line) => `${line}\n${indent}`)
      .join('');
  }

  #inBrackets(object: RdfTerm): readonly string[] {
    const node = object.kind === 'blank' ? this.#byId.get(`_:${object.value}`) : undefined;
    if (node === undefined || !this.isNested(node)) return [];
    const isList = this.#list(node) !== undefined;
    return [...node.comments, ...(isList ? node.statements.flatMap((part) => this.#inBrackets(part.object)) : [])];
  }

  object(object: RdfTerm, indent: string): string {
    const node = object.kind === 'blank' ? this.#byId.get(`_:${object.value}`) : undefined;
    if (node === undefined || !this.isNested(node)) return object.kind === 'blank' && node === undefined ? '[]' : this.#term(object);
    const items = this.#list(node);
    if (items !== undefined) return `( ${items.map((item) => this.object(item, indent)).join(' ')} )`;
    if (node.statements.length === 0) return '[]';
    const inner = `${indent}  `;
    const properties = this.#properties(node, inner);
    const short = properties.join(' ; ');
    if (!short.includes('\n') && short.length <= LINE) return `[ ${short} ]`;
    return `[\n${inner}${properties.join(` ;\n${inner}`)}\n${indent}]`;
  }

  /** The items of a well-formed list. */
  #list(start: Node): readonly RdfTerm[] | undefined {
    const items: RdfTerm[] = [];
    for (let node: Node | undefined = start; node !== undefined; ) {
      const parts: Node['statements'] = [...node.statements].sort((a, b) => (a.property < b.property ? -1 : 1));
      const [first, rest, ...others] = parts;
      if (first?.property !== `${RDF}first` || rest?.property !== `${RDF}rest` || others.length > 0) return undefined;
      items.push(first.object);
      const object: RdfTerm = rest.object;
      if (object.kind === 'iri' && object.value === `${RDF}nil`) return items;
      node = object.kind === 'blank' ? this.#byId.get(`_:${object.value}`) : undefined;
      if (node !== undefined && !this.isNested(node)) return undefined;
    }
    return undefined;
  }

  #term(term: RdfTerm): string {
    switch (term.kind) {
      case 'iri':
        return this.iri(term.value);
      case 'blank':
        return `_:${term.value}`;
      case 'literal':
        if (term.language !== undefined) return `${quoted(term.value)}@${term.language}`;
        return term.datatype === `${XSD}string` ? quoted(term.value) : `${quoted(term.value)}^^${this.iri(term.datatype)}`;
    }
  }

  /** `#Person`, or `Person` below a directory. Names of the data stay absolute. */
  #relative(iri: string): string | undefined {
    const base = this.#base?.replace(/#.*$/s, '');
    if (base === undefined || !iri.startsWith(base)) return undefined;
    const relative = iri.slice(base.length);
    if (!/^#[\w-]*$/.test(relative) && !(base.endsWith('/') && /^[\w-]+$/.test(relative))) return undefined;
    this.usesBase = true;
    return relative;
  }

  iri(iri: string): string {
    for (const [prefix, namespace] of this.#prefixes) {
      const local = iri.slice(namespace.length);
      if (!iri.startsWith(namespace) || !/^[A-Za-z_][\w-]*$/.test(local)) continue;
      this.used.add(prefix);
      return `${prefix}:${local}`;
    }
    const relative = this.#byId.has(iri) ? this.#relative(iri) : undefined;
    if (relative !== undefined) return `<${relative}>`;
    return `<${iri.replace(/[\x00-\x20<>"{}|^`\\]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)}>`;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  if (text.includes('\n') && !/["\\\r]/.test(text)) return `"""${text}"""`;
  return `"${text.replace(/["\\\n\r\t]/g, (found) => ESCAPES[found] as string)}"`;
}
