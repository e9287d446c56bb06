/**
 * What the internal subset of a document type declares: entities, and attributes with their types and defaults.
 *
 * Nothing outside of the document is read: neither an external subset nor an external entity. What stands behind a reference to an external
 * parameter entity has no meaning then, so it may declare nothing that is read.
 *
 * @see https://www.w3.org/TR/xml/#sec-logical-struct and #proc-types
 */
import { excerpt } from '../../../core/fault.ts';
import { detach, fromBytes } from '../../../core/text.ts';
import { type Fail, reference, resolveReferences } from './syntax.ts';

/** Bytes that entities may always expand to; beyond that, so many times the bytes of the document that were read. */
const FREE_BYTES = 1024 * 1024;
const MOST_AMPLIFICATION = 10;
/** Entities within entities. */
const MOST_LEVELS = 40;
/** Larger subsets are not read. */
const MOST_DECLARED = 1024 * 1024;

/** An attribute that is declared for an element. */
export interface DeclaredAttribute {
  readonly name: string;
  /** The spaces around and between the words of its values do not count: its type is another one than CDATA. */
  readonly isTokens: boolean;
  /** The default, as it is declared; undefined: there is none. */
  readonly written: string | undefined;
}

const NAME = '[^\\s"\'<>\\[\\]%&;/=()|]+';
const QUOTED = `"[^"]*"|'[^']*'`;
const EXTERNAL = `(?:SYSTEM\\s+(?:${QUOTED})|PUBLIC\\s+(?:${QUOTED})\\s+(?:${QUOTED}))(?:\\s+NDATA\\s+${NAME})?`;
// Sticky patterns.
const SKIPPED = new RegExp(`\\s+|<!--[^]*?-->|<\\?[^]*?\\?>|<!(?:ELEMENT|NOTATION)(?:[^>"']|${QUOTED})*>`, 'y');
const ENTITY = new RegExp(`<!ENTITY\\s+(%\\s+)?(${NAME})\\s+(?:(${QUOTED})|${EXTERNAL})\\s*>`, 'y');
const ATTRIBUTE_LIST = new RegExp(`<!ATTLIST\\s+(${NAME})((?:[^>"']|${QUOTED})*)>`, 'y');
const ATTRIBUTE = new RegExp(
  `\\s+(${NAME})\\s+(CDATA|(?:NOTATION\\s*)?\\([^)]*\\)|[A-Z]+)\\s+(?:#REQUIRED|#IMPLIED|(?:#FIXED\\s+)?(${QUOTED}))`,
  'gy',
);
const PARAMETER_REFERENCE = new RegExp(`%((?![\\d.-])${NAME});`, 'y');
const HAS_PARAMETER_REFERENCE = new RegExp(`%(?![\\d.-])${NAME};`);

/** The declarations of a document, and how far its entities have been expanded. */
export class DocumentType {
  /** Name → replacement text; undefined: the entity is external. */
  readonly #entities = new Map<string, string | undefined>();
  /** The same of parameter entities, which stand for declarations. */
  readonly #parameters = new Map<string, string | undefined>();
  /** By the name of the element. undefined: none is declared. */
  attributes: Map<string, ReadonlyMap<string, DeclaredAttribute>> | undefined;
  /** By the declaration: its default, when it was needed. */
  readonly #defaults = new Map<DeclaredAttribute, string>();
  readonly #open: string[] = [];
  #expanded = 0;

  /** @param declaration from behind `<!DOCTYPE` to before `>` @param at where it begins, for messages */
  constructor(declaration: string, at: number, fail: Fail) {
    // What stands before the subset has quoted texts, which may hold brackets.
    const begin = new RegExp(`^(?:[^["']|${QUOTED})*\\[`).exec(declaration)?.[0].length;
    if (begin !== undefined && declaration.length <= MOST_DECLARED)
      this.#read(declaration.slice(0, declaration.lastIndexOf(']')), begin, (of) => at + of, fail);
  }

  /** @param place of the text, where it is not that of a parameter entity */
  #read(text: string, from: number, place: (at: number) => number, fail: Fail): void {
    let at = from;
    const take = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found !== null) at += found[0].length;
      return found;
    };
    for (;;) {
      if (take(SKIPPED) !== null) continue;
      const before = place(at);
      const entity = take(ENTITY);
      const list = entity === null ? take(ATTRIBUTE_LIST) : null;
      if (entity !== null) {
        const [, parameter, name = '', quoted] = entity;
        const entities = parameter === undefined ? this.#entities : this.#parameters;
        // The first declaration counts.
        if (!entities.has(name))
          entities.set(detach(name), quoted === undefined ? undefined : replacementOf(quoted.slice(1, -1), before, fail));
      } else if (list !== null) {
        const [, element = '', declared = ''] = list;
        if (HAS_PARAMETER_REFERENCE.test(declared.replace(new RegExp(QUOTED, 'g'), ''))) withinDeclaration(before, fail);
        this.#declare(element, declared);
      } else {
        const [, name] = take(PARAMETER_REFERENCE) ?? [];
        if (name === undefined) return;
        if (this.#parameters.get(name) !== undefined) this.#include(name, before, fail);
        else if (/<!(?:ENTITY|ATTLIST)\s/.test(text.slice(at).replace(/<!--[^]*?-->/g, '')))
          fail(
            `The entity ${shownParameter(name)} is ${this.#parameters.has(name) ? 'external' : 'not declared'}, so the declarations behind it may have another meaning`,
            before,
            'Nothing outside of the document is read. Put the text of the entity into the document, or take its reference out',
          );
      }
    }
  }

  /** The declarations that a parameter entity stands for. */
  #include(name: string, at: number, fail: Fail): void {
    const shown = shownParameter(name);
    const text = this.#parameters.get(name) as string;
    if (this.#open.includes(shown)) fail(`The entity ${shown} refers to itself`, at);
    this.#add(text.length, at, shown);
    if (this.#open.length >= MOST_LEVELS) throw new TooMuch(shown);
    this.#open.push(shown);
    this.#read(text, 0, () => at, fail);
    this.leave();
  }

  #declare(element: string, declared: string): void {
    this.attributes ??= new Map();
    const attributes = new Map(this.attributes.get(element));
    for (const [, name = '', type, quoted] of declared.matchAll(ATTRIBUTE)) {
      const written = quoted === undefined ? undefined : detach(quoted.slice(1, -1));
      if (!attributes.has(name)) attributes.set(detach(name), { name: detach(name), isTokens: type !== 'CDATA', written });
    }
    this.attributes.set(detach(element), attributes);
  }

  /** The default of an attribute, for a tag that lacks it. undefined: there is none. @param position bytes of the document so far */
  defaultOf(attribute: DeclaredAttribute, at: number, position: number, fail: Fail): string | undefined {
    const { name, isTokens, written } = attribute;
    if (written === undefined) return undefined;
    let value = this.#defaults.get(attribute);
    if (value === undefined) {
      const text = this.attributeText(written, at, position, fail);
      value = isTokens ? tokens(text) : text;
      this.#defaults.set(attribute, value);
    }
    this.#add(name.length + value.length, position, name);
    return value;
  }

  /** Counts bytes that do not stand in the document. */
  #add(bytes: number, position: number, what: string): void {
    this.#expanded += bytes + 1;
    if (this.#expanded > FREE_BYTES + MOST_AMPLIFICATION * position) throw new TooMuch(what);
  }

  /** Whether the entity is declared here, be it external. */
  has(name: string): boolean {
    return this.#entities.has(name);
  }

  /**
   * The replacement text of an entity, until `leave`. undefined: it is not declared.
   *
   * @param position bytes of the document so far
   */
  enter(name: string, at: number, position: number, fail: Fail): string | undefined {
    if (!this.#entities.has(name)) return undefined;
    const shown = excerpt(`&${fromBytes(name)};`);
    const text = this.#entities.get(name);
    if (text === undefined)
      return fail(`The entity ${shown} is external, and nothing outside of the document is read`, at, 'Put its text into the document');
    if (this.#open.includes(name)) fail(`The entity ${shown} refers to itself`, at);
    this.#add(text.length, position, shown);
    if (this.#open.length >= MOST_LEVELS) throw new TooMuch(shown);
    this.#open.push(name);
    return text;
  }

  leave(): void {
    this.#open.pop();
  }

  /** The normalised value of an attribute: each white-space character or line end becomes one space, then references are resolved. */
  attributeText(value: string, at: number, position: number, fail: Fail): string {
    return resolveReferences(value.replace(/\r\n|[\t\n\r]/g, ' '), at, fail, (name) => {
      const text = this.enter(name, at, position, fail);
      if (text === undefined) return undefined;
      if (text.includes('<'))
        fail(`The entity ${excerpt(`&${fromBytes(name)};`)} has a < in it, and stands in the value of an attribute`, at);
      const resolved = this.attributeText(text, at, position, fail);
      this.leave();
      return resolved;
    });
  }
}

/** Entities or defaults that expand without end; the message names the last. The scanner makes a fault of it. */
export class TooMuch extends Error {}

/** The value without the spaces around and between its words. */
export const tokens = (value: string): string => value.replace(/^ +| +$/g, '').replace(/ {2,}/g, ' ');

const shownParameter = (name: string): string => excerpt(`%${fromBytes(name)};`);

const withinDeclaration = (at: number, fail: Fail): never =>
  fail(
    'A parameter entity stands within a declaration, where the document itself may have none',
    at,
    'Put the text of the entity in its place',
  );

/** The text that a reference stands for: references to characters are resolved, those to entities when they are read. */
function replacementOf(value: string, at: number, fail: Fail): string {
  if (HAS_PARAMETER_REFERENCE.test(value)) withinDeclaration(at, fail);
  const lines = value.replace(/\r\n?/g, '\n');
  return detach(lines.replace(/&(#[^;&]*);/g, (_, name: string) => reference(name, at, fail, undefined)));
}
