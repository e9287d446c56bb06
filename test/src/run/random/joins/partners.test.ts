/**
 * Rows that find no partner in a join, counted by the engine and by nested loops: in memory, in files, at the end, and in threads; with keys of
 * several values, several conditions, subjects of several values, joins of a source with itself, nulls, and repeated records.
 */
import { describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import type { JoinReport, RunRequest } from '../../../../../src/run/request.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { seeds } from '../../../../support/random.ts';
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
  readonly parent: number;
  readonly on: readonly (readonly [child: number, parent: number])[];
}

interface Map {
  readonly file: number;
  readonly subject: Template;
  readonly rules: readonly Rule[];
}

const VALUES = ['a', 'b', 'c', 'a b', '', 'ü', '1:1', '3:a', 'line\nbreak', 'x/y'];

function invent(seed: number, records: number) {
  const random = dice(seed);
  const { below, pick, times } = random;
  // Few values of many, so that some keys have no parent.
  const files = inventFiles(random, [...VALUES, ...times(30, (i) => `v${i}`)], { records, more: 15, empty: 6, many: 4 });
  const count = 1 + below(3);
  let predicates = 0;
  const maps = times(count, (): Map => {
    const members = pick([[below(SINGLE)], [below(MEMBERS)], [below(MEMBERS), below(SINGLE)]]);
    const rules = times(
      1 + below(2),
      (): Rule => ({
        predicate: { prefix: `p${predicates++}`, members: below(3) === 0 ? [below(MEMBERS)] : [] },
        parent: below(count),
        on: times(pick([1, 1, 2]), () => [below(MEMBERS), below(MEMBERS)] as const),
      }),
    );
    return { file: below(2), subject: { prefix: 's', members: [...new Set(members)] }, rules };
  });
  return { files, maps };
}

function turtle(maps: readonly Map[], order: readonly number[]): string {
  const rule = ({ predicate, parent, on }: Rule): string =>
    `; rml:predicateObjectMap [ rml:predicateMap [ ${templateText(predicate)} ] ; rml:objectMap [ rml:parentTriplesMap <#m${parent}>${joinText(on)} ] ]`;
  const map = (i: number): string => {
    const { file, subject, rules } = maps[i] as Map;
    return `<#m${i}> ${sourceText(file)} ; rml:subjectMap [ ${templateText(subject)} ] ${rules.map(rule).join('\n')} .`;
  };
  return `@prefix rml: <http://w3id.org/rml/> .\n@base <http://e/> .\n${order.map(map).join('\n')}\n`;
}

type Counted = readonly [child: string, parent: string, conditions: string, without: number, found: boolean];

/** Whether a join of records with themselves is removed, so that nothing is counted: `plan/rewrite/self-joins.ts`. */
function isRemoved(own: readonly number[], ofParent: readonly number[], on: Rule['on']): boolean {
  const keys = on.map(([child]) => child);
  const isOfKeys = (members: readonly number[]): boolean => members.every((member) => keys.includes(member));
  const compares = on.every(([child, other]) => child === other && child < SINGLE);
  return compares && keys.every((key) => own.includes(key) || ofParent.includes(key)) && (isOfKeys(own) || isOfKeys(ofParent));
}

/** A join that two rules of a triples map have counts once. */
function expectedOf(files: readonly (readonly Item[])[], maps: readonly Map[]): string[] {
  const counted = maps.flatMap(({ file, subject, rules }, at) =>
    rules.flatMap(({ predicate, parent, on }): readonly Counted[] => {
      const { file: other, subject: subjectOfParent } = maps[parent] as Map;
      if (file === other && isRemoved([...subject.members, ...predicate.members], subjectOfParent.members, on)) return [];
      const parents = (files[other] as readonly Item[]).filter((item) => iris(subjectOfParent, item).length > 0);
      const rows = (files[file] as readonly Item[]).filter(
        (item) => iris(subject, item).length > 0 && on.every(([child]) => (item[child]?.length ?? 0) > 0),
      );
      const missing = rows.filter((item) => !parents.some((one) => meets(on, item, one)));
      const conditions = [...new Set(on.map((pair) => pair.join('=')))].sort().join(' ');
      return [[`m${at}`, `m${parent}`, conditions, missing.length, missing.length < rows.length]];
    }),
  );
  return textsOf(counted);
}

const textsOf = (counted: readonly Counted[]): string[] =>
  [...new Set(counted.filter(([, , , without]) => without > 0).map((one) => one.join('|')))].sort();

/** Conditions as numbers of members; a condition that is written twice is one. */
const numbersIn = (conditions: string): string =>
  conditions
    .split(' and ')
    .map((one) => [...one.matchAll(/m(\d)/g)].map(([, member]) => member).join('='))
    .sort()
    .join(' ');

const directory = itemsDirectory();

async function joinsOf(changes: Partial<RunRequest>): Promise<readonly JoinReport[]> {
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: 'partners',
    inputs: [],
    mappings: [`${directory.path()}/mapping.ttl`],
    workingDirectory: directory.path(),
    spillDirectory: `${directory.path()}/spill`,
    ...changes,
  };
  const sink = { write: () => undefined, commit: async () => [], abort: async () => undefined };
  const { joins = [], warnings } = await executeRun(request, sink, {});
  const warned = warnings.filter((text) => /found a partner/.test(text));
  expect(warned.length).toBe(joins.filter(({ found }) => !found).length);
  for (const { childKeys, withoutPartner, rows } of joins) {
    expect(childKeys.length).toBeLessThanOrEqual(3);
    expect(withoutPartner).toBeLessThanOrEqual(rows);
  }
  return joins;
}

const countedIn = (joins: readonly JoinReport[]): string[] =>
  textsOf(
    joins.map(({ child, parent, conditions, withoutPartner, found }) => [child, parent, numbersIn(conditions), withoutPartner, found]),
  );

const WAYS: readonly Partial<RunRequest>[] = [
  {},
  { distinct: false },
  { memoryBudgetBytes: 0 },
  { memoryBudgetBytes: 0, distinct: false },
  { threads: 2, threadBytes: 300, keyBytes: 0 },
  { threads: 3, threadBytes: 300, memoryBudgetBytes: 0 },
];

async function compare(seed: number, records: number): Promise<void> {
  const { files, maps } = invent(seed, records);
  directory.writeFiles(files);
  const expected = expectedOf(files, maps);
  for (const order of [maps.map((_, i) => i), maps.map((_, i) => maps.length - 1 - i)]) {
    directory.writeMapping(turtle(maps, order));
    for (const way of WAYS) expect([way, countedIn(await joinsOf(way))]).toEqual([way, expected]);
  }
}

/** Members of lists that a join finds, and rows of a view that a view over the same file joins. */
async function compareOthers(seed: number): Promise<void> {
  const random = dice(seed);
  const files = inventFiles(random, VALUES, { records: 30, more: 5, empty: 6, many: 4 });
  directory.writeFiles(files);
  const on: Rule['on'] = [[3, random.below(MEMBERS)]];
  const field = (member: number): string => `[ rml:fieldName "m${member}" ; rml:reference "$.m${member}" ]`;
  const source = (file: number): string => sourceText(file).replace(/^rml:logicalSource /, '');
  const joinOf = (type: string): string =>
    `[ rml:parentLogicalView <#right> ; rml:joinCondition [ rml:child "m1" ; rml:parent "m2" ] ; rml:field [ rml:fieldName "r" ; rml:reference "m0" ] ]`.replace(
      /^/,
      `rml:${type} `,
    );
  for (const type of ['leftJoin', 'innerJoin']) {
    directory.writeMapping(`@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@base <http://e/> .
<#lists> ${sourceText(0)} ; rml:subjectMap [ ${templateText({ prefix: 's', members: [0] })} ] ;
  rml:predicateObjectMap [ rml:predicate <p> ; rml:objectMap [ rml:gatherAs rdf:List ; rml:gather ( [ rml:parentTriplesMap <#lists>${joinText(on)} ] ) ] ] .
<#left> rml:viewOn ${source(1)} ; rml:field ${field(0)}, ${field(1)} ; ${joinOf(type)} .
<#right> rml:viewOn ${source(1)} ; rml:field ${field(0)}, ${field(2)} .
<#view> rml:logicalSource <#left> ; rml:subjectMap [ rml:template "http://e/v/{m0}" ] ;
  rml:predicateObjectMap [ rml:predicate <q> ; rml:objectMap [ rml:reference "r" ] ] .
`);
    const [lists, view] = [files[0] as readonly Item[], files[1] as readonly Item[]];
    const has = (item: Item, member: number): boolean => (item[member]?.length ?? 0) > 0;
    const withKeys = lists.filter((item) => has(item, 0) && has(item, 3));
    const parents = lists.filter((item) => has(item, 0));
    const alone = withKeys.filter((item) => !parents.some((one) => meets(on, item, one)));
    const rows = view.filter((item) => has(item, 1));
    const unmatched = rows.filter((item) => !view.some((one) => meets([[1, 2]], item, one)));
    const expected = textsOf([
      ['lists', 'lists', '', alone.length, alone.length < withKeys.length],
      ['left', 'right', '', unmatched.length, unmatched.length < rows.length],
    ]);
    for (const way of WAYS) {
      const joins = await joinsOf(way);
      const counted = textsOf(joins.map(({ child, parent, withoutPartner, found }) => [child, parent, '', withoutPartner, found]));
      expect([way, counted]).toEqual([way, expected]);
    }
  }
}

describe('members and rows of views without a partner', () => {
  test.each(seeds(1, 4))('seed %d', compareOthers);
});

describe('rows without a partner', () => {
  test.each(seeds(1, 12))('seed %d', (seed) => compare(seed, 25));
  test.each(seeds(1, 2))('seed %d, many records', (seed) => compare(seed, 1500));
});
