/** Hashes of the UTF-8 bytes of a text. */
import { h1, h2, h3, h4, hash } from '../../core/hash.ts';
import { define } from '../define.ts';
import type { FunctionDefinition } from '../definition.ts';
import { digest } from '../digest.ts';
import { gives, grel, own, qm, withDefault } from '../names.ts';

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(text: string): string {
  let value = 0xffffffff;
  for (let i = 0; i < text.length; i++) value = (value >>> 8) ^ (CRC[(value ^ text.charCodeAt(i)) & 255] as number);
  return word(~value);
}

const word = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');

const GREL = { takes: [grel.value], gives: gives.grelString } as const;
const OWN = { takes: [qm.value], gives: gives.string } as const;

const digestOf = (
  algorithm: Parameters<typeof digest>[0],
  types: typeof GREL | typeof OWN,
  names: readonly [string, ...string[]],
  does: string,
  examples: readonly (readonly [given: readonly [string], digits: string])[],
): FunctionDefinition => define({ names, does, ...types, on: 'bytes', call: (text) => digest(algorithm, text), examples });

export const HASH: readonly FunctionDefinition[] = [
  digestOf('md5', GREL, ['grel:string_md5', 'qm:md5'], 'MD5 in hexadecimal digits. Not for secrets.', [
    [['Venus'], '0bdc508a17811a3a860d32749ad44e4b'],
    [[''], 'd41d8cd98f00b204e9800998ecf8427e'],
    [['é'], '66ddcd97cfdeabb2f6fb8a999b4bc76f'],
  ]),
  digestOf('sha1', GREL, ['grel:string_sha1', 'qm:sha1'], 'SHA-1 in hexadecimal digits. Not for secrets.', [
    [['abc'], 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    [[''], 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ]),
  digestOf('sha256', GREL, ['morph:hash', 'qm:sha256'], 'SHA-256 in hexadecimal digits.', [
    [['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [['é'], '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c'],
  ]),
  define({
    names: ['morph:hash_iri'],
    does: '`http://example.com/ns#` and the SHA-256 in hexadecimal digits.',
    takes: [grel.value],
    gives: gives.grelString,
    on: 'bytes',
    call: (text) => `http://example.com/ns#${digest('sha256', text)}`,
    examples: [[['abc'], 'http://example.com/ns#ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad']],
  }),
  digestOf('sha384', OWN, ['qm:sha384'], 'SHA-384 in hexadecimal digits.', [
    [['abc'], 'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7'],
  ]),
  digestOf('sha512', OWN, ['qm:sha512'], 'SHA-512 in hexadecimal digits.', [
    [
      ['abc'],
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
  ]),
  define({
    names: ['qm:crc32'],
    does: 'CRC-32 in eight hexadecimal digits.',
    takes: [qm.value],
    gives: gives.string,
    on: 'bytes',
    call: crc32,
    examples: [
      [['123456789'], 'cbf43926'],
      [[''], '00000000'],
    ],
  }),
  define({
    names: ['qm:key'],
    does: 'A key of 32 hexadecimal digits for a list of texts: equal lists have equal keys, `a`, `b` and `ab` have not. It is not the same in all versions of Quadmill, and not for secrets.',
    takes: [qm.texts, withDefault(own('salt', 'string'), '')],
    gives: gives.string,
    on: 'bytes',
    call: (texts, salt) => {
      hash([salt, ...texts].map((text) => `${text.length}:${text}`).join(''), 0);
      return word(h1) + word(h2) + word(h3) + word(h4);
    },
    examples: [
      [[['a', 'b']], '3ee64ae4ce6dacfb3f5279363ed4644c'],
      [['ab'], '9b7f745fccdfc1a70e6f4258f014104e'],
    ],
  }),
];
