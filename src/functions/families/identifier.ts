/** Identifiers: UUIDs and slugs. */
import { excerpt } from '../../core/fault.ts';
import { define } from '../define.ts';
import { type Chance, DataError, type FunctionDefinition } from '../definition.ts';
import { digest } from '../digest.ts';
import { foldAccents } from '../folding.ts';
import { checked, gives, idlab, own, qm, withDefault } from '../names.ts';

const hex = (word: number): string => word.toString(16).padStart(8, '0');

/** Sets version and variant in 32 hexadecimal digits. */
function uuid(digits: string, version: number): string {
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 3) | 8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    version + digits.slice(13, 16),
    variant + digits.slice(17, 20),
    digits.slice(20, 32),
  ].join('-');
}

const random = (chance: Chance): string => uuid(hex(chance.word()) + hex(chance.word()) + hex(chance.word()) + hex(chance.word()), 4);

/** Those of RFC 9562, appendix A. */
const NAMESPACES: Readonly<Record<string, string>> = {
  dns: '6ba7b8109dad11d180b400c04fd430c8',
  url: '6ba7b8119dad11d180b400c04fd430c8',
  oid: '6ba7b8129dad11d180b400c04fd430c8',
  x500: '6ba7b8149dad11d180b400c04fd430c8',
};

/** The 16 bytes of a namespace as one-byte text. */
function namespaceBytes(text: string): string {
  const digits = NAMESPACES[text.toLowerCase()] ?? text.toLowerCase().replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(digits))
    throw new DataError(`${excerpt(text)} is not a namespace of UUIDs`, 'Expected a UUID, or one of url, dns, oid and x500.');
  return digits.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16)));
}

const namespace = checked(withDefault(own('namespace', 'string'), 'url'), namespaceBytes);

/** Letters and digits, with separators for the rest. */
function slug(text: string, kept: RegExp, separator: string): string {
  return (foldAccents(text).toLowerCase().normalize('NFC').match(kept) ?? []).join(separator);
}

export const IDENTIFIER: readonly FunctionDefinition[] = [
  define({
    names: ['idlab-fn:random', 'grel:random'],
    does: 'A random UUID (version 4). A repeated attempt of a run gives the same.',
    takes: [],
    gives: { ...gives.idlabString, aliases: [...gives.idlabString.aliases, gives.grelString.iri, ...gives.grelString.aliases] },
    random: true,
    call: random,
    examples: [
      [[], '842ef8a8-88cb-4321-b59f-81ba516bc1a2'],
      [[], '842ef8a8-88cb-4321-b59f-81ba516bc1a2', 'stringOut'],
    ],
  }),
  define({
    names: ['morph:uuid', 'qm:uuid'],
    does: 'A random UUID (version 4). A repeated attempt of a run gives the same.',
    takes: [],
    gives: gives.string,
    random: true,
    call: random,
    examples: [
      [[], '842ef8a8-88cb-4321-b59f-81ba516bc1a2'],
      [[], '842ef8a8-88cb-4321-b59f-81ba516bc1a2', 'text'],
    ],
  }),
  define({
    names: ['qm:uuid5'],
    does: 'The UUID of a name by SHA-1 (version 5). The namespace is a UUID, or one of `url` (if left out), `dns`, `oid` and `x500`.',
    takes: [qm.value, namespace],
    gives: gives.string,
    on: 'bytes',
    fails: true,
    call: (name, namespace) => uuid(digest('sha1', namespaceBytes(namespace) + name), 5),
    examples: [
      [['www.example.com', 'dns'], '2ed6657d-e927-568b-95e1-2665a8aea6a2'],
      [['a', 'x'], { fails: '"x" is not a namespace' }],
    ],
  }),
  define({
    names: ['qm:uuid3'],
    does: 'The UUID of a name by MD5 (version 3). The namespace is a UUID, or one of `url` (if left out), `dns`, `oid` and `x500`.',
    takes: [qm.value, namespace],
    gives: gives.string,
    on: 'bytes',
    fails: true,
    call: (name, namespace) => uuid(digest('md5', namespaceBytes(namespace) + name), 3),
    examples: [[['www.example.com', 'dns'], '5df41881-3aed-3515-88a7-2f4a814cf09e']],
  }),
  define({
    names: ['qm:isUuid'],
    does: 'Whether the text has the form of a UUID.',
    takes: [qm.value],
    gives: gives.boolean,
    on: 'bytes',
    call: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
    examples: [
      [['2ED6657D-e927-568b-95e1-2665a8aea6a2'], 'true'],
      [['2ed6657d'], 'false'],
    ],
  }),
  define({
    names: ['idlab-fn:slugify'],
    does: 'Lower case ASCII letters and digits, accents removed, with hyphens for all else.',
    takes: [idlab.str],
    gives: gives.idlabString,
    call: (text) => slug(text, /[a-z0-9_]+/g, '-'),
    examples: [
      [['Ben De Mééster'], 'ben-de-meester'],
      [['  Łódź — Straße! '], 'lodz-strasse'],
      [['日本'], ''],
    ],
  }),
  define({
    names: ['qm:slug'],
    does: 'Letters and digits of all scripts in lower case, Latin accents removed, with `separator` (a hyphen if left out) for all else.',
    takes: [qm.value, withDefault(qm.separator, '-')],
    gives: gives.string,
    call: (text, separator) => slug(text, /[\p{L}\p{N}\p{M}]+/gu, separator),
    examples: [
      [['Ben De Mééster', '_'], 'ben_de_meester'],
      [['東京 Tower'], '東京-tower'],
      [['!'], ''],
    ],
  }),
  define({
    names: ['qm:localName'],
    does: 'What stands behind the last `#`, `/` or `:` of an IRI.',
    takes: [qm.value],
    gives: gives.string,
    on: 'bytes',
    call: (iri) => iri.slice(Math.max(iri.lastIndexOf('#'), iri.lastIndexOf('/'), iri.lastIndexOf(':')) + 1),
    examples: [
      [['http://example.org/ns#Person'], 'Person'],
      [['urn:isbn:123'], '123'],
      [['é'], 'é'],
    ],
  }),
];
