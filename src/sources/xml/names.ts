/**
 * The names of an XML document, each created once: validated, split, bound to its namespace, numbered.
 *
 * A scanner sees the same few names millions of times; one lookup in the scope of the open element returns everything about a name. Text is
 * UTF-8 in one-byte strings, as everywhere.
 */
import { detach, fromBytes } from '../../core/text.ts';

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/** Maximum number of distinct names in a document; more is an attack, or data used as markup. */
const MAX_NAMES = 200_000;
/** Number of child scopes that a scope caches, for children that repeatedly declare the same namespaces. */
const MAX_REMEMBERED = 64;

/** @see https://www.w3.org/TR/xml/#NT-NameStartChar, without the colon */
const START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}\\u{2070}-\\u{218F}' +
  '\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NC_NAME = `[${START}][${START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}]*`;
const NAME = new RegExp(`^${NC_NAME}$`, 'u');
const QUALIFIED_NAME = new RegExp(`^(?:(${NC_NAME}):)?(${NC_NAME})$`, 'u');

/** True for a name without colon, given as bytes: the target of a processing instruction, an entity. */
export const isName = (bytes: string): boolean => NAME.test(fromBytes(bytes));

/** A qualified name with its namespace. Names with equal `id` are equal in XPath; `serial` also distinguishes prefixes. */
export class Name {
  readonly raw: string;
  readonly prefix: string;
  readonly local: string;
  /** Empty string: no namespace. */
  readonly uri: string;
  readonly id: number;
  readonly serial: number;
  /** `raw` as bytes, for comparison with the document. */
  readonly bytes: Uint8Array;

  constructor(raw: string, prefix: string, local: string, uri: string, id: number, serial: number) {
    this.raw = raw;
    this.prefix = prefix;
    this.local = local;
    this.uri = uri;
    this.id = id;
    this.serial = serial;
    this.bytes = new Uint8Array(Buffer.from(raw, 'latin1'));
  }
}

/** Hash of the bytes of a name; the scanner computes it while it searches for the name's end. */
export const hashStep = (hash: number, byte: number): number => (hash * 31 + byte) | 0;

const QUICK = 256;

/** A problem with a name or a namespace declaration, as a message. The scanner adds the position. */
export class NameError extends Error {
  readonly limit: boolean;

  constructor(message: string, limit = false) {
    super(message);
    this.limit = limit;
  }
}

/** Numbers for expanded names, shared by expressions and the document. */
export class NameTable {
  readonly #ids = new Map<string, number>();
  readonly #serials = new Map<string, number>();
  readonly #seen: { readonly local: string; readonly uri: string; readonly prefix: string }[] = [];

  id(uri: string, local: string): number {
    return number(this.#ids, `${uri}\n${local}`);
  }

  name(raw: string, prefix: string, local: string, uri: string): Name {
    const serial = number(this.#serials, `${uri}\n${raw}`);
    if (serial === this.#seen.length) {
      if (serial >= MAX_NAMES) throw new NameError(`The document has more than ${MAX_NAMES} different names`, true);
      this.#seen.push({ local, uri, prefix });
    }
    return new Name(raw, prefix, local, uri, this.id(uri, local), serial);
  }

  /** Expanded names that the document has so far, elements and attributes, in order of appearance. */
  get seen(): readonly { readonly local: string; readonly uri: string; readonly prefix: string }[] {
    return this.#seen;
  }
}

function number(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  const next = numbers.size;
  numbers.set(key, next);
  return next;
}

/** The namespace declarations in force at an element, and the names seen under them. Shared by all descendants without declarations. */
export class Scope {
  readonly #table: NameTable;
  readonly #prefixes: ReadonlyMap<string, string>;
  readonly #elements = new Map<string, Name>();
  readonly #attributes = new Map<string, Name>();
  /** By the low bits of the hash, the name seen last: most lookups need neither a string nor a map. */
  readonly #quickElements = new Array<Name | undefined>(QUICK).fill(undefined);
  readonly #quickAttributes = new Array<Name | undefined>(QUICK).fill(undefined);
  readonly #remembered = new Map<string, Scope>();

  constructor(table: NameTable, prefixes?: ReadonlyMap<string, string>) {
    this.#table = table;
    this.#prefixes = prefixes ?? new Map([['xml', XML_NAMESPACE]]);
  }

  /** Prefix → IRI; the empty prefix is the default namespace. */
  get prefixes(): ReadonlyMap<string, string> {
    return this.#prefixes;
  }

  /**
   * The element name at a position of the text, which is also given as bytes.
   *
   * @throws NameError — not a name, or its prefix is not declared
   */
  element(bytes: Uint8Array, text: string, from: number, to: number, hash: number): Name {
    const slot = hash & (QUICK - 1);
    const quick = this.#quickElements[slot];
    if (quick !== undefined && isAt(quick.bytes, bytes, from, to)) return quick;
    const raw = detach(text.slice(from, to));
    let name = this.#elements.get(raw);
    if (name === undefined) {
      name = this.#resolve(raw, this.#prefixes.get('') ?? '');
      this.#elements.set(raw, name);
    }
    this.#quickElements[slot] = name;
    return name;
  }

  /** The same, if the name was the last one seen of its hash; else undefined. */
  seenElement(bytes: Uint8Array, from: number, to: number, hash: number): Name | undefined {
    const quick = this.#quickElements[hash & (QUICK - 1)];
    return quick !== undefined && isAt(quick.bytes, bytes, from, to) ? quick : undefined;
  }

  /** The same for an attribute, to which the default namespace does not apply. */
  attribute(bytes: Uint8Array, text: string, from: number, to: number, hash: number): Name {
    const slot = hash & (QUICK - 1);
    const quick = this.#quickAttributes[slot];
    if (quick !== undefined && isAt(quick.bytes, bytes, from, to)) return quick;
    const name = this.attributeNamed(detach(text.slice(from, to)));
    this.#quickAttributes[slot] = name;
    return name;
  }

  /** The same for an attribute that stands in no tag. */
  attributeNamed(raw: string): Name {
    let name = this.#attributes.get(raw);
    if (name === undefined) {
      name = this.#resolve(raw, '');
      this.#attributes.set(raw, name);
    }
    return name;
  }

  /**
   * The scope of a child with namespace declarations: pairs of attribute name (`xmlns`, `xmlns:p`) and IRI.
   *
   * @throws NameError @see https://www.w3.org/TR/xml-names/#xmlReserved
   */
  child(declarations: readonly (readonly [name: string, uri: string])[]): Scope {
    const key = declarations.map(([name, uri]) => `${name} ${uri}`).join('\n');
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const prefixes = new Map(this.#prefixes);
    for (const [name, uri] of declarations) {
      const prefix = name.slice(6);
      if (prefix === '' && name !== 'xmlns') throw new NameError(`${shown(name)} is not a valid name`);
      if (prefix === 'xmlns') throw new NameError('The prefix xmlns cannot be declared');
      if (uri === XMLNS_NAMESPACE) throw new NameError(`The namespace ${XMLNS_NAMESPACE} cannot be declared`);
      if ((prefix === 'xml') !== (uri === XML_NAMESPACE))
        throw new NameError(`The prefix xml and the namespace ${XML_NAMESPACE} belong together`);
      if (prefix !== '' && uri === '') throw new NameError(`The prefix ${shown(prefix)} is declared as empty`);
      if (prefix !== '' && !isName(prefix)) throw new NameError(`${shown(name)} is not a valid name`);
      if (uri === '') prefixes.delete(prefix);
      else prefixes.set(detach(prefix), detach(uri));
    }
    const scope = new Scope(this.#table, prefixes);
    if (this.#remembered.size < MAX_REMEMBERED) this.#remembered.set(key, scope);
    return scope;
  }

  #resolve(raw: string, defaultUri: string): Name {
    const parts = QUALIFIED_NAME.exec(fromBytes(raw));
    if (parts === null) throw new NameError(`${shown(raw)} is not a valid name`);
    if (parts[1] === undefined) return this.#table.name(raw, '', raw, defaultUri);
    const colon = raw.indexOf(':');
    const prefix = raw.slice(0, colon);
    const uri = this.#prefixes.get(prefix);
    if (uri === undefined) throw new NameError(`The prefix of ${shown(raw)} is not declared`);
    return this.#table.name(raw, prefix, raw.slice(colon + 1), uri);
  }
}

/** True if the bytes from `from` to `to` equal those of the name. */
function isAt(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (name.length !== to - from) return false;
  for (let i = 0; i < name.length; i++) if (name[i] !== bytes[from + i]) return false;
  return true;
}

const shown = (bytes: string): string => JSON.stringify(fromBytes(bytes.length > 200 ? bytes.slice(0, 200) : bytes));
