/** What is refused before it is parsed: documents that a parser makes far larger than they are, and documents that were cut off. */
import { Fault } from '../core/fault.ts';

const DECLARATION = /<!ENTITY\s+(?:%\s+)?([^\s%"'&;]+)\s+(?:"([^"]*)"|'([^']*)')\s*>/g;
const REFERENCE = /&([^\s&;#]+);/g;

/**
 * An entity may be made of others, and so of many times its own text.
 *
 * @throws Fault limit/exceeded — with its entities written out, the text is longer than `most`; source/malformed — an entity is declared
 *   otherwise than by its text
 */
export function checkEntities(bytes: Buffer, most: number, name: string): void {
  const text = bytes.toString('latin1');
  const place = { input: name };
  const lengths = new Map<string, number>();
  const lengthOf = (value: string): number => {
    let length = value.length;
    for (const [, used = ''] of value.matchAll(REFERENCE)) length += lengths.get(used) ?? 0;
    return length;
  };
  let declared = 0;
  for (const [, entity = '', quoted, single] of text.matchAll(DECLARATION)) {
    declared++;
    lengths.set(entity, Math.max(lengths.get(entity) ?? 0, lengthOf(quoted ?? single ?? '')));
  }
  if (declared < text.split('<!ENTITY').length - 1) {
    throw new Fault('source/malformed', `${name} declares an entity otherwise than by its text, such as by another file`, {
      place,
      hint: 'Write the entity as <!ENTITY name "text">',
    });
  }
  if (declared > 0 && lengthOf(text) > most) {
    throw new Fault('limit/exceeded', `With its entities written out, ${name} is longer than ${most / 1e6} MB`, {
      place,
      hint: 'Give the ontology without entities, such as in Turtle',
    });
  }
}

/** Text that ends within the root element counts as complete for a parser of streams. @throws Fault source/malformed */
export function checkRootIsClosed(bytes: Buffer, name: string): void {
  const root = /<([^\s<>!?/]+)[^<>]*?(\/?)>/.exec(
    bytes.toString('latin1', 0, 64 * 1024).replace(/<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>|<!--[^]*?-->/g, ''),
  );
  if (root === null || root[2] === '/') return;
  const last = bytes.lastIndexOf('</');
  if (last >= 0 && bytes.toString('latin1', last + 2, last + 2 + (root[1] as string).length) === root[1]) return;
  throw new Fault('source/malformed', `${name} ends before its element ${root[1]} is closed`, {
    place: { input: name },
    hint: 'Fetch or upload the file again: its end is missing',
  });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** A parser of JSON-LD holds the whole document, each value many times as large as its text. @throws Fault limit/exceeded */
export function checkValues(bytes: Uint8Array, most: number, name: string): void {
  let commas = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at++;
    else if (!isText && byte === COMMA) commas++;
  }
  if (commas < most) return;
  throw new Fault('limit/exceeded', `${name} has more than ${most.toLocaleString('en')} values`, {
    place: { input: name },
    hint: 'JSON-LD is read as a whole. Give the ontology as Turtle, of which the beginning is read',
  });
}
