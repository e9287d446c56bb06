/**
 * Random joins against nested loops: predicates and graphs from data, keys of several values, several conditions, joins of a source
 * with itself, nulls, empty texts, repeated records. What a mapping gives depends neither on memory nor on the order of its triples maps.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { partitionOf } from '../../../../../src/core/hash.ts';
import { pairTexts } from '../../../../../src/run/join/join.ts';
import { MemoryBudget } from '../../../../../src/spill/budget.ts';
import { Multimap } from '../../../../../src/spill/multimap.ts';
import { PARTITIONS } from '../../../../../src/spill/partitions.ts';
import { SpillSpace } from '../../../../../src/spill/space.ts';
import {
  dice,
  type Item,
  inventFiles,
  iris,
  itemsDirectory,
  joinText,
  MEMBERS,
  meets,
  SINGLE,
  sourceText,
  type Template,
  templateText,
} from './items.ts';

interface Rule {
  readonly predicate: Template;
  readonly graph: Template | undefined;
  readonly parent: number;
  readonly on: readonly (readonly [child: number, parent: number])[];
  /** An object of the record itself beside the join: two rules of one predicate-object map. */
  readonly own: Template | undefined;
}

interface Map {
  readonly file: number;
  readonly subject: Template;
  readonly rules: readonly Rule[];
}

const VALUES = ['a', 'b', 'c', 'a b', '', 'ü', '1:1', '3:a', 'line\nbreak', '%41', '"q"', 'x/y'];

/** @param apart each rule has its own predicate, so that no statement is made by two of them */
function invent(seed: number, records: number, apart = false) {
  const random = dice(seed);
  const { below, pick, times } = random;
  const files = inventFiles(random, VALUES, { records, more: 15, empty: 8, many: 4 });
  const template = (prefix: string, constant = true): Template => {
    const members = pick([...(constant ? [[]] : []), [below(SINGLE)], [below(MEMBERS)], [below(MEMBERS), below(SINGLE)]]);
    return { prefix, members: [...new Set(members)] };
  };
  // Otherwise all records would have the same one.
  const subject = (): Template => template('s', false);
  const count = 1 + below(3);
  let predicates = 0;
  const maps = times(count, (): Map => {
    const rules = times(1 + below(2), (): Rule => {
      const on = times(pick([1, 1, 2]), () => [below(MEMBERS), below(MEMBERS)] as const);
      const graph = pick([undefined, undefined, template('g'), template('g')]);
      // Most rules are disjoint from the others, as in mappings of people: what can repeat is then decided by subjects and keys.
      const predicate = below(3) > 0 ? { prefix: pick(['p', 'q', 'r']), members: [] } : template('p');
      return {
        predicate: apart ? { prefix: `p${predicates++}`, members: [] } : predicate,
        graph: below(3) > 0 ? undefined : graph,
        parent: below(count),
        on,
        own: below(3) === 0 ? template('s') : undefined,
      };
    });
    return { file: below(2), subject: subject(), rules };
  });
  return { files, maps };
}

// ---------------------------------------------------------------- as a mapping

function turtle(maps: readonly Map[], order: readonly number[]): string {
  const rule = ({ predicate, graph, parent, on, own }: Rule): string => {
    const objects = [`[ rml:parentTriplesMap <#m${parent}>${joinText(on)} ]`, ...(own === undefined ? [] : [`[ ${templateText(own)} ]`])];
    const graphs = graph === undefined ? '' : `; rml:graphMap [ ${templateText(graph)} ]`;
    return `; rml:predicateObjectMap [ rml:predicateMap [ ${templateText(predicate)} ] ; rml:objectMap ${objects.join(', ')} ${graphs} ]`;
  };
  const map = (i: number): string => {
    const { file, subject, rules } = maps[i] as Map;
    return `<#m${i}> ${sourceText(file)} ; rml:subjectMap [ ${templateText(subject)} ] ${rules.map(rule).join(' ')} .`;
  };
  return `@prefix rml: <http://w3id.org/rml/> .\n@base <http://e/> .\n${order.map(map).join('\n')}\n`;
}

// ---------------------------------------------------------------- as nested loops

function evaluate(files: readonly (readonly Item[])[], maps: readonly Map[]): Set<string> {
  const lines = new Set<string>();
  for (const { file, subject, rules } of maps) {
    for (const item of files[file] as readonly Item[]) {
      for (const { predicate, graph, parent, on, own } of rules) {
        const parentMap = maps[parent] as Map;
        const joined = (files[parentMap.file] as readonly Item[]).filter((other) => meets(on, item, other));
        const objects = new Set([
          ...joined.flatMap((other) => iris(parentMap.subject, other)),
          ...(own === undefined ? [] : iris(own, item)),
        ]);
        const graphs = graph === undefined ? [''] : iris(graph, item).map((iri) => ` ${iri}`);
        const starts = iris(subject, item).flatMap((s) => iris(predicate, item).map((p) => `${s} ${p}`));
        for (const start of starts) for (const o of objects) for (const g of graphs) lines.add(`${start} ${o}${g} .`);
      }
    }
  }
  return lines;
}

// ---------------------------------------------------------------- the comparison

const directory = itemsDirectory();

async function compare(seed: number, records: number): Promise<void> {
  const { files, maps } = invent(seed, records);
  directory.writeFiles(files);
  const expected = [...evaluate(files, maps)].sort();
  const orders = [maps.map((_, i) => i), maps.map((_, i) => maps.length - 1 - i)];
  for (const order of orders) {
    directory.writeMapping(turtle(maps, order));
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
      expect((await directory.run({ memoryBudgetBytes })).sort()).toEqual(expected);
      expect([...new Set(await directory.run({ memoryBudgetBytes, distinct: false }))].sort()).toEqual(expected);
    }
  }
  if (seed % 4 === 0 || records >= 100) await compareThreads(expected);
  if (seed % 4 !== 1 || records >= 100) return;
  const inSlices = await directory.runInSlices(400);
  if (inSlices === undefined) return;
  sliced++;
  expect(inSlices.sort()).toEqual(expected);
}

let sliced = 0;
afterAll(() => expect(sliced).toBeGreaterThan(0));

async function compareThreads(expected: readonly string[]): Promise<void> {
  for (const [threads, memoryBudgetBytes] of THREADS)
    expect((await directory.run({ threads, memoryBudgetBytes, threadBytes: 300, keyBytes: 0 })).sort()).toEqual(expected);
}

/** The join indexes fit in memory with the first two. */
const THREADS = [
  [2, RUN_DEFAULTS.memoryBudgetBytes],
  [3, RUN_DEFAULTS.memoryBudgetBytes],
  [3, 0],
] as const;

export function randomJoins(few: readonly number[], many: readonly number[]): void {
  describe('random joins', () => {
    test.each(few)('seed %d', (seed) => compare(seed, 12));
    // More than a table holds without a budget.
    test.each(many)('seed %d, many records', (seed) => compare(seed, 1500));
  });
}

/** Several threads execute the joins whose parents stand in a source before; the others, one thread beside them. */
export const joinsInThreads = (seeds: readonly number[]): void =>
  describe('random joins in threads', () => {
    test.each(seeds)('seed %d', async (seed) => {
      const { files, maps } = invent(seed, 60, seed % 3 > 0);
      directory.writeFiles(files);
      directory.writeMapping(turtle(maps, [...maps.keys()]));
      await compareThreads([...evaluate(files, maps)].sort());
    });
  });

export const largeSides = (): void =>
  describe('two sides that do not fit into memory', () => {
    const SEED = 7;

    /** What pairing gives, as texts; also that nothing is left behind. */
    async function pairs(
      sides: (side: 'child' | 'parent', add: (key: string, text: string) => void) => void,
      times = 1,
    ): Promise<string[][]> {
      const spill = join(directory.path(), 'pairs');
      const space = new SpillSpace(spill);
      const budget = new MemoryBudget(0);
      const parents = new Multimap(budget, space, SEED);
      sides('parent', (key, text) => parents.add(key, text));
      const found: string[][] = [];
      for (let i = 0; i < times; i++) {
        const children = new Multimap(budget, space, SEED);
        sides('child', (key, text) => children.add(key, text));
        const lines: string[] = [];
        let most = 0;
        for await (const [child, matches] of pairTexts(children, parents, { budget, space })) {
          most = Math.max(
            most,
            matches.reduce((sum, text) => sum + text.length, 0),
          );
          for (const parent of matches) lines.push(`${child} ${parent.slice(0, parent.indexOf('x'))}`);
        }
        expect(most).toBeLessThan(4 * 2 ** 20);
        found.push(lines);
      }
      await space.remove();
      expect(readdirSync(directory.path())).not.toContain('pairs');
      return found;
    }

    test('the parents of one key are paired block by block, each once', async () => {
      const [lines] = await pairs((side, add) => {
        const count = side === 'parent' ? 10_000 : 5;
        for (let i = 0; i < count * 2; i++) add('the key', `${side} ${i % count} ${'x'.repeat(800)}`);
        add('another key', `${side} x`);
      });
      expect(lines?.length).toBe(10_000 * 5 + 1);
      expect(new Set(lines).size).toBe(10_000 * 5 + 1);
    });

    test('partitions are split until they fit, for every join of the parents', async () => {
      // All keys share a partition of about 8 MB, among them one that has more parents than memory alone.
      const keys: string[] = [];
      for (let i = 0; keys.length < 500; i++) if (partitionOf(`key ${i}`, SEED, PARTITIONS) === 3) keys.push(`key ${i}`);
      const found = await pairs((side, add) => {
        const text = 'x'.repeat(side === 'parent' ? 4000 : 40);
        for (let i = 0; i < 1500; i++) add(keys[i % 500] as string, `${side} ${i % 1000} ${text}`);
        if (side === 'parent') for (let i = 0; i < 1200; i++) add(keys[7] as string, `more ${i} ${text}`);
      }, 2);
      for (const lines of found) {
        expect(new Set(lines).size).toBe(lines.length);
        expect(lines.length).toBe(500 * 2 * 2 + 2 * 1200);
      }
    });
  });
