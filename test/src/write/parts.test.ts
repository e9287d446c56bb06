/** The parts of the writer: sizes of batches, where they are cut, and the ledger of what is in. */
import { describe, expect, test } from '@jest/globals';
import { type Batch, openBatcher } from '../../../src/write/batch/batches.ts';
import { openSizer } from '../../../src/write/batch-size.ts';
import { trackCheckpoints } from '../../../src/write/checkpoint.ts';
import { dice, randomStatements } from './writing.ts';

const SIZES = { first: 100, least: 10, most: 10_000, inFlight: 2 };

describe('sizes of batches', () => {
  /** A store that needs so long for a batch. */
  const feed = (sizer: ReturnType<typeof openSizer>, batches: number, milliseconds: (size: number) => number): void => {
    for (let i = 0; i < batches; i++) sizer.took(sizer.size, milliseconds(sizer.size));
  };

  test('grow to the most while that makes it faster', () => {
    const sizer = openSizer(SIZES);
    feed(sizer, 50, (size) => 100 + size / 1000);
    expect(sizer.size).toBe(10_000);
  });

  test('stay where growing gains nothing', () => {
    const sizer = openSizer(SIZES);
    feed(sizer, 50, (size) => size);
    expect(sizer.size).toBe(100);
    const knee = openSizer(SIZES);
    feed(knee, 50, (size) => Math.max(800, size));
    expect(knee.size).toBe(800);
  });

  test('halve when the store has no time, never below the least, and do not come back at once', () => {
    const sizer = openSizer(SIZES);
    feed(sizer, 50, () => 1);
    sizer.busy(sizer.size);
    expect(sizer.size).toBe(5000);
    feed(sizer, 10, () => 1);
    expect(sizer.size).toBeLessThan(10_000);
    feed(sizer, 100, () => 1);
    expect(sizer.size).toBe(10_000);
    for (let i = 0; i < 20; i++) sizer.busy(sizer.size);
    expect(sizer.size).toBe(10);
  });
});

describe('cutting', () => {
  test.each([true, false])('nothing is lost, in order, marks behind what they follow (whole subjects: %s)', (whole) => {
    for (let seed = 1; seed <= 40; seed++) {
      const { below } = dice(seed);
      const statements = randomStatements(seed, 1 + below(400));
      const sizer = openSizer({ ...SIZES, first: 1 + below(60), least: 1 });
      const cutter = openBatcher(sizer, whole, 200 + below(20_000));
      const batches: Batch[] = [];
      for (let at = 0; at < statements.length; ) {
        const to = at + 1 + below(50);
        cutter.add(statements.slice(at, to));
        at = Math.min(to, statements.length);
        cutter.checkpoint({ input: 0, done: at, line: at, rejected: 0 });
        for (let batch = cutter.next(); batch !== undefined; batch = cutter.next()) batches.push(batch);
      }
      const rest = cutter.rest();
      if (rest !== undefined) batches.push(rest);
      expect(batches.flatMap((batch) => batch.statements)).toEqual(statements);
      expect(cutter.bytes).toBe(0);
      let before = 0;
      for (const { statements: some, checkpoints: marks } of batches) {
        for (const { count, done } of marks) expect(before + count).toBe(done);
        if (whole && before > 0) expect(some[0]?.subject).not.toBe(statements[before - 1]?.subject);
        before += some.length;
      }
    }
  });
});

test('the ledger says where everything before is in, whatever the order in which it came', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { below } = dice(seed);
    const ledger = trackCheckpoints('v', undefined);
    const open: { end(): void; isIn: boolean; marks: { done: number; written: number; rejected: number }[] }[] = [];
    let done = 0;
    let written = 0;
    let rejected = 0;
    const all = { written: 0 };
    for (let i = 0; i < 20; i++) {
      const size = below(6);
      const refused = Array.from({ length: size }, (_, at) => at).filter(() => below(4) === 0);
      const marks = Array.from({ length: below(3) }, () => below(size + 1)).sort((a, b) => a - b);
      const expected: (typeof open)[number]['marks'] = [];
      let at = 0;
      const given = marks.map((count) => {
        const byReader = below(2);
        const lost = refused.filter((place) => place >= at && place < count).length;
        written += count - at - lost;
        rejected += lost + byReader;
        at = count;
        done++;
        expected.push({ done, written, rejected });
        return { count, input: 0, done, line: done, rejected: byReader };
      });
      const lost = refused.filter((place) => place >= at).length;
      written += size - at - lost;
      rejected += lost;
      const entry = ledger.begin(size, given);
      const one = {
        isIn: false,
        marks: expected,
        end() {
          one.isIn = true;
          all.written += size - refused.length;
          entry.end([...refused].reverse(), 1);
        },
      };
      open.push(one);
    }
    for (const one of [...open].sort(() => below(3) - 1)) {
      one.end();
      const first = open.findIndex(({ isIn }) => !isIn);
      const mark = open
        .slice(0, first === -1 ? undefined : first)
        .flatMap(({ marks }) => marks)
        .at(-1);
      expect(ledger.quadsWritten).toBe(all.written);
      if (mark === undefined) expect(ledger.position).toBeUndefined();
      else expect(ledger.position).toMatchObject({ done: mark.done, quadsWritten: mark.written, rejected: mark.rejected });
    }
    expect(ledger.quadsWritten).toBe(written);
  }
});
