/** A text of Turtle taken apart: its statements and nodes, each with its range. What is no Turtle of mappings gives nothing. */
import type { RdfTerm } from '../../../../src/mapping/model/model.ts';
import type { Anchor } from '../../document.ts';
import { type Token, tokensOf } from '../places.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const XSD = 'http://www.w3.org/2001/XMLSchema#';

export type TreeObject = Anchor &
  ({ readonly kind: 'term'; readonly term: RdfTerm } | { readonly kind: 'node'; readonly node: TreeNode } | { readonly kind: 'list' });

/** A property with its objects, from its verb to the end of the last object. */
export interface TreeProperty extends Anchor {
  readonly iri: string;
  readonly verb: Anchor;
  readonly objects: readonly TreeObject[];
}

export interface TreeNode {
  readonly properties: readonly TreeProperty[];
}

/** From the subject to the dot. */
export interface TreeStatement extends Anchor {
  /** undefined: a node in brackets. */
  readonly subject: RdfTerm | undefined;
  readonly node: TreeNode;
}

/** The declaration of a prefix, to its dot if it has one. */
export interface TreePrefix extends Anchor {
  readonly name: string;
  readonly iri: string;
}

export interface TurtleTree {
  readonly prefixes: readonly TreePrefix[];
  readonly statements: readonly TreeStatement[];
  /** Tokens that are names with a prefix: `ex:Order`. */
  readonly names: readonly (Anchor & { readonly prefix: string })[];
}

class NoTurtle extends Error {}

/** @param base what relative IRIs are relative to. @returns undefined: it is no Turtle, or uses what mappings do not */
export function turtleTree(text: string, base: string): TurtleTree | undefined {
  try {
    return new Reader(text, base).read();
  } catch (error) {
    if (error instanceof NoTurtle) return undefined;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #base: string;
  #at = 0;
  readonly #prefixes: TreePrefix[] = [];
  readonly #statements: TreeStatement[] = [];
  readonly #names: (Anchor & { readonly prefix: string })[] = [];
  readonly #namespaces = new Map<string, string>();

  constructor(text: string, base: string) {
    this.#text = text;
    this.#base = base;
    this.#tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  }

  read(): TurtleTree {
    while (this.#at < this.#tokens.length) if (!this.#directive()) this.#statement();
    return { prefixes: this.#prefixes, statements: this.#statements, names: this.#names };
  }

  #peek(ahead = 0): string | undefined {
    const token = this.#tokens[this.#at + ahead];
    return token && this.#text.slice(token.from, token.to);
  }

  #take(wanted?: string): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined || (wanted !== undefined && this.#peek() !== wanted)) throw new NoTurtle();
    this.#at++;
    return token;
  }

  #directive(): boolean {
    const found = /^(@?)(prefix|base)$/i.exec(this.#peek() ?? '');
    if (found === null) return false;
    const start = this.#take();
    const name = found[2]?.toLowerCase() === 'prefix' ? this.#tokenText(this.#take()) : undefined;
    const token = this.#take();
    const iri = this.#iri(this.#tokenText(token));
    const end = found[1] === '@' ? this.#take('.') : token;
    if (iri === undefined || name?.endsWith(':') === false) throw new NoTurtle();
    if (name === undefined) this.#base = iri;
    else {
      this.#namespaces.set(name.slice(0, -1), iri);
      this.#prefixes.push({ name: name.slice(0, -1), iri, from: start.from, to: end.to });
    }
    return true;
  }

  #statement(): void {
    const { from } = this.#tokens[this.#at] as Token;
    const inBrackets = this.#peek() === '[';
    const object = this.#object();
    const own = object.kind === 'node' ? object.node.properties : [];
    if (object.kind === 'list' || (object.kind === 'term' && object.term.kind === 'literal')) throw new NoTurtle();
    const node = { properties: [...own, ...(inBrackets && this.#peek() === '.' ? [] : this.#properties('.'))] };
    const { to } = this.#take('.');
    this.#statements.push({ subject: object.kind === 'term' ? object.term : undefined, node, from, to });
  }

  /** To the closing token, which is left. */
  #properties(end: string): readonly TreeProperty[] {
    const properties: TreeProperty[] = [];
    while (this.#peek() !== end) {
      if (this.#peek() === ';') {
        this.#take();
        continue;
      }
      const verb = this.#take();
      const written = this.#tokenText(verb);
      const iri = written === 'a' ? RDF_TYPE : this.#named(verb);
      if (iri === undefined) throw new NoTurtle();
      const objects = [this.#object()];
      while (this.#peek() === ',') {
        this.#take();
        objects.push(this.#object());
      }
      properties.push({ iri, verb, objects, from: verb.from, to: (objects.at(-1) as TreeObject).to });
      if (this.#peek() !== ';' && this.#peek() !== end) throw new NoTurtle();
    }
    return properties;
  }

  #object(): TreeObject {
    const token = this.#take();
    const { from } = token;
    switch (this.#tokenText(token)) {
      case '[': {
        const properties = this.#properties(']');
        return { kind: 'node', node: { properties }, from, to: this.#take(']').to };
      }
      case '(': {
        while (this.#peek() !== ')') this.#object();
        return { kind: 'list', from, to: this.#take(')').to };
      }
      default:
        return this.#term(token);
    }
  }

  #term(token: Token): TreeObject {
    const { from, to } = token;
    const written = this.#tokenText(token);
    if (/^["']/.test(written)) return this.#literal(token);
    if (written.startsWith('_:')) return { kind: 'term', term: { kind: 'blank', value: written.slice(2) }, from, to };
    const shorthand = shorthandOf(written);
    if (shorthand !== undefined) return { kind: 'term', term: typed(written, shorthand), from, to };
    const iri = this.#named(token);
    if (iri === undefined) throw new NoTurtle();
    return { kind: 'term', term: { kind: 'iri', value: iri }, from, to };
  }

  #literal(token: Token): TreeObject {
    const value = unescaped(this.#tokenText(token).replace(/^("""|'''|"|')(.*)\1$/s, '$2'));
    const { from, to } = token;
    const next = this.#tokens[this.#at];
    const tag = next?.from === to ? this.#tokenText(next) : '';
    if (tag.startsWith('@')) return { kind: 'term', term: tagged(value, tag.slice(1)), from, to: this.#take().to };
    if (!tag.startsWith('^^')) return { kind: 'term', term: typed(value, 'string'), from, to };
    const marker = this.#take();
    const type = tag === '^^' ? this.#take() : { ...marker, from: marker.from + 2 };
    const datatype = this.#named(type);
    if (datatype === undefined) throw new NoTurtle();
    return { kind: 'term', term: { kind: 'literal', value, datatype, language: undefined }, from, to: type.to };
  }

  /** The IRI that a token names. */
  #named(token: Anchor): string | undefined {
    const written = this.#tokenText(token);
    if (written.startsWith('<')) return this.#iri(written);
    const colon = written.indexOf(':');
    const prefix = written.slice(0, Math.max(0, colon));
    const namespace = this.#namespaces.get(prefix);
    if (colon < 0 || namespace === undefined) return undefined;
    this.#names.push({ prefix, from: token.from, to: token.to });
    return namespace + written.slice(colon + 1).replace(/\\(.)/g, '$1');
  }

  #iri(written: string): string | undefined {
    const found = /^<(.*)>$/s.exec(written);
    if (found === null) return undefined;
    const reference = unescaped(found[1] as string);
    if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) return reference;
    return URL.canParse(reference, this.#base) ? new URL(reference, this.#base).href : this.#base + reference;
  }

  #tokenText({ from, to }: Anchor): string {
    return this.#text.slice(from, to);
  }
}

const typed = (value: string, type: string): RdfTerm => ({ kind: 'literal', value, datatype: `${XSD}${type}`, language: undefined });

const tagged = (value: string, language: string): RdfTerm => ({
  kind: 'literal',
  value,
  datatype: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString',
  language,
});

/** The datatype of a literal without quotes. */
function shorthandOf(written: string): string | undefined {
  if (/^[+-]?\d+$/.test(written)) return 'integer';
  if (/^[+-]?\d*\.\d+$/.test(written)) return 'decimal';
  if (/^[+-]?(\d+\.?\d*|\.\d+)e[+-]?\d+$/i.test(written)) return 'double';
  return written === 'true' || written === 'false' ? 'boolean' : undefined;
}

const CHARACTERS: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };

const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs, (_, short?: string, long?: string, one?: string) =>
    one === undefined ? String.fromCodePoint(Number.parseInt((short ?? long) as string, 16)) : (CHARACTERS[one] ?? one),
  );
