/** Topics as logical sources: formats, keys, parts of messages, and what is no message. */
import { afterEach, describe, expect, test } from '@jest/globals';
import avsc from 'avsc';
import { SchemaRegistry } from '../../../../src/streams/debezium/avro.ts';
import { messagesOf, scenarios } from '../debezium/recorded.ts';
import { Following, topic } from './harness.ts';
import { type Sent, TopicLog } from './topic-log.ts';

const followings: Following[] = [];
afterEach(() => {
  for (const one of followings.splice(0)) one.remove();
});

function following(mapping: string, log = new TopicLog()): Following {
  const made = new Following(log, mapping);
  followings.push(made);
  return made;
}

/** `<#M>` over a source, with an object for each reference. */
const mapping = (source: string, subject: string, references: readonly string[]): string =>
  `<#M> rml:logicalSource [ ${source} ] ; rml:subjectMap [ rml:template "http://e.org/${subject}" ] ; ${references
    .map((reference) => `rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference ${JSON.stringify(reference)} ] ]`)
    .join(' ; ')} .`;

const objectsOf = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(/^(\S+) \S+ (.*) \.$/, '$1 $2'));

describe('values', () => {
  const json = topic('t', 'application/json');
  const cases: readonly (readonly [
    name: string,
    source: string,
    subject: string,
    references: readonly string[],
    sent: readonly Sent[],
    expected: readonly string[],
  ])[] = [
    [
      'JSON: numbers keep all digits',
      `rml:source ${json}`,
      '{$.id}',
      ['$.n'],
      [{ value: '{"id":9007199254740993,"n":1.10}' }],
      ['<http://e.org/9007199254740993> "1.1E0"^^<http://www.w3.org/2001/XMLSchema#double>'],
    ],
    [
      'an iterator makes several records of a message',
      `rml:source ${json} ; rml:iterator "$.items[*]"`,
      '{$.id}',
      ['$.n'],
      [{ value: '{"items":[{"id":1,"n":"é"},{"id":2,"n":"b"}]}' }, { value: '{"items":[]}' }],
      ['<http://e.org/1> "é"', '<http://e.org/2> "b"'],
    ],
    [
      'JSON with its schema',
      `rml:source ${json}`,
      '{$.id}',
      ['$.n'],
      [
        { value: '{"schema":{"type":"struct","fields":[]},"payload":{"id":12345678901234567890,"n":"x"}}' },
        { value: '{"schema":"s","payload":"p","id":1,"n":"y"}' },
      ],
      ['<http://e.org/12345678901234567890> "x"', '<http://e.org/1> "y"'],
    ],
    [
      'CSV: rows with a header',
      `rml:source ${topic('t', 'text/csv')}`,
      '{id}',
      ['n'],
      [{ value: 'id,n\n1,a\n2,"b,c"\n' }, { value: 'n,id\nz,3' }],
      ['<http://e.org/1> "a"', '<http://e.org/2> "b,c"', '<http://e.org/3> "z"'],
    ],
    [
      'CSV: the dialect of the source, and its nulls',
      `rml:source ${topic('t', 'text/csv', ' ; csvw:dialect [ csvw:delimiter ";" ; csvw:header false ] ; rml:null "-"')}`,
      '{1}',
      ['2'],
      [{ value: '1;a' }, { value: '2;-' }],
      ['<http://e.org/1> "a"'],
    ],
    ['tabs', `rml:source ${topic('t', 'text/tab-separated-values')}`, '{id}', ['n'], [{ value: 'id\tn\n1\ta' }], ['<http://e.org/1> "a"']],
    [
      'XML, in another encoding',
      `rml:source ${topic('t', 'application/xml', ' ; rml:encoding "iso-8859-1"')} ; rml:iterator "/a/b"`,
      '{@id}',
      ['.'],
      [{ value: Buffer.from('<a><b id="1">é</b><b id="2">y</b></a>', 'latin1') }],
      ['<http://e.org/1> "é"', '<http://e.org/2> "y"'],
    ],
    [
      'text',
      `rml:source ${topic('t', 'text/plain')}`,
      '{qms:offset}',
      ['qms:value'],
      [{ value: 'a "b"' }, { value: '' }],
      ['<http://e.org/0> "a \\"b\\""', '<http://e.org/1> ""'],
    ],
  ];
  test.each(cases)('%s', async (_, source, subject, references, sent, expected) => {
    const one = following(mapping(source, subject, references));
    one.log.send('t', ...sent);
    expect(objectsOf(await one.catchUp())).toEqual(expected);
    expect(one.rejected).toEqual([]);
  });

  test('Avro with a registry: the key as well', async () => {
    const schema = avsc.Type.forSchema({
      type: 'record',
      name: 'R',
      fields: [
        { name: 'id', type: 'long' },
        { name: 'n', type: ['null', 'string'] },
      ],
    });
    const registry = new SchemaRegistry('http://localhost:1');
    Object.assign(registry, {
      has: (id: number) => id === 7,
      read: (bytes: Uint8Array) => {
        const value = schema.fromBuffer(Buffer.from(bytes.subarray(5))) as { id: number; n: { string: string } | null };
        return { value: { id: value.id as never, n: value.n === null ? null : value.n }, schema: {} };
      },
    });
    const encoded = (value: object): Uint8Array => Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), schema.toBuffer(value)]);
    const log = new TopicLog(registry);
    const one = following(
      mapping(`rml:source ${topic('t', 'application/avro')} ; qms:changes qms:Upsert`, '{$.id}', ['$.n', 'qms:key']),
      log,
    );
    log.send(
      't',
      { key: encoded({ id: 1, n: null }), value: encoded({ id: 1, n: 'old' }) },
      { key: encoded({ id: 1, n: null }), value: encoded({ id: 1, n: 'new' }) },
    );
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "new"', '<http://e.org/1> "{\\"id\\":1,\\"n\\":null}"']);
  });

  test('the fields of a view, with an iterator within the record', async () => {
    const one = following(`<#V> a rml:LogicalView ; rml:viewOn [ a rml:LogicalSource ; rml:source ${json} ] ;
      rml:field [ a rml:ExpressionField ; rml:fieldName "key" ; rml:reference "qms:key" ] ;
      rml:field [ a rml:IterableField ; rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field [ a rml:ExpressionField ; rml:fieldName "n" ; rml:reference "$.n" ] ] .
      <#M> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://e.org/{key}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "item.n" ] ] .`);
    one.log.send('t', { key: 'k', value: '{"items":[{"n":1},{"n":2}]}' });
    expect(objectsOf(await one.catchUp())).toEqual([
      '<http://e.org/k> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
      '<http://e.org/k> "2"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]);
  });
});

describe('parts of a message', () => {
  test('are references, with their datatypes', async () => {
    const parts = [
      'qms:value',
      'qms:key',
      'qms:timestamp',
      'qms:partition',
      'qms:offset',
      'qms:topic',
      'qms:header(from)',
      'qms:header(none)',
    ];
    const one = following(mapping(`rml:source ${topic('t', 'application/json')}`, '{$.id}', parts));
    one.log.send('t', {
      key: 'k',
      value: '{"id":1}',
      partition: 2,
      timestamp: 1_700_000_000_120,
      headers: { from: [Buffer.from('a'), Buffer.from('ü')], bytes: Buffer.from([255]) },
    });
    const xsd = (text: string, type: string): string => `"${text}"^^<http://www.w3.org/2001/XMLSchema#${type}>`;
    expect(objectsOf(await one.catchUp()).map((line) => line.replace('<http://e.org/1> ', ''))).toEqual(
      [
        '"{\\"id\\":1}"',
        '"k"',
        xsd('2023-11-14T22:13:20.12Z', 'dateTime'),
        xsd('2', 'integer'),
        xsd('0', 'integer'),
        '"t"',
        '"a"',
        '"ü"',
      ].sort(),
    );
  });

  test('a key that is no text is hexadecimal, and one with a schema is its payload', async () => {
    const one = following(mapping(`rml:source ${topic('t', 'text/plain')} ; qms:changes qms:Upsert`, '{qms:value}', ['qms:key']));
    one.log.send(
      't',
      { key: Buffer.from([0, 0, 0, 0, 0, 0, 0, 42]), value: 'a' },
      { key: Buffer.from([255, 254]), value: 'b' },
      { key: '{"schema":{"type":"int64"},"payload":9007199254740993}', value: 'c' },
    );
    expect(objectsOf(await one.catchUp())).toEqual([
      '<http://e.org/a> "000000000000002A"',
      '<http://e.org/b> "FFFE"',
      '<http://e.org/c> "9007199254740993"',
    ]);
  });
});

describe('changes', () => {
  const source = `rml:source ${topic('t', 'application/json')}`;

  test('Append: each message stays, and one without a value is none', async () => {
    const one = following(mapping(source, '{$.id}', ['$.n']));
    one.log.send('t', { key: 'a', value: '{"id":1,"n":"x"}' }, { key: 'a', value: '{"id":1,"n":"y"}' }, { key: 'a', value: null });
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "x"', '<http://e.org/1> "y"']);
    one.log.send('t', { value: '{"id":2,"n":"z"}', partition: 1 });
    expect(objectsOf(await one.catchUp())).toHaveLength(3);
  });

  test('Upsert: the newest value of a key counts, and a message without a value deletes it', async () => {
    const one = following(mapping(`${source} ; qms:changes qms:Upsert`, '{$.id}', ['$.n']));
    one.log.send(
      't',
      { key: 'a', value: '{"id":1,"n":"x"}' },
      { key: 'b', value: '{"id":2,"n":"x"}' },
      { key: 'a', value: '{"id":1,"n":"y"}' },
    );
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "y"', '<http://e.org/2> "x"']);
    one.log.send('t', { key: 'b', value: null }, { key: 'c', value: null });
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "y"']);
    expect(one.epochs.map(({ made }) => [made.version, made.added, made.removed])).toEqual([
      [1, 2, 0],
      [2, 0, 1],
    ]);
  });

  test('a pattern: keys and offsets of each topic are apart', async () => {
    const text = (changes: string): string =>
      mapping(`rml:source ${topic('shop.*.orders', 'application/json')} ; qms:changes qms:${changes}`, '{$.id}', ['qms:topic']);
    const one = following(text('Upsert'));
    one.log.send('shop.at.orders', { key: 'a', value: '{"id":1}' });
    one.log.send('shop.de.orders', { key: 'a', value: '{"id":2}' });
    one.log.send('shop.orders', { key: 'a', value: '{"id":3}' });
    const both = ['<http://e.org/1> "shop.at.orders"', '<http://e.org/2> "shop.de.orders"'];
    expect(objectsOf(await one.catchUp())).toEqual(both);
    one.map(text('Append'));
    expect(objectsOf(await one.catchUp())).toEqual(both);
    one.map(text('Upsert'));
    one.log.send('shop.at.orders', { key: 'a', value: null });
    one.log.send('shop.ch.orders', { key: 'a', value: '{"id":4}' });
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/2> "shop.de.orders"', '<http://e.org/4> "shop.ch.orders"']);
  });

  const event = (op: string, after: object | null, before: object | null = null, lsn = 1): string =>
    JSON.stringify({
      before,
      after,
      op,
      source: {
        connector: 'postgresql',
        schema: 'public',
        table: 'c',
        lsn,
        sequence: `["1","${lsn}"]`,
        txId: lsn,
        ts_ms: 1,
        snapshot: 'false',
      },
    });

  test.each([
    ['members of the row', 'rml:JSONPath', '{$.id}', '$.name'],
    ['columns', 'rml:CSV', '{id}', 'name'],
  ])('Debezium: %s', async (_, formulation, subject, reference) => {
    const text = mapping(
      `rml:source ${topic('s.public.c')} ; rml:referenceFormulation ${formulation} ; qms:changes qms:Debezium`,
      subject,
      [reference],
    );
    const one = following(text);
    one.log.send(
      's.public.c',
      { key: '{"id":1}', value: event('c', { id: 1, name: 'é"\n', big: 'long' }) },
      { key: '{"id":2}', value: event('c', { id: 2, name: 7, big: null }, null, 2) },
      { key: '{"id":3}', value: event('c', { id: 3, name: null, big: null }, null, 3) },
    );
    expect(objectsOf(await one.catchUp())).toEqual([
      '<http://e.org/1> "é\\"\\n"',
      '<http://e.org/2> "7"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]);
    one.map(text.replace(reference, reference.replace('name', 'big')));
    one.log.send(
      's.public.c',
      { key: '{"id":1}', value: event('u', { id: 1, name: 'z', big: '__debezium_unavailable_value' }, null, 4) },
      { key: '{"id":2}', value: event('d', null, { id: 2 }, 5) },
      { key: '{"id":2}', value: null },
    );
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "long"']);
  });

  const COLUMNS = ['email', 'name', 'token', 'vip', 'credit', 'born', 'tags', 'prefs', 'photo', 'created_at', 'updated_at'];
  const isMissing = scenarios('postgres').length === 0;
  (isMissing ? test.skip : test).each([
    ['01-snapshot', 'pgs'],
    ['03-update', 'pgs'],
    ['03-update', 'pg'],
  ])('Debezium: columns have the values of a table that is followed: %s of %s', async (scenario, prefix) => {
    const log = new TopicLog();
    const name = `${prefix}.shop.customers`;
    for (const message of messagesOf(`postgres/${scenario}`, prefix).get(name) ?? [])
      log.messages.push({ ...message, offset: String(log.messages.length) });
    const maps = (source: string): string => mapping(source, '{id}', COLUMNS);
    const one = following(maps(`rml:source ${topic(name)} ; rml:referenceFormulation rml:CSV ; qms:changes qms:Debezium`), log);
    const graph = await one.catchUp();
    expect(graph.length).toBeGreaterThan(5);
    const other = following(maps('rml:referenceFormulation rml:SQL2008Table ; rml:iterator "customers"'), log);
    expect(graph).toEqual(
      await other.catchUp(
        {},
        log.tables(() => name),
      ),
    );
    expect(one.warnings).toEqual(other.warnings);
  });

  test('Debezium with schemas: numbers and booleans of the row are those of JSON', async () => {
    if (isMissing) return;
    const log = new TopicLog();
    for (const message of messagesOf('postgres/01-snapshot', 'pgs').get('pgs.shop.customers') ?? [])
      log.messages.push({ ...message, offset: String(log.messages.length) });
    const one = following(
      mapping(`rml:source ${topic('pgs.shop.customers')} ; rml:referenceFormulation rml:JSONPath ; qms:changes qms:Debezium`, '{$.id}', [
        '$.vip',
        '$.born',
      ]),
      log,
    );
    expect(objectsOf(await one.catchUp())).toEqual([
      '<http://e.org/1> "1815-12-10"',
      '<http://e.org/1> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
      '<http://e.org/2> "false"^^<http://www.w3.org/2001/XMLSchema#boolean>',
      '<http://e.org/9007199254740993> "0001-01-01"',
      '<http://e.org/9007199254740993> "false"^^<http://www.w3.org/2001/XMLSchema#boolean>',
    ]);
  });

  test('Debezium with schemas: a value that a message does not have is a fault where it is read, never its reason as a text', async () => {
    const fields = [
      { type: 'int32', field: 'id' },
      { type: 'int64', name: 'io.debezium.time.MicroDuration', field: 'age' },
    ];
    const source = { connector: 'postgresql', schema: 'public', table: 'p', lsn: 1 };
    const payload = { before: null, after: { id: 1, age: 37_091_106_789_000 }, source, op: 'c' };
    const read = (formulation: string, references: readonly string[]): Promise<readonly string[]> => {
      const log = new TopicLog();
      const value = { schema: { type: 'struct', fields: [{ type: 'struct', field: 'after', fields }] }, payload };
      log.send('s.public.p', { key: '{"id":1}', value: JSON.stringify(value) });
      const isCsv = formulation === 'rml:CSV';
      const text = mapping(
        `rml:source ${topic('s.public.p')} ; rml:referenceFormulation ${formulation} ; qms:changes qms:Debezium`,
        isCsv ? '{id}' : '{$.id}',
        [...references],
      );
      return following(text, log).catchUp();
    };
    const lost = {
      code: 'record/term',
      message: expect.stringContaining('lost its months'),
      hint: expect.stringContaining('interval.handling.mode'),
    };
    await expect(read('rml:CSV', ['age'])).rejects.toMatchObject(lost);
    await expect(read('rml:JSONPath', ['$.age'])).rejects.toMatchObject(lost);
    expect(await read('rml:CSV', ['id'])).toHaveLength(1);
  });

  test('a topic that is read in another way is read from its beginning', async () => {
    const one = following(mapping(`${source} ; qms:changes qms:Upsert`, '{$.id}', ['$.n']));
    one.log.send('t', { key: 'a', value: '{"id":1,"n":"x"}' }, { key: 'a', value: '{"id":1,"n":"y"}' });
    expect(await one.catchUp()).toHaveLength(1);
    one.map(mapping(source, '{$.id}', ['$.n']));
    expect(await one.catchUp()).toHaveLength(2);
    // What comes meanwhile counts when it is read as before.
    one.log.send('t', { key: 'a', value: '{"id":1,"n":"z"}' }, { key: 'b', value: '{"id":2,"n":"z"}' });
    expect(await one.catchUp()).toHaveLength(4);
    one.map(mapping(`${source} ; qms:changes qms:Upsert`, '{$.id}', ['$.n']));
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "z"', '<http://e.org/2> "z"']);
    one.log.send('t', { key: 'b', value: null });
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/1> "z"']);
  });

  test('topics are joined with each other and with files', async () => {
    const one =
      following(`<#O> rml:logicalSource [ rml:source ${topic('orders', 'application/json')} ; qms:changes qms:Upsert ] ; rml:subjectMap [ rml:template "http://e.org/o{$.id}" ] ;
      rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap <#C> ; rml:joinCondition [ rml:child "$.customer" ; rml:parent "qms:key" ] ] ] ;
      rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap <#F> ; rml:joinCondition [ rml:child "$.country" ; rml:parent "code" ] ] ] .
      <#C> rml:logicalSource [ rml:source ${topic('customers', 'text/csv')} ; qms:changes qms:Upsert ] ; rml:subjectMap [ rml:template "http://e.org/c{name}" ] .
      <#F> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "f.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:subjectMap [ rml:template "http://e.org/f{name}" ] .`);
    one.write('f.csv', 'code,name\nAT,Austria\n');
    one.log.send('customers', { key: '7', value: 'name\nAda' });
    one.log.send('orders', { key: '1', value: '{"id":1,"customer":"7","country":"AT"}' });
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/o1> <http://e.org/cAda>', '<http://e.org/o1> <http://e.org/fAustria>']);
    one.log.send('customers', { key: '7', value: 'name\nBob' });
    expect(objectsOf(await one.catchUp())).toEqual(['<http://e.org/o1> <http://e.org/cBob>', '<http://e.org/o1> <http://e.org/fAustria>']);
  });
});

describe('what is wrong', () => {
  const upsert = mapping(`rml:source ${topic('t', 'application/json')} ; qms:changes qms:Upsert`, '{$.id}', ['$.n']);
  const wrong: readonly (readonly [name: string, mapping: string, sent: Sent, reason: RegExp])[] = [
    ['no JSON', upsert, { key: 'a', value: '{"id":1,' }, /^The value cannot be read: The text is no valid JSON/],
    ['no UTF-8', upsert, { key: 'a', value: Buffer.from([123, 255]) }, /^The value cannot be read: it is no text in UTF-8\. rml:encoding/],
    ['no key', upsert, { value: '{"id":1}' }, /^It has no key, and qms:Upsert keeps the newest value of each key/],
    [
      'Avro without a registry',
      upsert,
      { key: 'a', value: Buffer.from([0, 0, 0, 0, 1, 2]) },
      /it is Avro, and no schema registry is given/,
    ],
    [
      'an unclosed quote of CSV',
      mapping(`rml:source ${topic('t', 'text/csv')}`, '{id}', []),
      { value: 'id\n"a' },
      /^The value cannot be read: The text is no valid CSV/,
    ],
    [
      'no XML',
      mapping(`rml:source ${topic('t', 'text/xml')} ; rml:iterator "/a"`, '{b}', []),
      { value: '<a>' },
      /^The value cannot be read: The text is no valid XML/,
    ],
  ];
  test.each(wrong)('%s', async (_, text, sent, reason) => {
    const one = following(text);
    const good: Sent = text === upsert ? { key: 'b', value: '{"id":2,"n":"x"}' } : { value: null };
    one.log.send('t', sent, good);
    await one.catchUp({ onError: 'quarantine' });
    expect(one.rejected).toHaveLength(1);
    expect(one.rejected[0]).toMatchObject({ place: 't[0]@0', reason: expect.stringMatching(reason) });
    if (text === upsert) expect(await one.graph()).toHaveLength(1);
    await expect(following(text, one.log).catchUp()).rejects.toMatchObject({
      code: 'source/malformed',
      message: expect.stringContaining('t[0]@0: '),
    });
  });

  test('a member that no message has is reported', async () => {
    const one = following(upsert);
    one.log.send('t', { key: 'a', value: '{"id":1}' });
    await one.catchUp();
    expect(one.warnings).toEqual([expect.stringMatching(/No message of kafka:\/\/localhost:9092\/t has anything at \$\.n/)]);
  });

  test('a run refuses the mapping, and names the follower and the line', async () => {
    await expect(following('').run(upsert)).rejects.toMatchObject({
      code: 'mapping/invalid',
      message: expect.stringMatching(
        /files\.ttl:3:\d+: error: the topic t is read by quadmill follow, and by no run\n {4}quadmill follow MAPPING/,
      ),
    });
  });
});
