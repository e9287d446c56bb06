/** Durability of the embedded store with many statements, journals cut anywhere, and kill -9 again and again. */
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import oxigraph from 'oxigraph';
import { compiled } from '../../../../src/core/compiled.ts';
import { Damage } from '../../../../src/targets/embedded/disk/damage.ts';
import { loadSnapshot, writeSnapshot } from '../../../../src/targets/embedded/disk/snapshot.ts';
import { linesOf } from '../../../support/service/store-client.ts';
import { fresh, quadsOf, testKills, testTornJournals, withStore } from './disk-suite.ts';

describe('a restart', () => {
  test('finds 200,000 statements, by journal and by snapshot', async () => {
    const directory = fresh();
    const lines: string[] = [];
    for (let i = 0; i < 200_000; i++) {
      const graph = i % 3 === 0 ? '' : ` <urn:g${i % 3}>`;
      lines.push(`<http://example.org/resource/item/${i >> 2}> <http://example.org/vocab#p${i & 3}> "value ${i}"${graph} .`);
    }
    await withStore(directory, { journalBytes: 1_000_000_000 }, async (client) => {
      for (let i = 0; i < lines.length; i += 20_000) await client.add(`${lines.slice(i, i + 20_000).join('\n')}\n`);
      expect(await client.count()).toBe(200_000);
    });
    expect((await readdir(directory)).sort()).toEqual(['journal-0.log', 'store.json']);
    lines.push('<urn:last> <urn:p> "1" .');
    await withStore(directory, { journalBytes: 1000 }, (client) => client.add('<urn:last> <urn:p> "1" .\n'));
    expect((await readdir(directory)).sort()).toEqual(['journal-1.log', 'snapshot-1.nq', 'store.json']);
    expect(await quadsOf(directory)).toEqual(lines.sort());
  }, 120_000);
});

describe('snapshots', () => {
  test('hold predicates of several pages, and texts too long for pages', () => {
    const lines: string[] = [];
    for (let i = 0; i < 150_000; i++) lines.push(`<http://example.org/resource/item/${i}> <urn:many> "value ${i}" <urn:g> .`);
    for (let i = 0; i < 3; i++) lines.push(`<urn:s${i}> <urn:long> "${'ü'.repeat(1_000_000)}${i}"@en <urn:g> .`);
    const path = `${fresh()}.nq`;
    const [store, loaded] = [new oxigraph.Store(), new oxigraph.Store()];
    store.load(`${lines.join('\n')}\n`, { format: 'nq' });
    writeSnapshot(store, path);
    loadSnapshot(loaded, path, undefined, new Damage());
    expect(loaded.size).toBe(lines.length);
    expect(linesOf(loaded.dump({ format: 'nq' })).join('\n') === [...lines].sort().join('\n')).toBe(true);
  }, 120_000);
});

test('a snapshot takes little more of the memory that never shrinks', () => {
  const modules = ['engine/memory', 'disk/snapshot'].map((name) => compiled(`src/targets/embedded/${name}.js`).href);
  const script = `
    const [{ memoryBytes }, { writeSnapshot }, { default: oxigraph }] = await Promise.all(process.argv.slice(1).map((name) => import(name)));
    const store = new oxigraph.Store();
    for (let batch = 0; batch < 15; batch++) {
      let text = '';
      for (let i = batch * 20000; i < (batch + 1) * 20000; i++)
        text += '<http://example.org/resource/item/' + (i >> 1) + '> <http://example.org/vocab#p' + (i & 1) + '> "value ' + i + '" .\\n';
      store.load(Buffer.from(text), { format: 'nt' });
    }
    const before = memoryBytes();
    writeSnapshot(store, '${fresh()}.nq');
    console.log(before, memoryBytes() - before);`;
  const names = [...modules, compiled('src/oxigraph/oxigraph.js').href];
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script, ...names], { encoding: 'utf8' });
  const [before = 0, growth = Number.POSITIVE_INFINITY] = run.stdout.split(' ').map(Number);
  expect([run.stderr, before > 50 * 2 ** 20, growth < before / 3]).toEqual(['', true, true]);
}, 120_000);

describe('a torn journal', () => testTornJournals('all'));

testKills(6);
