/** A server that does not find a node which it has just merged: nothing may be lost without a word. */

import type { Statement } from '../../../../src/nquads/statement.ts';
import { type Names, namesOf } from '../../../../src/property-graph/names.ts';
import type { Work } from '../../../../src/targets/bolt/connect.ts';
import { insertInto, replaceIntoGraph } from '../../../../src/targets/bolt/write.ts';

const names: Names = namesOf({ prefixes: {}, keepLanguage: false });
const statement = (predicate: string, object: string, graph = ''): Statement => ({ subject: '<e:a>', predicate, object, graph, line: 1 });

/** Finds all that it is asked for, but one less where `isBlind` says so of a statement of Cypher. */
function server(isBlind: (cypher: string) => boolean): { readonly work: Work; readonly asked: string[] } {
  const asked: string[] = [];
  const work = {
    async run(cypher: string, parameters: Readonly<Record<string, readonly unknown[]>>) {
      asked.push(cypher);
      if (cypher.includes('MERGE (n:') && cypher.includes('AS removed')) {
        // A node that another writer has made.
        const rows = (parameters.rows ?? []).filter((row) => 'properties' in (row as object)) as { iri: string }[];
        const stored = (iri: string): Record<string, unknown> => ({
          iri,
          properties: { iri, old: 1n },
          labels: ['Resource', 'Old'],
          linked: false,
          removed: false,
        });
        return { records: rows.map(({ iri }) => ({ get: (key: string) => stored(iri)[key], toObject: () => stored(iri) })) };
      }
      const given = Object.values(parameters)[0]?.length ?? 0;
      return { records: [{ get: () => BigInt(isBlind(cypher) ? given - 1 : given) }] };
    },
  };
  return { work: work as unknown as Work, asked };
}

const statements = [
  statement('<e:name>', '"x"'),
  statement('<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>', '<e:Class>'),
  statement('<e:knows>', '<e:b>'),
  statement('<e:knows>', '<e:b>', '<e:g>'),
];

test('where everything is found, all goes well', async () => {
  const { work, asked } = server(() => false);
  await replaceIntoGraph(work, statements, 'subject', names);
  expect(asked).toHaveLength(7);
});

test.each([
  ['properties', /SET n \+= row\.properties\nRETURN/],
  ['labels that come', /^\nUNWIND \$keys[^]*\nSET n:/],
  ['relationships of the default graph', /CREATE \(a\)-\[/],
  ['relationships of a named graph', /MERGE \(a\)-\[/],
])('%s are not passed over', async (_, pattern) => {
  const { work, asked } = server((cypher) => pattern.test(cypher));
  await expect(insertInto(work, statements, names)).rejects.toMatchObject({
    message: expect.stringContaining('The server found the nodes of'),
  });
  expect(asked.at(-1)).toMatch(pattern);
});

test.each([
  ['labels that go', /^\nUNWIND \$keys[^]*\nREMOVE n:/],
  ['relationships that go', /DELETE r\n/],
])('of an update, %s are not passed over', async (_, pattern) => {
  const { work, asked } = server((cypher) => pattern.test(cypher));
  await expect(replaceIntoGraph(work, statements, 'subject', names)).rejects.toMatchObject({
    message: expect.stringContaining('The server found the nodes of'),
  });
  expect(asked.at(-1)).toMatch(pattern);
});
