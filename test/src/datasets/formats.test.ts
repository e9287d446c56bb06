/** Changes as text, read by other programs. */
import { describe, expect, test } from '@jest/globals';
import { type ChangeFormat, formatChanges, skolemising } from '../../../src/datasets/formats.ts';
import oxigraph from '../../../src/oxigraph/oxigraph.ts';

const REMOVED =
  '<http://e/a> <http://e/p> "1" .\n<http://e/a> <http://e/p> "2"@en <http://e/g> .\n<http://e/b> <http://e/p> "x } ; \\" y" <http://e/g> .\n';
const ADDED = '<http://e/a> <http://e/p> <http://e/b> <http://e/h> .\n<http://e/c> <http://e/p> "3" .\n';

async function* changes() {
  yield { kind: 'removed' as const, lines: REMOVED };
  yield { kind: 'added' as const, lines: ADDED };
}

async function textOf(format: ChangeFormat): Promise<string> {
  let text = '';
  for await (const piece of formatChanges(changes(), format, { id: 'urn:x:2', previous: 'urn:x:1' })) text += piece;
  return text;
}

describe('changes', () => {
  test('as RDF Patch', async () => {
    expect(await textOf('rdf-patch')).toBe(
      `H id <urn:x:2> .\nH prev <urn:x:1> .\nTX .\n${REMOVED.replace(/^(?=.)/gm, 'D ')}${ADDED.replace(/^(?=.)/gm, 'A ')}TC .\n`,
    );
  });

  test('as an update that a store carries out', async () => {
    const store = new oxigraph.Store();
    const foreign = '<http://e/z> <http://e/p> "stays" .\n';
    store.load(REMOVED + foreign, { format: 'application/n-quads' });
    store.update(await textOf('sparql-update'));
    expect(store.dump({ format: 'application/n-quads' }).split('\n').filter(Boolean).toSorted()).toEqual(
      (ADDED + foreign).split('\n').filter(Boolean).toSorted(),
    );
  });

  test('as statements', async () => {
    expect([await textOf('nquads-added'), await textOf('nquads-removed')]).toEqual([ADDED, REMOVED]);
  });

  test('blank nodes become IRIs wherever they stand', () => {
    const label = `q${'0'.repeat(32)}r1`;
    const convert = skolemising('http://e/genid/', 'file');
    const iri = `<http://e/genid/${label}>`;
    expect(convert(`_:${label} <p> _:${label} _:${label} .\n<a> <b> "_:${label}" .\n`)).toBe(
      `${iri} <p> ${iri} ${iri} .\n<a> <b> "_:${label}" .\n`,
    );
    expect(convert(`<< _:${label} <p> "x" >> <q> << <a> <p> _:${label} >> .\n`)).toBe(`<< ${iri} <p> "x" >> <q> << <a> <p> ${iri} >> .\n`);
    expect(convert('_:x <p> "1" .\n')).toBe('<http://e/genid/file/x> <p> "1" .\n');
  });
});
