/** Writing files to a store, over a store in memory: modes and scopes, inputs, blank nodes, going on after an interruption. */
import { appendFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { UPDATE_SCOPES, WRITE_MODES } from '../../../src/targets/target.ts';
import { WRITE_SYNTAXES, type WritePosition, type WriteRequest } from '../../../src/write/request.ts';
import { writeTo } from '../../../src/write/write.ts';
import { lineOf, MemoryStore, memoryTarget, updated } from './memory-target.ts';
import { contentOf, dice, listening, randomStatements, textOf, workspace } from './writing.ts';

const space = workspace();
afterAll(() => space.remove());

describe('insert', () => {
  test('adds every statement, and a second time changes nothing', async () => {
    const statements = randomStatements(1, 5000);
    const request = space.request([space.file('all.nq', textOf(statements))]);
    const target = memoryTarget({ delayMs: 1 });
    target.store.add(randomStatements(2, 10));
    const before = target.store.content;
    const hooks = listening();
    const report = await writeTo(target, request, hooks);
    const expected = [...new Set([...before, ...contentOf(statements)])].sort();
    expect(target.store.content).toEqual(expected);
    expect(report).toMatchObject({ target: 'memory', statements: 5000, quadsWritten: 5000, rejected: 0, retries: 0, bytesSpilled: 0 });
    expect(report.bytesRead).toBe(textOf(statements).length);
    expect(report.batches).toBe(target.count('insert'));
    expect(target.mostInFlight).toBe(3);
    expect(hooks.last).toMatchObject({ statements: 5000, quadsWritten: 5000 });
    await writeTo(target, { ...request, runId: 'again' }, listening());
    expect(target.store.content).toEqual(expected);
  });

  test('keeps the statements of a subject in one batch where they stand together', async () => {
    const statements = Array.from({ length: 900 }, (_, i) => `<http://e/s${Math.floor(i / 3)}> <http://e/p> "${i}" .\n`);
    const target = memoryTarget({ sizes: { first: 100, most: 100 } });
    await writeTo(target, space.request([space.file('threes.nq', statements.join(''))]), listening());
    for (const { statements: batch, kind } of target.calls) if (kind === 'insert') expect(batch.length % 3).toBe(0);
    expect(target.store.lines.size).toBe(900);
  });

  test('several inputs, one after the other, an empty one among them', async () => {
    const parts = [randomStatements(3, 300), [], randomStatements(4, 700)];
    const files = parts.map((part, i) => space.file(`part-${i}.nq`, textOf(part)));
    const target = memoryTarget();
    const hooks = listening();
    const report = await writeTo(target, space.request(files), hooks);
    expect(target.store.content).toEqual(contentOf(parts.flat()));
    expect(report.statements).toBe(1000);
    expect(hooks.last?.position).toMatchObject({ input: 2, line: 700, quadsWritten: 1000, rejected: 0 });
  });

  test('statements that the reader rejects are said, counted and left out', async () => {
    const file = space.file('relative.nq', '<http://e/a> <http://e/p> "1" .\n<a> <http://e/p> "2" .\n<http://e/c> <http://e/p> "3" .\n');
    const target = memoryTarget();
    const hooks = listening();
    const report = await writeTo(target, space.request([file]), hooks);
    expect(report).toMatchObject({ statements: 3, quadsWritten: 2, rejected: 1 });
    expect(hooks.rejected).toMatchObject([{ line: 2, fault: { code: 'record/term' } }]);
    expect(hooks.last?.position).toMatchObject({ quadsWritten: 2, rejected: 1 });
  });
});

describe('inputs', () => {
  const statements = randomStatements(5, 2000);

  test('gz, relative paths and file: URLs', async () => {
    space.file('packed.nq.gz', gzipSync(textOf(statements)));
    const target = memoryTarget();
    const path = space.file('plain.nq', textOf(statements));
    await writeTo(target, space.request(['in/packed.nq.gz']), listening());
    expect(target.store.content).toEqual(contentOf(statements));
    const other = memoryTarget();
    await writeTo(other, space.request([`file://${path}`]), listening());
    expect(other.store.content).toEqual(contentOf(statements));
  });

  test('http, told by its media type where the name has no extension', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', request.url === '/graph' ? 'application/n-quads' : 'text/turtle');
      response.end(textOf(statements));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const target = memoryTarget();
      await writeTo(target, space.request([`${base}/graph`]), listening());
      expect(target.store.content).toEqual(contentOf(statements));
      const refused = await writeTo(target, space.request([`${base}/other.ttl`]), listening()).catch((error) => error);
      expect(refused).toMatchObject({
        code: 'source/type',
        message: "Input has the file extension 'ttl' and the media type text/turtle; expected is nq",
      });
    } finally {
      server.close();
    }
  });

  test.each([
    ['data.nt', '<http://e/s> <http://e/p> "1" .\n'],
    ['data.ttl', '@base <http://e/> . <s> <p> "1" .'],
    ['data.trig', '{ <http://e/s> <http://e/p> "1" }'],
    ['data.ttl.gz', gzipSync('<http://e/s> <http://e/p> "1" .')],
  ])('%s where the request takes every syntax', async (name, content) => {
    const target = memoryTarget();
    const report = await writeTo(target, space.request([space.file(name, content)], { syntaxes: WRITE_SYNTAXES }), listening());
    expect(target.store.content).toEqual(['<http://e/s> <http://e/p> "1" .']);
    expect(report).toMatchObject({ statements: 1, quadsWritten: 1, rejected: 0 });
  });

  test('the syntax of the request goes before the name', async () => {
    const target = memoryTarget();
    await writeTo(target, space.request([space.file('data.nq', '[] <http://e/p> "1", "2" .')], { syntax: 'turtle' }), listening());
    expect(target.store.content).toHaveLength(2);
  });

  test('a bad line is rejected, and its neighbours are written', async () => {
    const target = memoryTarget();
    const hooks = listening();
    const file = space.file(
      'lines.nq',
      '<http://e/s> <http://e/p> "1" .\n<http://e/s> <http://e/p> "2"\n<http://e/s> <http://e/p> "3" .\n',
    );
    expect(await writeTo(target, space.request([file]), hooks)).toMatchObject({ quadsWritten: 2, rejected: 1 });
    expect(hooks.rejected).toMatchObject([{ line: 2, statement: '<http://e/s> <http://e/p> "2"', fault: { code: 'source/malformed' } }]);
    const none = await writeTo(target, space.request([file], { maxRejected: 0 }), listening()).catch((error) => error);
    expect(none).toBeInstanceOf(Fault);
  });

  test.each([
    ['of another type', 'data.ttl', "Input has the file extension 'ttl'; expected is nq"],
    ['of another type, packed', 'data.csv.gz', "Input has the file extension 'csv'; expected is nq"],
    ['without an extension', 'data', 'Input has no file extension; expected is nq'],
  ])('%s: nothing is written', async (_, name, message) => {
    const target = memoryTarget();
    const good = space.file('good.nq', textOf(statements));
    const refused = await writeTo(target, space.request([good, space.file(name, '')]), listening()).catch((error) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({ code: 'source/type', message });
    expect(target.calls).toEqual([]);
  });

  describe('a directory', () => {
    const directory = (name: string, files: Readonly<Record<string, string | Uint8Array>>): string => {
      mkdirSync(join(space.directory, 'in', name));
      for (const [file, content] of Object.entries(files)) space.file(`${name}/${file}`, content);
      return join(space.directory, 'in', name);
    };
    const [first, second, third] = [statements.slice(0, 700), statements.slice(700, 900), statements.slice(900)];

    test.each(WRITE_MODES)('stands for its parts, %s', async (mode) => {
      const path = directory(`graph-${mode}`, {
        'part-00000-c000.txt': textOf(first),
        'part-00001': textOf(second),
        'part-00002.txt.gz': gzipSync(textOf(third)),
        'part-00003.txt': '',
        _SUCCESS: '',
        '.part-00000.crc': 'x',
        _committed_1: '{}',
      });
      const other = space.file('other.nq', '<http://e/other> <http://e/p> "1" .\n');
      for (const inputs of [
        [path, other],
        [`file://${path}/`, other],
      ]) {
        const target = memoryTarget();
        const hooks = listening();
        const report = await writeTo(target, space.request(inputs, { mode }), hooks);
        expect(target.store.content).toEqual([...contentOf(statements), '<http://e/other> <http://e/p> "1" .'].sort());
        expect(report.statements).toBe(2001);
        const position = hooks.last?.position;
        if (mode === 'insert') expect(position).toMatchObject({ input: 4, line: 1 });
      }
    });

    test('in which a part has changed is read again from its beginning', async () => {
      const path = directory('changed', { 'part-0': textOf(first), 'part-1': textOf(second), _SUCCESS: '' });
      const hooks = listening();
      await writeTo(memoryTarget(), space.request([path]), hooks);
      const resume = hooks.last?.position as WritePosition;
      const target = memoryTarget();
      await writeTo(target, space.request([path], { resume }), listening());
      expect(target.store.content).toEqual([]);
      space.file('changed/part-2', textOf(third));
      await writeTo(target, space.request([path], { resume }), listening());
      expect(target.store.content).toEqual(contentOf(statements));
    });

    test('without parts writes nothing', async () => {
      expect(await writeTo(memoryTarget(), space.request([directory('none', { _SUCCESS: '' })]), listening())).toMatchObject({
        statements: 0,
      });
    });

    test.each([
      ['whose job has not ended', { 'part-0': '' }, {}, 'source/malformed', 'The directory has no file _SUCCESS'],
      ['with parts of another type', { 'part-0.parquet': '', _SUCCESS: '' }, {}, 'source/type', "Input has the file extension 'parquet'"],
      [
        'whose blank nodes are kept',
        { 'part-0': '', 'part-1': '', _SUCCESS: '' },
        { blankNodes: 'keep' },
        'config/invalid',
        'Blank nodes cannot be kept',
      ],
    ] as const)('%s is refused', async (name, files, more, code, message) => {
      const target = memoryTarget({ takesBlankNodes: true });
      const refused = await writeTo(target, space.request([directory(name, files)], more), listening()).catch((error) => error);
      expect(refused).toMatchObject({ code, message: expect.stringContaining(message), place: { input: expect.stringContaining(name) } });
      expect(target.calls).toEqual([]);
    });

    test('or a part of it, outside of what may be read is refused', async () => {
      const path = directory('within', { 'part-0': textOf(first), _SUCCESS: '' });
      const refused = (within: string) => {
        const reach = { directories: [within], hosts: null, withheld: [], loopback: null } as unknown as WriteRequest['reach'];
        return writeTo(memoryTarget(), space.request([path], { reach }), listening()).catch((error) => error);
      };
      expect(await refused(join(space.directory, 'elsewhere'))).toMatchObject({ code: 'request/forbidden' });
      expect(await refused(path)).toMatchObject({ statements: first.length });
      symlinkSync(space.file('outside.nq', textOf(second)), join(path, 'part-1'));
      expect(await refused(path)).toMatchObject({ code: 'request/forbidden' });
    });
  });

  test('a file that is not there: nothing is written, and near names are named', async () => {
    const target = memoryTarget();
    space.file('nearby.nq', '');
    const missing = await writeTo(target, space.request(['in/nearbx.nq']), listening()).catch((error) => error);
    expect(missing).toMatchObject({ code: 'source/missing', hint: expect.stringContaining('nearby.nq') });
    expect(target.calls).toEqual([]);
  });
});

describe('blank nodes', () => {
  const text = '_:a <http://e/p> _:b .\n_:b <http://e/p> "1" .\n';

  test('are IRIs: the same ones when a file is written again, others for another file or version', async () => {
    const path = space.file('blank.nq', text);
    const target = memoryTarget({ sizes: { first: 1, most: 1 } });
    await writeTo(target, space.request([path]), listening());
    const first = target.store.content;
    expect(first).toHaveLength(2);
    for (const line of first) expect(line).toMatch(/^<http:\/\/example\.org\/\.well-known\/genid\/[\w-]+\/[ab]> /);
    await writeTo(target, space.request([`file://${path}`]), listening());
    expect(target.store.content).toEqual(first);
    await writeTo(target, space.request([space.file('blank-2.nq', text)]), listening());
    expect(target.store.lines.size).toBe(4);
    appendFileSync(path, '\n');
    await writeTo(target, space.request([path]), listening());
    expect(target.store.lines.size).toBe(6);
  });

  test('of a new version take the place of the old ones in an update', async () => {
    const path = space.file('blank-3.nq', text);
    const target = memoryTarget();
    await writeTo(target, space.request([path], { mode: 'update' }), listening());
    expect(target.store.lines.size).toBe(2);
    space.file('blank-3.nq', text.replace('"1"', '"2"'));
    await writeTo(target, space.request([path], { mode: 'update' }), listening());
    expect(target.store.lines.size).toBe(2);
    expect(target.store.content.some((line) => line.includes('"2"'))).toBe(true);
  });

  test('within quoted triples are the same as elsewhere, and equal triples have one name', async () => {
    const quoted = '<< _:a <http://e/p> << _:a <http://e/p> "1" >> >>';
    const lines = [
      `${quoted} <http://e/q> "2" .`,
      `${quoted} <http://e/q> "3" <http://e/g> .`,
      '_:a <http://e/p> <<(<http://e/s> <http://e/p> _:a)>> .',
    ];
    const path = space.file('quoted.nq', `${lines.join('\n')}\n`);
    const target = memoryTarget({ takesTripleTerms: true });
    const once = await writeTo(target, space.request([path]), listening());
    const again = await writeTo(target, space.request([path]), listening());
    const triple = '<<( [a] <http://e/p> <<( [a] <http://e/p> "1" )>> )>>';
    const named = (line: string): string =>
      line.replaceAll(/<[^<>]*genid[^<>]*\/triple\/[^<>]*>/g, '[t]').replaceAll(/<[^<>]*genid[^<>]*\/a>/g, '[a]');
    expect(target.store.content.map(named).sort()).toEqual(
      [
        `[t] <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> ${triple} .`,
        `[t] <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> ${triple} <http://e/g> .`,
        '[t] <http://e/q> "2" .',
        '[t] <http://e/q> "3" <http://e/g> .',
        '[a] <http://e/p> <<( <http://e/s> <http://e/p> [a] )>> .',
      ].sort(),
    );
    expect([once.rejected, again.rejected]).toEqual([0, 0]);
  });

  test('of triples become nodes with a description in a property graph, the same for all files', async () => {
    const triple = '<http://e/s> <http://e/p> "1"';
    const reifier = `_:t${'0'.repeat(32)}`;
    const files = [
      `<< ${triple} >> <http://e/q> "2" <http://e/g> .\n`,
      `${reifier} <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ${triple} )>> .\n${reifier} <http://e/q> <<( <http://e/s> <http://e/p> <<( ${triple} )>> )>> .\n`,
    ];
    const paths = files.map((content, i) => space.file(`described-${i}.nq`, content));
    for (const mode of ['insert', 'update'] as const) {
      const target = Object.assign(memoryTarget(), { insertElements: async () => undefined });
      const report = await writeTo(target, space.request(paths, { mode }), listening());
      expect(report.rejected).toBe(0);
      const statements = new Map<string, string>();
      const named = target.store.content.map((line) =>
        line
          .replaceAll(/<[^<>]*genid\/statement\/([^<>]*)>/g, (_, name) => {
            if (!statements.has(name)) statements.set(name, `[s${statements.size}]`);
            return '[s]';
          })
          .replaceAll(/<[^<>]*genid\/triple\/[^<>]*>/g, '[t]')
          .replaceAll(/<[^<>]*genid[^<>]*\/t0+>/g, '[r]')
          .replaceAll('http://www.w3.org/1999/02/22-rdf-syntax-ns#', 'rdf:'),
      );
      const description = (graph: string, object = '"1"'): string[] => [
        `[s] <rdf:object> ${object}${graph} .`,
        `[s] <rdf:predicate> <http://e/p>${graph} .`,
        `[s] <rdf:subject> <http://e/s>${graph} .`,
        `[s] <rdf:type> <rdf:Statement>${graph} .`,
      ];
      expect(named.sort()).toEqual(
        [
          ...description(' <http://e/g>'),
          ...description(''),
          ...description('', '[s]'),
          '[t] <rdf:reifies> [s] <http://e/g> .',
          '[t] <http://e/q> "2" <http://e/g> .',
          '[r] <rdf:reifies> [s] .',
          '[r] <http://e/q> [s] .',
        ].sort(),
      );
      expect(statements.size).toBe(2);
    }
  });

  test('within quoted triples are refused with their statement by a target without triple terms', async () => {
    const line = '<< _:a <http://e/p> "1" >> <http://e/q> "2" .';
    const rejected: unknown[] = [];
    const target = memoryTarget();
    const path = space.file('refused.nq', `${line}\n`);
    const report = await writeTo(target, space.request([path]), { ...listening(), reject: (one) => void rejected.push(one) });
    expect([report.rejected, target.store.content]).toEqual([1, []]);
    expect(rejected).toMatchObject([{ line: 1, statement: line, fault: { message: expect.stringContaining('does not take') } }]);
  });

  test('may be kept where the target takes whole files: one request for an input', async () => {
    const target = memoryTarget({ takesBlankNodes: true, sizes: { first: 1, most: 1 } });
    const report = await writeTo(target, space.request([space.file('kept.nq', text)], { blankNodes: 'keep' }), listening());
    expect(target.store.content).toEqual(['_:a <http://e/p> _:b .', '_:b <http://e/p> "1" .']);
    expect(target.count('insert')).toBe(1);
    expect(report.warnings).toEqual([expect.stringContaining('again')]);
  });

  test.each([
    ['a target that does not take them', {}, false, 'does not take whole files'],
    ['an update', { mode: 'update' }, true, 'cannot be kept by an update'],
    ['an input that does not fit in memory', { memoryBudgetBytes: 2000 }, true, 'too large to be sent in one request'],
  ] as const)('are not kept by %s', async (_, more: Partial<WriteRequest>, takesBlankNodes, message) => {
    const file = space.file('unkept.nq', text.repeat(50));
    const target = memoryTarget({ takesBlankNodes });
    const refused = await writeTo(target, space.request([file], { blankNodes: 'keep', ...more }), listening()).catch((error) => error);
    expect(refused).toMatchObject({ code: 'config/invalid', message: expect.stringContaining(message) });
    expect(target.store.lines.size).toBe(0);
  });
});

describe.each(UPDATE_SCOPES)('update, scope %s', (scope) => {
  test('gives what a fresh load gives for everything that the input speaks of, and leaves the rest', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const before = randomStatements(seed, 200);
      const { below } = dice(seed + 1000);
      const input = [...before.filter(() => below(2) === 0), ...randomStatements(seed + 500, 150)];
      const target = memoryTarget({ sizes: { first: 1 + below(40) } });
      target.store.add(before);
      const request = space.request([space.file('changed.nq', textOf(input))], { mode: 'update', scope });
      const report = await writeTo(target, request, listening());
      expect(target.store.content).toEqual(updated(before, input, scope));
      expect(report).toMatchObject({ statements: input.length, quadsWritten: contentOf(input).length, rejected: 0 });
      await writeTo(target, { ...request, runId: 'again' }, listening());
      expect(target.store.content).toEqual(updated(before, input, scope));
    }
  });

  test('all inputs together are one', async () => {
    const input = randomStatements(7, 600);
    const files = [0, 1, 2].map((third) => space.file(`third-${third}.nq`, textOf(input.filter((_, i) => i % 3 === third))));
    const target = memoryTarget();
    await writeTo(target, space.request(files, { mode: 'update', scope }), listening());
    expect(target.store.content).toEqual(contentOf(input));
  });

  test('beyond its memory it goes to disk, of which nothing stays', async () => {
    const input = randomStatements(8, 20_000);
    const target = memoryTarget({ sizes: { first: 1000, most: 4000 } });
    const request = space.request([space.file('large.nq', textOf(input))], { mode: 'update', scope, memoryBudgetBytes: 2 ** 20 });
    const report = await writeTo(target, request, listening());
    expect(report.bytesSpilled).toBeGreaterThan(0);
    expect(target.store.content).toEqual(contentOf(input));
    expect(existsSync(request.spillDirectory)).toBe(false);
  });

  test.each([
    ['malformed', 'this is no statement\n'],
    ['cut off', '<http://e/a> <http://e/p> "half'],
  ])('a file that is %s changes nothing', async (_, end) => {
    const target = memoryTarget();
    const file = space.file('bad.nq', textOf(randomStatements(9, 3000)) + end);
    const fault = await writeTo(target, space.request([file], { mode: 'update', scope }), listening()).catch((error) => error);
    expect(fault).toMatchObject({ code: 'source/malformed', place: { line: 3001 } });
    expect(target.calls.filter(({ kind }) => kind !== 'probe' && kind !== 'prepare')).toEqual([]);
  });
});

test('an update of a graph clears that graph alone', async () => {
  const target = memoryTarget();
  target.store.add(randomStatements(10, 500));
  const other = target.store.content.filter((line) => !line.endsWith('<http://e/g1> .'));
  const file = space.file('g1.nq', '<http://e/x> <http://e/p> "only" <http://e/g1> .\n');
  await writeTo(target, space.request([file], { mode: 'update', scope: 'graph' }), listening());
  expect(target.store.content).toEqual([...other, '<http://e/x> <http://e/p> "only" <http://e/g1> .'].sort());
  expect(target.store.staged.size).toBe(0);
});

describe('an update of graphs that are named', () => {
  const G1 = '<http://e/x> <http://e/p> "new" <http://e/g1> .';
  const without = (lines: readonly string[], ...graphs: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        !graphs.some((graph) =>
          graph === 'default' ? !/> \.$/.test(line) || !/ <http:\/\/e\/g\d> \.$/.test(line) : line.endsWith(`<${graph}> .`),
        ),
    );

  test.each<[string, string, readonly string[], readonly string[]]>([
    ['a graph of which the file has nothing', `${G1}\n`, ['http://e/g1', 'http://e/g2'], [G1]],
    ['an empty file', '', ['http://e/g1', 'http://e/g2'], []],
    ['the default graph', `${G1}\n`, ['default', 'http://e/g1'], [G1]],
    ['a graph that the store does not have', `${G1}\n`, ['http://e/g1', 'http://e/unknown'], [G1]],
  ])('%s', async (_, text, graphs, added) => {
    const target = memoryTarget();
    target.store.add(randomStatements(10, 500));
    const expected = [...without(target.store.content, ...graphs), ...added].sort();
    expect(expected.length).toBeLessThan(target.store.content.length);
    const request = space.request([space.file('named.nq', text)], { mode: 'update', scope: 'graph', graphs });
    for (const runId of ['first', 'again']) {
      const report = await writeTo(target, { ...request, runId }, listening());
      expect(target.store.content).toEqual(expected);
      expect(report).toMatchObject({ statements: added.length, quadsWritten: added.length, rejected: 0 });
    }
    expect(target.store.staged.size).toBe(0);
  });

  test('what is not named, and not in the file, stays', async () => {
    const target = memoryTarget();
    target.store.add(randomStatements(10, 500));
    const before = target.store.content;
    await writeTo(target, space.request([space.file('empty.nq', '')], { mode: 'update', scope: 'graph' }), listening());
    expect(target.store.content).toEqual(before);
  });

  test.each<[string, Partial<WriteRequest>, string]>([
    ['an insert', { mode: 'insert', scope: 'graph', graphs: ['http://e/g'] }, 'has the mode insert'],
    ['another scope', { mode: 'update', scope: 'subject', graphs: ['http://e/g'] }, 'updates with the scope subject'],
    ['what is no IRI', { mode: 'update', scope: 'graph', graphs: ['g'] }, 'is no absolute IRI'],
    ['angle brackets', { mode: 'update', scope: 'graph', graphs: ['<http://e/g>'] }, 'is no absolute IRI'],
  ])('%s is refused, and nothing is changed', async (_, changes, words) => {
    const target = memoryTarget();
    const request = space.request([space.file('named.nq', `${G1}\n`)], changes);
    const fault = await writeTo(target, request, listening()).catch((error) => error);
    expect(fault).toMatchObject({ code: 'request/invalid', message: expect.stringContaining(words) });
    expect(target.store.content).toEqual([]);
  });
});

describe('going on after an interruption', () => {
  const statements = randomStatements(11, 3000);
  const MODES = [['insert', 'property'], ...UPDATE_SCOPES.map((scope) => ['update', scope])] as [
    WriteRequest['mode'],
    WriteRequest['scope'],
  ][];
  const CASES = [...MODES.map((mode) => [...mode, 'going.nq'] as const), ['insert', 'property', 'going.nq.gz'] as const];

  test.each(CASES)(
    '%s %s of %s: killed at any call, it goes on where it was, and counts add up',
    async (mode, scope, name) => {
      const text = textOf(statements);
      const file = space.file(name, name.endsWith('.gz') ? gzipSync(text) : text);
      for (let seed = 1; seed <= 4; seed++) {
        const { below } = dice(seed);
        const store = new MemoryStore();
        const old = randomStatements(seed, 300);
        store.add(old);
        let resume: WritePosition | undefined;
        let attempts = 0;
        const request = space.request([file], { mode, scope, patienceSeconds: 0, memoryBudgetBytes: 2 ** 20 });
        for (; attempts < 200; attempts++) {
          const last = below(12) + attempts;
          const late = below(2) === 0;
          // After its last call the store is gone for this attempt: with late, that call still had its effect.
          const die = (_: unknown, at: number): void => {
            if (at > last || (at === last && !late)) throw new Fault('target/unreachable', 'gone');
          };
          const dieLate = (_: unknown, at: number): void => {
            if (at >= last) throw new Fault('target/unreachable', 'gone');
          };
          const target = memoryTarget({ before: die, after: dieLate, sizes: { first: 100, most: 300 } }, store);
          const hooks = listening();
          const ended = await writeTo(target, { ...request, resume }, hooks).catch((error) => error);
          if (!(ended instanceof Fault)) {
            expect(ended.quadsWritten).toBe(mode === 'insert' ? statements.length : contentOf(statements).length);
            expect(ended.statements).toBe(statements.length);
            break;
          }
          expect(ended.code).toBe('target/unreachable');
          const next = hooks.last?.position;
          if (resume !== undefined) expect(next?.done).toBeGreaterThanOrEqual(resume.done);
          resume = next;
        }
        expect(attempts).toBeGreaterThan(0);
        expect(attempts).toBeLessThan(200);
        expect(store.content).toEqual(mode === 'insert' ? contentOf([...old, ...statements]) : updated(old, statements, scope));
        expect(store.staged.size).toBe(0);
      }
    },
    60_000,
  );

  test('a position reads on from its byte, and what was rejected before is not said twice', async () => {
    const bad = `<relative> <http://e/p> "1" .\n${textOf(statements)}<relative> <http://e/p> "2" .\n`;
    const file = space.file('rejected.nq', bad.repeat(5));
    const first = listening();
    const stop = { before: (_: unknown, at: number) => (at === 25 ? Promise.reject(new Fault('target/unreachable', 'gone')) : undefined) };
    const store = new MemoryStore();
    const request = space.request([file], { patienceSeconds: 0 });
    await expect(writeTo(memoryTarget({ ...stop, sizes: { first: 400 } }, store), request, first)).rejects.toThrow('gone');
    const resume = first.last?.position as WritePosition;
    expect(resume.done).toBeGreaterThan(0);
    const second = listening();
    const report = await writeTo(memoryTarget({}, store), { ...request, resume }, second);
    expect(report).toMatchObject({ statements: 15_010, quadsWritten: 15_000, rejected: 10 });
    expect(report.bytesRead).toBe(bad.length * 5 - resume.done);
    expect(second.rejected.length).toBe(10 - resume.rejected);
    expect(second.rejected.every(({ line }) => line > resume.line)).toBe(true);
  });

  test('over http only what is missing is asked for, where the server can do that', async () => {
    const text = Buffer.from(textOf(statements).repeat(20));
    const ranges: string[] = [];
    const server = createServer((request, response) => {
      const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
      response.setHeader('etag', '"one"');
      if (range === null) return response.end(text);
      const [from, to] = [Number(range[1]), Math.min(Number(range[2]), text.length - 1)];
      ranges.push(`${from}-${to}`);
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${text.length}` });
      response.end(text.subarray(from, to + 1));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const request = space.request([`http://127.0.0.1:${(server.address() as AddressInfo).port}/all.nq`], { patienceSeconds: 0 });
      const store = new MemoryStore();
      const stop = {
        before: (_: unknown, at: number) => (at === 80 ? Promise.reject(new Fault('target/unreachable', 'gone')) : undefined),
      };
      const hooks = listening();
      await expect(writeTo(memoryTarget({ ...stop, sizes: { first: 400 } }, store), request, hooks)).rejects.toThrow('gone');
      const resume = hooks.last?.position as WritePosition;
      expect(resume.done).toBeGreaterThan(0);
      const report = await writeTo(memoryTarget({}, store), { ...request, resume }, listening());
      expect(ranges.at(-1)).toBe(`${resume.done}-${text.length - 1}`);
      expect(report).toMatchObject({ statements: 60_000, quadsWritten: 60_000, bytesRead: text.length - resume.done });
      expect(store.content).toEqual(contentOf(statements));
    } finally {
      server.close();
    }
  });

  test('a position of a file that has changed since means nothing', async () => {
    const file = space.file('moved.nq', textOf(statements));
    const hooks = listening();
    const request = space.request([file]);
    await writeTo(memoryTarget(), request, hooks);
    const changed = randomStatements(12, 100);
    space.file('moved.nq', textOf(changed));
    const target = memoryTarget();
    const report = await writeTo(target, { ...request, resume: hooks.last?.position }, listening());
    expect(report).toMatchObject({ statements: 100, quadsWritten: 100 });
    expect(target.store.content).toEqual(contentOf(changed));
  });

  test('the position at the end has nothing left to do', async () => {
    for (const mode of ['insert', 'update'] as const) {
      const hooks = listening();
      const request = space.request([space.file('done.nq', textOf(statements))], { mode });
      const whole = await writeTo(memoryTarget(), request, hooks);
      const target = memoryTarget();
      const report = await writeTo(target, { ...request, resume: hooks.last?.position }, listening());
      expect(report).toMatchObject({ statements: whole.statements, quadsWritten: whole.quadsWritten, rejected: 0 });
      expect(target.store.lines.size).toBe(0);
    }
  });
});

test('a statement that stands in an update twice is reported', async () => {
  const line = lineOf(randomStatements(13, 1)[0] as ReturnType<typeof randomStatements>[number]);
  const report = await writeTo(
    memoryTarget(),
    space.request([space.file('twice.nq', `${line}\n${line}\n`)], { mode: 'update' }),
    listening(),
  );
  expect(report).toMatchObject({ statements: 2, quadsWritten: 1, warnings: [expect.stringContaining('1 statements stand')] });
});

test.each(['insert', 'update'] as const)(
  'ill-typed literals are written by an %s, counted by datatype, and the first is named',
  async (mode) => {
    const xsd = 'http://www.w3.org/2001/XMLSchema#';
    const file = space.file(
      `ill-typed-${mode}.nq`,
      `<http://e/1> <http://e/d> "28/02/2024"^^<${xsd}date> .
<http://e/1> <http://e/d> "2024-02-28"^^<${xsd}date> .
<http://e/2> <http://e/d> "2024-02-30"^^<${xsd}date> <http://e/g> .
<http://e/2> <http://e/n> "a\\"b"^^<${xsd}NCName> .
<http://e/2> <http://e/n> "1,5"^^<http://e/decimal> .
<http://e/2> <http://e/n> "1,5"@en .
`,
    );
    const target = memoryTarget();
    const report = await writeTo(target, space.request([file], { mode }), listening());
    expect(report).toMatchObject({ statements: 6, quadsWritten: 6, rejected: 0 });
    expect(report.warnings).toEqual([
      expect.stringMatching(/^2 literals are no xsd:date, .*"28\/02\/2024" \(input .*ill-typed-.*\.nq, line 1\)$/),
      expect.stringMatching(/^1 literal is no xsd:NCName, .*line 4\)$/),
    ]);
  },
);
