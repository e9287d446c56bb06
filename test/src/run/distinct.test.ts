import { describe, expect, test } from '@jest/globals';
import { hash } from '../../../src/core/hash.ts';
import { SubjectTable } from '../../../src/run/distinct/distinct.ts';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED } from '../../../src/spill/key-table.ts';
import { Random } from '../../support/random.ts';

const wide = () => new MemoryBudget(2 ** 30);

describe('SubjectTable', () => {
  test('agrees with a set of statements on random records', () => {
    const table = new SubjectTable(wide(), 5, 2);
    const statements = new HashSet(wide(), 5);
    const truth = new Set<string>();
    const wrong: string[] = [];
    let random = 1;
    const next = (below: number) => {
      random = (random * 48271) % 2147483647;
      return random % below;
    };
    for (let i = 0; i < 30_000; i++) {
      const subject = `s${next(6000)}`;
      const verdict = table.enter(subject);
      for (const rule of [0, 1]) {
        const object = `o${next(3)}`;
        const fresh = !truth.has(`${subject} ${rule} ${object}`);
        truth.add(`${subject} ${rule} ${object}`);
        let said: boolean;
        if (verdict === NEW) {
          table.remember(rule, object);
          said = true;
        } else said = !table.firstHad(rule, object) && table.addStatement(rule, statements) === NEW;
        if (said !== fresh) wrong.push(`${subject} ${rule} ${object}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  /** Subjects that ascend, and after `ascending` of them repeat, or lose their order. */
  const subjectsOf = (random: Random, nameOf: (i: number) => string, ascending: number): readonly string[] => [
    ...Array.from({ length: ascending }, (_, i) => nameOf(i)),
    ...Array.from({ length: 3000 }, () => nameOf(random.between(0, ascending + 2000))),
  ];

  test.each<[string, (i: number) => string]>([
    ['as numbers', String],
    ['by their characters', (i) => `s${String(i).padStart(5, '0')}`],
    ['by both', (i) => String(100_000 + i)],
    ['not at all', (i) => String((i * 7919) % 100_003)],
    ['in pairs', (i) => String(i >> 1)],
    ['with all of one byte', (i) => String.fromCharCode(i >> 8, i & 255)],
  ])('says the same of subjects that ascend %s as if it had looked each of them up', (_, nameOf) => {
    const random = new Random(67);
    for (const ascending of [0, 1, 2, 100, 1535, 1536, 1537, 5000]) {
      for (const limitBytes of [0, 60_000, 200_000, 2 ** 30]) {
        const [table, searching] = [0, 1].map(() => new SubjectTable(new MemoryBudget(limitBytes), 5, 1)) as [SubjectTable, SubjectTable];
        const [set, searched] = [0, 1].map(() => new HashSet(new MemoryBudget(limitBytes), 5)) as [HashSet, HashSet];
        const wrong: unknown[] = [];
        const compare = (subject: string, one: unknown, other: unknown): void => void (one !== other && wrong.push([subject, one, other]));
        for (const subject of subjectsOf(random, nameOf, ascending)) {
          const verdict = table.enter(subject);
          hash(subject, 5);
          compare(subject, verdict, searching.enterHashed());
          const objects = ['a', 'b', 'c'].slice(0, random.between(1, 3));
          if (verdict === UNDECIDED) continue;
          for (const [i, object] of objects.entries()) {
            if (verdict === NEW && i === 0) for (const one of [table, searching]) one.remember(0, object);
            else {
              const had = searching.firstHad(0, object);
              const expected = had ? KNOWN : searching.addStatement(0, searched);
              if (verdict === NEW) compare(subject, table.appendStatement(0, object, set), expected);
              else compare(subject, table.firstHad(0, object) ? KNOWN : table.addStatement(0, set), expected);
            }
          }
        }
        expect(wrong).toEqual([]);
      }
    }
  });
});
