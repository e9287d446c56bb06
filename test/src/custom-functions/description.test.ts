/** Descriptions and downloads that cannot be used: what is said of them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readDescription } from '../../../src/custom-functions/description.ts';
import { fetchFunctions } from '../../../src/custom-functions/fetch.ts';
import { sha256Of } from '../../../src/custom-functions/files.ts';
import { tryHere } from '../../../src/custom-functions/trial.ts';
import { described, EX, makeWorkshop, PREFIXES, type Workshop } from './support.ts';

const URL_OF = 'file:///f.ttl';
const MAPPED = `[] a fno:Mapping ; fno:function ex:f ; fno:implementation ex:code ; fno:methodMapping [ fnom:method-name "f" ] .
ex:code a fnoi:JavaScriptImplementation ; doap:download-url <code.mjs> .\n`;

describe('descriptions', () => {
  test.each([
    ['ex:f ;', 'f.ttl:8:'],
    ['', 'binds no function to code'],
    [MAPPED, `the function <${EX}f> is not described`],
    [`${MAPPED} ex:f fno:expects ( ex:p ) .`, `the parameter <${EX}p> is not described`],
    [`${MAPPED} ex:f fno:returns ( ex:o ) .`, `the output <${EX}o> is not described`],
    [`${MAPPED} ex:f fno:returns ( ex:o ex:p ) . ex:o fno:predicate ex:q . ex:p fno:predicate ex:r .`, 'has one result'],
    [`${MAPPED} ex:f fno:expects 1 .`, 'this is not a list'],
    [`${MAPPED} ex:f fno:expects () , ( ex:f ) .`, 'expects is given twice'],
    ['[] fno:function ex:f ; fno:implementation ex:code .', 'the implementation is not described'],
    ['[] fno:function ex:f ; fno:implementation ex:code . ex:code a fnoi:JavaClass .', 'names no method'],
    [
      '[] fno:function ex:f ; fno:implementation ex:code ; fno:methodMapping [ fnom:method-name "f" ] . ex:code a fnoi:NpmPackage .',
      'neither a Java class nor a JavaScript module',
    ],
    [
      `${MAPPED} ex:f fno:expects () . [] fno:function ex:f ; fno:implementation ex:code ; fno:methodMapping [ fnom:method-name "g" ] .`,
      'is bound to code twice',
    ],
  ])('%s', (text, message) => {
    expect(() => readDescription(PREFIXES + text, URL_OF)).toThrow(
      expect.objectContaining({ code: 'functions/invalid', message: expect.stringContaining(message) }),
    );
  });

  test('parameters and outputs of GREL need no description', () => {
    const grel = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
    const text = `${PREFIXES} @prefix grel: <${grel}> . ${MAPPED} ex:f fno:expects ( grel:valueParam ) ; fno:returns ( grel:stringOut ) .`;
    const [binding] = readDescription(text, URL_OF);
    expect(binding?.definition.parameters[0]).toMatchObject({
      iri: `${grel}valueParam`,
      aliases: expect.arrayContaining([`${grel}valueParameter`]),
      needs: 'value',
    });
  });

  test('the library of early descriptions is a JAR', () => {
    const text = `${PREFIXES} @prefix lib: <http://example.com/library#> . ex:f a fno:Function ; fno:expects () ;
      lib:providedBy [ lib:localLibrary "Old.jar" ; lib:class "Old" ; lib:method "f" ] .`;
    expect(readDescription(text, URL_OF)[0]?.code).toEqual({ kind: 'jar', url: 'Old.jar', className: 'Old', method: 'f' });
  });
});

describe('downloads', () => {
  let workshop: Workshop;
  beforeAll(async () => {
    workshop = await makeWorkshop();
    await workshop.write({ 'functions.ttl': described('same'), 'code.mjs': 'export const same = (text) => text;' });
  });
  afterAll(() => workshop.remove());
  const fetched = (description: string, code?: string) =>
    fetchFunctions({ description, code }, join(workshop.path, 'sets'), { workingDirectory: workshop.path });

  test.each([
    ['missing.ttl', 'The custom functions cannot be downloaded: '],
    ['functions.ttl#sha256=12', 'no SHA-256 of 64 hexadecimal digits'],
    [`functions.ttl#sha256=${'0'.repeat(64)}`, `has the SHA-256 ${sha256Of(described('same'))}, and 0000`],
    ['s4://bucket/functions.ttl', "does not read 's4:' addresses"],
  ])('%s', async (description, message) => {
    await expect(fetched(description)).rejects.toMatchObject({ code: 'functions/invalid', message: expect.stringContaining(message) });
  });

  test('the right SHA-256, and the same version again', async () => {
    const { version } = await fetched('functions.ttl');
    expect(await fetched(`functions.ttl#sha256=${sha256Of(described('same')).toUpperCase()}`)).toMatchObject({ version });
    await workshop.write({ 'code.mjs': 'export const same = (text) => text + 1;' });
    expect((await fetched('functions.ttl')).version).not.toBe(version);
  });

  test('code that is not named is that of the option', async () => {
    const text = described('same').replace('; doap:download-url <code.mjs>', '');
    await workshop.write({ 'unnamed.ttl': text, 'other.mjs': 'export const same = 1;' });
    await expect(fetched('unnamed.ttl')).rejects.toMatchObject({ message: expect.stringContaining('says not where it is') });
    expect((await fetched('unnamed.ttl', 'other.mjs')).code).toMatchObject([{ url: `file://${workshop.path}/other.mjs` }]);
  });

  test('a description from a server cannot name a file of this process', async () => {
    await workshop.write({ 'local.ttl': described('same').replace('<code.mjs>', `<file://${workshop.path}/code.mjs>`) });
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/turtle');
      response.end(described('same').replace('<code.mjs>', `<file://${workshop.path}/code.mjs>`));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await expect(fetched(`http://127.0.0.1:${port}/functions.ttl`)).rejects.toMatchObject({
        message: expect.stringContaining('comes from a server and names code elsewhere'),
      });
    } finally {
      server.close();
    }
    expect((await fetched('local.ttl')).code).toHaveLength(1);
  });

  test('examples are tried', async () => {
    const examples = `[] fno:executes ex:same ; ex:text "a" ; ex:result "a" . [] fno:executes ex:same ; ex:text "b" ; ex:result "c" .
      [] fno:executes ex:same ; ex:text "bad" .`;
    await workshop.write({
      'functions.ttl': described('same') + examples,
      'code.mjs': 'export const same = (text) => { if (text === "bad") throw new Error("no"); return text; };',
    });
    const { version } = await fetched('functions.ttl');
    const files = { directory: join(workshop.path, 'sets', version), limits: { seconds: 5, memoryMb: 32 } };
    await expect(tryHere(files)).rejects.toMatchObject({
      code: 'functions/invalid',
      message: expect.stringMatching(/same>\("b"\) gives "b", and "c" is expected\nThe example .*same>\("bad"\) fails: .*Error: no/),
    });
  });
});
