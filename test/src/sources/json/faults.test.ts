import { describe, expect, test } from '@jest/globals';
import { parseJsonPath } from '../../../../src/paths/json/parse.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import { buildAutomaton, type PathAutomaton } from '../../../../src/sources/json/path/automaton.ts';
import { chunks, faultOf, READING, read } from './reading.ts';

const DEEP = '['.repeat(1_000_000);

describe('a malformed document', () => {
  test.each<[name: string, document: string, message: RegExp, byte: number, line: number, record: number]>([
    ['is empty', '', /is empty/, 0, 1, 0],
    ['is only spaces', ' \n ', /is empty/, 3, 2, 0],
    ['ends within an array', '{"r":[{"a":1},\n{"a":2}', /ends too early, with 2 brackets open/, 22, 2, 2],
    ['ends within a record', '{"r":[{"a":1},{"a":[2', /ends too early, with 4 brackets open/, 21, 1, 1],
    ['ends within a text of a record', '{"r":[{"a":"x', /within a text/, 13, 1, 0],
    ['ends within an escape', '{"r":[{"a":"x\\u00', /within a text/, 17, 1, 0],
    ['ends within a skipped text', '{"s":"x', /within a text/, 7, 1, 0],
    ['ends after a colon', '{"s":', /1 bracket open/, 5, 1, 0],
    ['does not close a record', '{"r":[{"a":1,\n"b":[1]\n,{"a":2}]}', /has "{" where a name/, 23, 3, 0],
    ['does not close an array in a record', '{"r":[{"a":[1\n},{"a":2}]}', /has "}" where "," or "]"/, 14, 2, 0],
    ['has something after its end', '{"r":[]}\n}', /follows the end of the JSON document: "}"/, 9, 2, 0],
    ['has a second document after its end', '{"r":[{"a":1}]}\n{"r":[]}', /follows the end/, 16, 2, 1],
    ['lacks a comma between records', '{"r":[{"a":1} {"a":2}]}', /has "{" where "," or "]"/, 14, 1, 1],
    ['lacks a comma in a record', '{"r":[{"a":1},\n {"a":1\n "b":2}]}', /has "\\"" where "," or "}"/, 24, 3, 1],
    ['lacks a comma between skipped members', '{"s":{"a":1 "b":2},"r":[]}', /has "\\"" where "," or "}"/, 12, 1, 0],
    ['lacks a colon in what is skipped', '{"s":{"a" 1},"r":[]}', /has "1" where ":"/, 10, 1, 0],
    ['lacks a colon on the way', '{"r"[]}', /has "\[" where ":"/, 4, 1, 0],
    ['closes the wrong bracket in what is skipped', '{"s":[1,2},"r":[]}', /has "}" where "," or "]"/, 9, 1, 0],
    ['closes the wrong bracket in a record', '{"r":[{"a":[1}]}]}', /has "}" where "," or "]"/, 13, 1, 0],
    ['has a comma too many in what is skipped', '{"s":[1,],"r":[]}', /has "]" where a value/, 8, 1, 0],
    ['has a comma too many in a record', '{"r":[{"a":[1,]}]}', /has "]" where a value/, 14, 1, 0],
    ['has a comma too many on the way', '{"r":[{"a":1},]}', /has "]" where a value/, 14, 1, 1],
    ['has a name without quotes', '{r:[]}', /has "r" where a name/, 1, 1, 0],
    ['has a misspelt literal in what is skipped', '{"s":[tru]}', /"tru" is no JSON value/, 6, 1, 0],
    ['has a misspelt literal in a record', '{"r":[{"a":nul}]}', /has "n" where a value/, 11, 1, 0],
    ['has a misspelt literal for a record', '{"r":[1,nul]}', /has "n" where a value/, 8, 1, 1],
    ['has a number with a leading zero', '{"s":01}', /"01" is no JSON value/, 5, 1, 0],
    ['has a number with a leading zero in a record', '{"r":[{"a":01}]}', /not as JSON writes numbers/, 12, 1, 0],
    ['has a long number with a leading zero', '{"r":[{"a":01234567890123456789}]}', /not as JSON writes numbers/, 12, 1, 0],
    ['has a number that ends in a point', '{"r":[{"a":1.}]}', /not as JSON writes numbers/, 12, 1, 0],
    ['has NaN', '{"s":NaN}', /"NaN" is no JSON value/, 5, 1, 0],
    ['has a raw line feed in a text', '{"s":"a\nb"}', /control character 0x0a/, 7, 1, 0],
    ['has a raw line feed in a text of a record', '{"r":[{"a":"a\nb"}]}', /control character 0x0a/, 13, 1, 0],
    ['has an escape that is none', '{"s":"\\x"}', /begins no escape/, 6, 1, 0],
    ['has an escape that is none in a record', '{"r":[{"a":"\\u12x4"}]}', /begins no escape/, 12, 1, 0],
    ['has single quotes', "{'s':1}", /has "'" where a name/, 1, 1, 0],
    ['has a comment', '{"s":1 /* */}', /has "\/" where "," or "}"/, 7, 1, 0],
    ['has a NUL between values', '{"s":1,\u0000"r":[]}', /byte 0x00/, 7, 1, 0],
    ['counts a byte order mark', '\ufeff{"s":}', /has "}" where a value/, 8, 1, 0],
  ])('that %s is refused with its place, however the bytes are cut', async (_name, document, message, byte, line, record) => {
    for (const chunk of [1 << 20, 1, 2, 3, 7]) {
      const fault = await faultOf(read({ document, iterators: ['$.r[*]'], chunk }));
      expect([chunk, fault.code, fault.message]).toEqual([chunk, 'source/malformed', expect.stringMatching(message)]);
      expect([chunk, fault.place]).toEqual([chunk, { input: 'input.json', byte, line, record }]);
    }
  });

  test.each<[string, string, RegExp, number, number]>([
    ['a bracket', '{"a":1}\n{"a":2\n{"a":3}\n', /has "{" where "," or "}"/, 15, 3],
    ['two brackets', '{"a":1}\n{"a":[2\n{"a":3}\n{"a":4}', /has "{" where "," or "]"/, 16, 3],
    ['a bracket, before a large rest', `{"a":1}\n{"a":2\n${'{"a":3}\n'.repeat(1_000)}`, /has "{" where "," or "}"/, 15, 3],
    ['the last bracket', '{"a":1}\n{"a":2', /ends too early, with 1 bracket open/, 14, 2],
    ['the end of a text', '{"a":1}\n{"a":"\\u00', /ends too early, within a text/, 18, 2],
    ['the end of a literal', '{"a":1}\n{"a":fal', /ends too early, with 1 bracket open/, 16, 2],
    ['the end of a number', '{"a":1}\n{"a":-1.', /ends too early, with 1 bracket open/, 16, 2],
  ])('of several values lacks %s, and is refused with its place', async (_name, document, message, byte, line) => {
    for (const chunk of [1 << 20, 1, 2, 3, 7]) {
      const reading = { format: 'jsonl' as const, maxRecordBytes: 200 };
      const fault = await faultOf(read({ document, iterators: ['$[*]'], reading, chunk }));
      expect([chunk, fault.code, fault.message]).toEqual([chunk, 'source/malformed', expect.stringMatching(message)]);
      expect([chunk, fault.place]).toEqual([chunk, { input: 'input.json', byte, line, record: 1 }]);
    }
  });

  test('that goes on after its end gets a hint at JSON Lines', async () => {
    const fault = await faultOf(read({ document: '{}\n{}', iterators: ['$'] }));
    expect(fault.hint).toMatch(/\.jsonl or \.ndjson/);
  });

  test.each(['$[*]', '$.a[*]', '$', '$..a', '$.none'])('that is nested a million levels deep is refused for %s', async (iterator) => {
    for (const document of [DEEP, `{"a":${DEEP}`, '{"a":'.repeat(1_000_000)]) {
      const fault = await faultOf(read({ document, iterators: [iterator] }));
      expect([fault.code, fault.message]).toEqual(['limit/exceeded', 'The JSON document is nested more than 1000 levels deep']);
    }
  });

  test.each(['$[*]', '$', '$..a', '$.none'])('is not what a thousand levels are for %s', async (iterator) => {
    await read({ document: `${'['.repeat(1000)}${']'.repeat(1000)}`, iterators: [iterator] });
    await read({ document: `${'['.repeat(999)}30.0${']'.repeat(999)}`, iterators: [iterator] });
  });

  test('that is not UTF-8 is refused with its place', async () => {
    const document = Buffer.concat([Buffer.from('[{"a":"'), Uint8Array.of(0xe9), Buffer.from('"}]')]);
    const fault = await faultOf(read({ document, iterators: ['$[*]'] }));
    expect([fault.code, fault.place]).toEqual(['source/encoding', { input: 'input.json', byte: 7 }]);
  });
});

describe('a record larger than the limit', () => {
  const big = `[1,{"a":"${'x'.repeat(2000)}"}]`;

  test.each([1 << 20, 100])('is refused with its position when chunks have %d bytes', async (chunk) => {
    const fault = await faultOf(read({ document: big, iterators: ['$[*]'], reading: { maxRecordBytes: 1000 }, chunk }));
    expect([fault.code, fault.message, fault.place]).toEqual([
      'limit/exceeded',
      'A record or value of the JSON document is larger than 1000 bytes',
      { input: 'input.json', record: 1, line: 1, byte: 3 },
    ]);
  });

  test('does not matter where it is only skipped', async () => {
    const document = `{"s":${big},"r":[7]}`;
    for (const chunk of [1 << 20, 100]) {
      expect(
        await read({ document, iterators: ['$.r[*]'], references: ['$'], reading: { maxRecordBytes: 1000, dialect: 'legacy' }, chunk }),
      ).toEqual([[['7']]]);
    }
  });

  test('does not limit what an iterator needs as a whole', async () => {
    const [records] = await read({ document: big, iterators: ['$..a'], reading: { maxRecordBytes: 1000 }, chunk: 100 });
    expect(records).toHaveLength(1);
  });

  test.each<[string, number, RegExp]>([
    ['$', 512_000_000, /^The iterator \$ needs this value as a whole/],
    ['$.a[-1]', 512_000_000, /^The iterator \$\.a\[-1\] needs this value as a whole/],
    ['$..a', 512_000_000, /^The iterator \$\.\.a needs this value as a whole/],
    ['$.a.b', 1000, /^Raise MAX_RECORD_BYTES/],
    ['$.a[*]', 1000, /^Raise MAX_RECORD_BYTES/],
    ['$.a[*]..b', 1000, /^Raise MAX_RECORD_BYTES/],
    ['$.a[?@.b]', 1000, /^Raise MAX_RECORD_BYTES/],
  ])('is, for %s, one of more than %d bytes, and the fault says what to do', (iterator, limitBytes, advice) => {
    let route: PathAutomaton | undefined = buildAutomaton(
      [{ query: parseJsonPath(iterator, 'strict'), text: iterator, ups: 0, parent: undefined }],
      1000,
    );
    for (const step of ['a', 'b'])
      if (route?.cuts === false) route = step === 'a' ? route.member('a') : (route.element(0) ?? route.member('b'));
    expect(route).toMatchObject({ cuts: true, limitBytes, advice: expect.stringMatching(advice) });
  });
});

describe('an aborted scan', () => {
  test('ends with run/cancelled within a batch, also between records it skips', async () => {
    for (const iterator of ['$[*]', '$.none']) {
      const document = Buffer.from(`[${'{"a":1},'.repeat(100_000)}0]`);
      const scan = await openJson(
        chunks(document, () => 1 << 16),
        [{ iterator, references: [], origin: '' }],
        READING,
      );
      const controller = new AbortController();
      let records = 0;
      const reading = (async () => {
        if (iterator === '$.none') controller.abort();
        for await (const batch of scan.batches(controller.signal)) {
          records += batch.records.length;
          controller.abort();
        }
      })();
      expect((await faultOf(reading)).code).toBe('run/cancelled');
      expect(records).toBeLessThan(1000);
    }
  });

  test('ends between the batches of one piece', async () => {
    const scan = await openJson(
      chunks(Buffer.from(`[${'1,'.repeat(5000)}1]`), () => 1 << 20),
      [{ iterator: '$[-5000:]', references: [], origin: '' }],
      READING,
    );
    const controller = new AbortController();
    const batches = scan.batches(controller.signal)[Symbol.asyncIterator]();
    expect((await batches.next()).value.records).toHaveLength(512);
    controller.abort();
    expect((await faultOf(batches.next())).code).toBe('run/cancelled');
  });
});
