/** Items of JSON with several values for a member, for the random tests of joins: files, references to members, terms, and runs over them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { Random } from '../../../../support/random.ts';
import { type Changes, linesOf, linesOfSlices, requestOf } from '../engine.ts';
import { expectSameIn } from '../equalities/written.ts';

/** The first members are texts, null or missing; the others are arrays. */
export const SINGLE = 3;
export const MEMBERS = 5;
export type Item = readonly (readonly string[])[];

export function dice(seed: number) {
  const random = new Random(seed);
  return {
    below: (n: number): number => random.between(0, n - 1),
    pick: <T>(of: readonly T[]): T => random.pick(of),
    times: <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i)),
  };
}

/**
 * Two files. Values of a file of more than about 20 items are mostly its own, so that joins do not pair each with each.
 *
 * @param records how many items a file has at least
 * @param more how many it has more, less than this
 * @param empty one of so many single members has no value
 * @param many an array has fewer values than this
 */
export function inventFiles(
  { below, pick, times }: ReturnType<typeof dice>,
  values: readonly string[],
  { records, more, empty, many }: { readonly records: number; readonly more: number; readonly empty: number; readonly many: number },
): readonly (readonly Item[])[] {
  const value = (): string => (below(records) < 20 ? pick(values) : `v${below(records)}`);
  return times(2, () => {
    const items = times(
      records + below(more),
      (): Item => [
        ...times(SINGLE, () => times(below(empty) === 0 ? 0 : 1, value)),
        ...times(MEMBERS - SINGLE, () => times(below(many), value)),
      ],
    );
    // Some repeat, as they are.
    return [...items, ...times(below(5), () => pick(items))];
  });
}

const json = (items: readonly Item[]): string =>
  JSON.stringify(
    items.map((item, i) =>
      Object.fromEntries(
        item.flatMap((values, member): [string, unknown][] => {
          if (member >= SINGLE) return [[`m${member}`, values]];
          // Null in one record, missing in the next.
          if (values.length === 0) return i % 2 === 0 ? [[`m${member}`, null]] : [];
          return [[`m${member}`, values[0]]];
        }),
      ),
    ),
  );

// ---------------------------------------------------------------- as a mapping

export const reference = (member: number): string => `$.m${member}${member < SINGLE ? '' : '[*]'}`;
export const joinText = (on: readonly (readonly [child: number, parent: number])[]): string =>
  on.map(([child, parent]) => ` ; rml:joinCondition [ rml:child "${reference(child)}" ; rml:parent "${reference(parent)}" ]`).join('');
export const sourceText = (file: number): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "f${file}.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ]`;

/** An IRI of members, percent-encoded; a separator that no value keeps stands between them. */
export interface Template {
  readonly prefix: string;
  readonly members: readonly number[];
}

export const templateText = ({ prefix, members }: Template): string =>
  `rml:template "http://e/${prefix}${members.map((member) => `/{${reference(member)}}`).join('')}" ; rml:termType rml:IRI`;

// ---------------------------------------------------------------- as nested loops

const encoded = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~\u0080-\uffff]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

export function iris({ prefix, members }: Template, item: Item): readonly string[] {
  let texts = [`http://e/${prefix}`];
  for (const member of members)
    texts = texts.flatMap((text) => (item[member] as readonly string[]).map((value) => `${text}/${encoded(value)}`));
  return texts.map((text) => `<${text}>`);
}

export const meets = (on: readonly (readonly [child: number, parent: number])[], item: Item, other: Item): boolean =>
  on.every(([child, parent]) => item[child]?.some((value) => other[parent]?.includes(value)));

// ---------------------------------------------------------------- runs

/** A directory of the tests of a file, with the files and the mapping of the case at hand. */
export function itemsDirectory() {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-items-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  return {
    path: (): string => directory,
    writeFiles(files: readonly (readonly Item[])[]): void {
      for (const [i, items] of files.entries()) writeFileSync(join(directory, `f${i}.json`), json(items));
    },
    writeMapping: (text: string): void => writeFileSync(join(directory, 'mapping.ttl'), text),
    run: (changes: Partial<Changes>): Promise<string[]> =>
      linesOf({ mappings: [join(directory, 'mapping.ttl')], workingDirectory: directory, ...changes }),
    /** Each slice reads the other file, or the whole one, for its joins. undefined: it is not cut. */
    runInSlices: (bytes: number): Promise<string[] | undefined> =>
      linesOfSlices({ mappings: [join(directory, 'mapping.ttl')], workingDirectory: directory }, { rows: 7, bytes, sideBytes: 1e9 }),
    /** Whether the format does not refuse it. */
    expectSameIn: (format: Parameters<typeof expectSameIn>[0], changes: Partial<Changes>): Promise<boolean> =>
      expectSameIn(
        format,
        requestOf({ mappings: [join(directory, 'mapping.ttl')], workingDirectory: directory, ...changes }, join(directory, 'spill')),
      ),
  };
}
