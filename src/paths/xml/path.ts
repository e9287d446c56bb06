// The subset of XPath that is read without a library: paths of child steps, with a few predicates.
//
// /orders/order   //line   /a/*/p:b[@c='d'][2]   customer/name   @id   tag/text()   .   ../../@id
//
// `parsePath` returns undefined for everything else, valid or not: that is for the XPath engine. Names stay as written here; a source binds
// them to the names of its document.
import { toBytes } from '../../core/text.ts';

export interface Path {
  readonly absolute: boolean;
  /** Leading `..` steps. */
  readonly ups: number;
  readonly steps: readonly Step[];
  readonly target: Target;
}

export interface Step {
  /** The step follows `//`. */
  readonly descendant: boolean;
  readonly name: NamePattern;
  readonly predicates: readonly Predicate[];
}

export type Target = { readonly kind: 'element' } | { readonly kind: 'text' } | { readonly kind: 'attribute'; readonly name: NamePattern };

/** `undefined` means any: `*` has neither, `p:*` has a prefix, `*:name` has none, `name` has the empty one. */
export interface NamePattern {
  readonly prefix: string | undefined;
  readonly local: string | undefined;
  /** An attribute name, to which no default namespace applies. */
  readonly ofAttribute?: true;
}

export type Predicate =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'attribute'; readonly name: NamePattern; readonly value: string | undefined };

const NC_NAME = '[\\p{L}_][\\p{L}\\p{M}\\p{N}_.\\-·]*';
/** Made when it is first asked for: its classes are long lists of ranges, and the modules of a run of other formats load it too. */
let tokenPattern: RegExp | undefined;
const openTokens = (): RegExp => {
  tokenPattern ??= new RegExp(
    `[ \\t\\r\\n]*(?:(//|/|::|\\.\\.|\\.|@|\\[|\\]|=|\\*(?!:)|\\(|\\))|("[^"]*"|'[^']*')|([0-9]+)(?![\\p{L}_.0-9])|((?:(?:${NC_NAME}|\\*)?:)?(?:${NC_NAME}|\\*(?<=[^*]:\\*))))`,
    'uy',
  );
  tokenPattern.lastIndex = 0;
  return tokenPattern;
};

/**
 * The expression with `*:name` for each `:name`, by which other engines mean a name in the document's default namespace. It is no XPath: the
 * mapping's reader refuses it, but in legacy RML. The readers of documents take both for the same.
 */
export const withAnyNamespace = (expression: string): string =>
  expression.includes(':') ? expression.replace(COLON, (found) => (found === ':' ? '*:' : found)) : expression;

/** A colon without a prefix. Comments and texts match first. */
const COLON = /\(:[^]*?:\)|"[^"]*"|'[^']*'|(?<![\p{L}\p{M}\p{N}_.\-·:*]):(?=[\p{L}_*])/gu;

/** The expression as a path, or undefined if it is anything else. `:name` is read as `*:name`. */
export function parsePath(expression: string): Path | undefined {
  const tokens = tokenize(expression);
  if (tokens === undefined || tokens.length === 0) return undefined;
  const parser = new PathParser(tokens);
  return parser.path();
}

/** Made when it is first asked for, as above. */
let callPattern: RegExp | undefined;
/** They look like functions. */
const KIND_TEST = /^(?:attribute|comment|document-node|element|item|node|processing-instruction|schema-attribute|schema-element|text)$/;
/** Functions to which a path that finds nothing says something. */
const OF_ABSENCE = /^(?:\w+:)?(?:boolean|count|empty|exists|not)$/;
/** Texts and comments match first. */
const CALL_SIGNS = /"[^"]*"|'[^']*'|\(:[^]*?:\)|[,()[\]{}]/g;

/**
 * The arguments of a call of a function, and of calls among them, that are paths of `parsePath`. Empty for what is no call, and for functions that
 * ask whether there is something.
 */
export function pathsInCall(expression: string): readonly string[] {
  callPattern ??= new RegExp(`^\\s*((?:${NC_NAME}:)?${NC_NAME})\\s*\\(([^]*)\\)\\s*$`, 'u');
  const [, name, inner] = callPattern.exec(expression) ?? [];
  if (name === undefined || inner === undefined || KIND_TEST.test(name) || OF_ABSENCE.test(name)) return [];
  const written: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: sign, index } of inner.matchAll(CALL_SIGNS)) {
    if (sign === ',' && depth === 0) {
      written.push(inner.slice(from, index));
      from = index + 1;
    } else if ('([{'.includes(sign)) depth++;
    else if (')]}'.includes(sign) && --depth < 0) return [];
  }
  written.push(inner.slice(from));
  return written.flatMap((one) => (parsePath(one) === undefined ? pathsInCall(one) : [one.trim()]));
}

interface Token {
  readonly kind: 'sign' | 'string' | 'number' | 'name';
  readonly text: string;
}

function tokenize(expression: string): Token[] | undefined {
  const text = expression.replace(/[ \t\r\n]+$/, '');
  const tokens: Token[] = [];
  const next = openTokens();
  while (next.lastIndex < text.length) {
    const found = next.exec(text);
    if (found === null) return undefined;
    if (found[1] !== undefined) tokens.push({ kind: 'sign', text: found[1] });
    else if (found[2] !== undefined) tokens.push({ kind: 'string', text: found[2].slice(1, -1) });
    else if (found[3] !== undefined) tokens.push({ kind: 'number', text: found[3] });
    else tokens.push({ kind: 'name', text: found[4] as string });
  }
  return tokens;
}

class PathParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  path(): Path | undefined {
    let absolute = false;
    let descendant = false;
    if (this.#sign('//')) absolute = descendant = true;
    else if (this.#sign('/')) {
      absolute = true;
      if (this.#at === this.#tokens.length) return { absolute, ups: 0, steps: [], target: { kind: 'element' } };
    }
    const steps: Step[] = [];
    let ups = 0;
    let target: Target = { kind: 'element' };
    let ended = false;
    while (!ended) {
      if (this.#sign('..')) {
        if (absolute || descendant || steps.length > 0) return undefined;
        ups++;
      } else if (this.#sign('.')) {
        // `.//name` is supported here; `//.` is not.
        if (descendant) return undefined;
      } else {
        const attribute = this.#sign('@') || this.#axis('attribute');
        if (!attribute) this.#axis('child');
        const name = this.#name(attribute);
        if (name === undefined) return undefined;
        if (this.#sign('(')) {
          if (name.prefix !== '' || name.local !== 'text' || attribute || descendant || !this.#sign(')')) return undefined;
          target = { kind: 'text' };
          ended = true;
        } else if (attribute) {
          if (descendant) return undefined;
          target = { kind: 'attribute', name };
          ended = true;
        } else {
          const predicates = this.#predicates();
          if (predicates === undefined) return undefined;
          steps.push({ descendant, name, predicates });
        }
      }
      if (this.#at === this.#tokens.length) return { absolute, ups, steps, target };
      if (this.#sign('//')) descendant = true;
      else if (this.#sign('/')) descendant = false;
      else return undefined;
    }
    return undefined;
  }

  #predicates(): Predicate[] | undefined {
    const predicates: Predicate[] = [];
    while (this.#sign('[')) {
      const token = this.#tokens[this.#at];
      if (token?.kind === 'number') {
        this.#at++;
        predicates.push({ kind: 'position', position: Number(token.text) });
      } else {
        if (!this.#sign('@')) return undefined;
        const name = this.#name(true);
        if (name === undefined) return undefined;
        let value: string | undefined;
        if (this.#sign('=')) {
          const literal = this.#tokens[this.#at++];
          if (literal?.kind !== 'string') return undefined;
          value = toBytes(literal.text);
        }
        predicates.push({ kind: 'attribute', name, value });
      }
      if (!this.#sign(']')) return undefined;
    }
    return predicates;
  }

  #name(ofAttribute: boolean): NamePattern | undefined {
    if (this.#sign('*')) return { prefix: undefined, local: undefined };
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'name') return undefined;
    this.#at++;
    const colon = token.text.indexOf(':');
    if (colon < 0) return { prefix: '', local: token.text, ...(ofAttribute ? { ofAttribute } : {}) };
    const [prefix, local] = [token.text.slice(0, colon), token.text.slice(colon + 1)].map((part) =>
      part === '*' || part === '' ? undefined : part,
    );
    return { prefix, local };
  }

  #sign(text: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'sign' || token.text !== text) return false;
    this.#at++;
    return true;
  }

  #axis(name: string): boolean {
    const [first, second] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]];
    if (first?.kind !== 'name' || first.text !== name || second?.text !== '::') return false;
    this.#at += 2;
    return true;
  }
}
