import { describe, expect, test } from '@jest/globals';
import { type ConfigDocument, configDocument, type DocumentService } from '../../../src/config/document.ts';
import { DEFAULTS, OPTION_NAMES, type OptionName, optionRow } from '../../../src/config/options/options.ts';
import { findOption, parseOption, readEnvironment, redactedValue } from '../../../src/config/parse.ts';
import { openConfig, type SharedSettings } from '../../../src/config/store.ts';
import { Fault } from '../../../src/core/fault.ts';
import { FORMATS, INPUT_FORMATS, splitSheet } from '../../../src/core/input/formats.ts';
import { redact } from '../../../src/core/redact.ts';
import { Secret } from '../../../src/core/secret.ts';

const transformer: DocumentService = { name: 'Semi-Structured-Transformer', scope: 'transformer' };
const writer: DocumentService = { name: 'Graph-Writer', scope: 'writer' };

function faultOf(action: () => unknown): Fault {
  try {
    action();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no fault was thrown');
}

/** Shared settings of one process, watched at once. */
function memorySettings(): SharedSettings & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  const watchers = new Set<() => void>();
  return {
    values,
    get: async (key) => values.get(key),
    async compareAndSet(key, expected, value) {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      for (const watcher of [...watchers]) watcher();
      return true;
    },
    watch(key, changed) {
      const watcher = (): void => changed(values.get(key));
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

describe('the table of options', () => {
  test('gives each option a unique path and a summary that ends with a full stop', () => {
    expect(new Set(OPTION_NAMES.map((name) => optionRow(name).path)).size).toBe(OPTION_NAMES.length);
    expect(OPTION_NAMES.filter((name) => !optionRow(name).summary.endsWith('.'))).toEqual([]);
  });

  test('has no option whose path lies below that of another', () => {
    const paths = OPTION_NAMES.map((name) => optionRow(name).path);
    expect(paths.filter((path) => paths.some((other) => path.startsWith(`${other}.`)))).toEqual([]);
  });

  test('has defaults that the option itself would take', () => {
    for (const name of OPTION_NAMES) {
      const value = DEFAULTS[name];
      if (value !== undefined) expect([name, parseOption(name, String(value))]).toEqual([name, value]);
    }
  });
});

describe('parsing', () => {
  test.each<[OptionName, string, unknown]>([
    ['PORT', ' 9000 ', 9000],
    ['DISTINCT', 'FALSE', false],
    ['DISTINCT', 'on', true],
    ['OUTPUT_FILE_FORMAT', 'NTriples', 'ntriples'],
    ['KAFKA_BROKERS', 'one:9092, two:9092,', ['one:9092', 'two:9092']],
    ['SWITCHED_OFF_ACTIVITIES', '', []],
    ['QUEUE_URL', 'redis://localhost:6379/1', 'redis://localhost:6379/1'],
    ['BASE_IRI', '', undefined],
    ['ON_ERROR', 'quarantine', 'quarantine'],
    ['UPDATE_GRAPHS', 'http://e.org/g#1, urn:x:y,default', ['http://e.org/g#1', 'urn:x:y', 'default']],
    ['API_TOKENS', 'ops:operator:abc', [new Secret('ops:operator:abc')]],
  ])('reads %s from %j', (name, text, value) => {
    expect(parseOption(name, text)).toEqual(value);
  });

  test.each<[OptionName, string, RegExp]>([
    ['PORT', '70000', /integer from 0 to 65535/],
    ['PORT', '80.5', /integer/],
    ['DISTINCT', 'maybe', /true or false/],
    ['ON_ERROR', 'ignore', /auto, strict, skip, quarantine/],
    ['QUEUE_URL', 'amqp://localhost', /redis:\/\//],
    ['QUEUE_PREFIX', 'a b', /letters/],
    ['SWITCHED_OFF_ACTIVITIES', 'main,all', /execution/],
    ['OUTPUT_DIR_URL', '/a directory', /without spaces/],
    ['UPDATE_GRAPHS', 'http://e.org/g, graphs/one', /value "graphs\/one": expected for each graph an absolute IRI/],
    ['UPDATE_GRAPHS', '<http://e.org/g>', /without angle brackets/],
    ['UPDATE_GRAPHS', 'Default', /or default/],
    ['SKOLEM_BASE_IRI', 'genid/', /an absolute IRI/],
    ['BASE_IRI', '//host/base/', /an absolute IRI/],
  ])('refuses for %s the text %j', (name, text, expected) => {
    const fault = faultOf(() => parseOption(name, text));
    expect(fault.code).toBe('config/invalid');
    expect(fault.message).toContain(name);
    expect(fault.message).toMatch(expected);
  });

  test('never repeats a secret in a message', () => {
    expect(faultOf(() => parseOption('API_TOKENS', 'hunter2')).message).not.toContain('hunter2');
  });

  test.each([
    ['KAFKA_TOPIC_NAME_DLQ', 'KAFKA_TOPIC_NAME_DLQ'],
    ['kafka.topicNameDLQ', 'KAFKA_TOPIC_NAME_DLQ'],
    ['serviceTransformerConfig.provenance.recordProvo', 'RECORD_PROVO'],
    ['friendlyName', 'FRIENDLY_NAME'],
  ])('finds the option of %s', (entry, name) => {
    expect(findOption(entry)).toBe(name);
  });

  test('names the nearest options for one that it does not know', () => {
    const fault = faultOf(() => findOption('KAFKA_BROKER'));
    expect(fault.code).toBe('config/unknown');
    expect(fault.hint).toContain('KAFKA_BROKERS');
  });

  test('does not take a property of every object for an option', () => {
    expect(faultOf(() => findOption('constructor')).code).toBe('config/unknown');
  });

  test('reads the environment, leaves foreign variables alone and points at misspelt ones', () => {
    const { values, suspects } = readEnvironment({ PATH: '/bin', PORT: '81', HOST: '', WORKER_CONCURENCY: '3' });
    expect(values).toEqual({ PORT: 81 });
    expect(suspects).toEqual([{ name: 'WORKER_CONCURENCY', hint: expect.stringContaining('WORKER_CONCURRENCY') }]);
  });
});

describe('the document', () => {
  const settings = {
    ...DEFAULTS,
    KAFKA_PASSWORD: new Secret('hunter2'),
    QUEUE_URL: 'redis://user:hunter3@host/0',
    DB_PASSWORD: new Secret('hunter4'),
  };

  test('has the keys of the specification', () => {
    const document = configDocument(DEFAULTS, transformer) as unknown as {
      serviceTransformerConfig: Record<string, Record<string, unknown>>;
    };
    expect(document).toMatchObject({
      version: expect.stringMatching(/^\d/),
      applicationName: transformer.name,
      friendlyName: transformer.name,
    });
    expect(document.serviceTransformerConfig.kafka).toMatchObject({ topicNameSource: 'source_urls', topicNameDLQ: 'dead_letter_queue' });
    expect(document.serviceTransformerConfig.provenance).toMatchObject({ recordProvo: false, switchedOffActivities: '' });
  });

  test('hides every secret, and passwords inside URLs', () => {
    const text = JSON.stringify(configDocument(settings, transformer));
    expect(text).not.toMatch(/hunter/);
    expect(text).toContain('"password":"******"');
    expect(text).toContain('redis://user:******@host/0');
  });

  test('shows to each service what is its own', () => {
    expect(configDocument(DEFAULTS, writer)).toHaveProperty('serviceWriterConfig.triplestore.type', 'embedded');
    expect(configDocument(DEFAULTS, writer)).not.toHaveProperty('serviceWriterConfig.mapping');
    expect(configDocument(DEFAULTS, transformer)).not.toHaveProperty('serviceTransformerConfig.triplestore');
  });

  test.each<[string[], ConfigDocument]>([
    [['RECORD_PROVO'], { serviceTransformerConfig: { provenance: { recordProvo: false } } }],
    [
      ['provenance.recordProvo', 'friendlyName'],
      { friendlyName: transformer.name, serviceTransformerConfig: { provenance: { recordProvo: false } } },
    ],
    [['applicationName'], { applicationName: transformer.name }],
    [['DB_PASSWORD'], { serviceTransformerConfig: { sql: { password: '******' } } }],
    [
      ['serviceTransformerConfig.s3'],
      {
        serviceTransformerConfig: {
          s3: {
            ...{ accessKey: null, secretKey: null, region: null, endpoint: null, pathStyle: false },
            ...{ serverSideEncryption: 'none', kmsKeyId: null },
          },
        },
      },
    ],
  ])('restricted to %j has nothing else', (paths, expected) => {
    expect(configDocument(settings, transformer, paths)).toEqual(expected);
  });

  test('refuses an entry that there is not', () => {
    expect(faultOf(() => configDocument(DEFAULTS, transformer, ['kafka.topicName'])).hint).toMatch(/topicName/);
  });

  test.each([
    ['postgres://u:p:w@host/db', 'postgres://u:******@host/db'],
    ['jdbc:mysql://host/db?user=u&password=p', 'jdbc:mysql://host/db?user=u&password=******'],
    ['http://host/a:b@c', 'http://host/a:b@c'],
    ['https://host/x#access_token=abc&state=1', 'https://host/x#******'],
    ['https://host/x?a=1#sig=abc', 'https://host/x?a=1#******'],
    ['https://host/file/7#Kd83-jsH2', 'https://host/file/7#******'],
    ['s3://bucket/people.csv#Kd83', 's3://bucket/people.csv#******'],
    ['jdbc:postgresql://host/db?user=u#Kd83', 'jdbc:postgresql://host/db?user=u#******'],
    ['https://host/onto#', 'https://host/onto#'],
    ['https://host/book.xlsx?v=2#Staff!B3:F20', 'https://host/book.xlsx?v=2#Staff!B3:F20'],
    ['https://host/book.ods#Costs%202026', 'https://host/book.ods#Costs%202026'],
    ['https://host/book.xls.csv#Staff', 'https://host/book.xls.csv#******'],
    ['s3://bucket/book.xlsb.zip#2', 's3://bucket/book.xlsb.zip#2'],
    ['https://host/f.jar#sha256=abc', 'https://host/f.jar#sha256=abc'],
    ['people.csv#Kd83', 'people.csv#Kd83'],
    ['book.xlsx#Sheet 1', 'book.xlsx#Sheet 1'],
    ['The property http://w3id.org/rml/core#source is twice', 'The property http://w3id.org/rml/core#source is twice'],
    ['see https://host/x#token=abc', 'see https://host/x#token=******'],
    ['jdbc:oracle:thin:scott/tiger@//h:1521/s', 'jdbc:oracle:thin:scott/******@//h:1521/s'],
    ['jdbc:oracle:thin:scott/ti@ger/x@(DESCRIPTION=(ADDRESS=(HOST=h)))', 'jdbc:oracle:thin:scott/******@(DESCRIPTION=(ADDRESS=(HOST=h)))'],
    ['jdbc:oracle:thin:@//h:1521/s', 'jdbc:oracle:thin:@//h:1521/s'],
  ])('shows %s as %s', (url, shown) => {
    expect(redact(url)).toBe(shown);
  });
});

test.each(INPUT_FORMATS.flatMap((format) => FORMATS[format].extensions))(
  'the sheet of a workbook is shown, and no other fragment: .%s',
  (ending) => {
    const url = `https://host/a.${ending}#Staff`;
    expect(redact(url)).toBe(splitSheet(url).sheet === undefined ? `https://host/a.${ending}#******` : url);
  },
);

test('options that name no place keep the fragments of IRIs', () => {
  expect([redactedValue('SKOLEM_BASE_IRI', 'http://e.org/#b-'), redactedValue('MAPPINGS_DIR_URL', 'http://e.org/#b')]).toEqual([
    'http://e.org/#b-',
    'http://e.org/#******',
  ]);
});

describe('the store', () => {
  test('puts stored changes over the environment, and that over the defaults', async () => {
    const settings = memorySettings();
    const store = await openConfig({ MAX_RECORD_BYTES: 2048, DISTINCT: false }, settings);
    await store.update('mapping.distinct', 'true');
    expect(store.snapshot()).toMatchObject({ PORT: 8080, MAX_RECORD_BYTES: 2048, DISTINCT: true });
    store.close();
    const again = await openConfig({ DISTINCT: false }, settings);
    expect(again.snapshot().DISTINCT).toBe(true);
    again.close();
  });

  test('lets another process see a change, while an earlier snapshot stays as it was', async () => {
    const settings = memorySettings();
    const [one, two] = [await openConfig({}, settings), await openConfig({}, settings)];
    const before = two.snapshot();
    const seen: unknown[] = [];
    two.onChange((snapshot) => seen.push(snapshot.FRIENDLY_NAME));
    await one.update('friendlyName', 'Mill');
    expect(seen).toEqual(['Mill']);
    expect([before.FRIENDLY_NAME, two.snapshot().FRIENDLY_NAME]).toEqual([undefined, 'Mill']);
    one.close();
    two.close();
  });

  test('loses none of the changes that are made at the same time', async () => {
    const settings = memorySettings();
    const stores = await Promise.all([1, 2, 3].map(() => openConfig({}, settings)));
    await Promise.all([
      stores[0]?.update('DISTINCT', 'false'),
      stores[1]?.update('MAX_REJECTED', '5'),
      stores[2]?.update('S3_REGION', 'eu'),
    ]);
    for (const store of stores) {
      expect(store.snapshot()).toMatchObject({ DISTINCT: false, MAX_REJECTED: 5, S3_REGION: 'eu' });
      store.close();
    }
  });

  test('refuses to change what is read at start only', async () => {
    const store = await openConfig({}, memorySettings());
    await expect(store.update('PORT', '81')).rejects.toMatchObject({ code: 'config/invalid', message: expect.stringContaining('PORT') });
    await expect(store.update('DISTINCT', 'x')).rejects.toMatchObject({ code: 'config/invalid' });
    await expect(store.update('DISTINKT', 'true')).rejects.toMatchObject({ code: 'config/unknown' });
    store.close();
  });

  test('starts in spite of a stored value that it does not take any more', async () => {
    const settings = memorySettings();
    settings.values.set('config', JSON.stringify({ ON_ERROR: 'explode', DISTINCT: 'false', GONE: 'x' }));
    const store = await openConfig({}, settings);
    expect(store.snapshot()).toMatchObject({ ON_ERROR: 'auto', DISTINCT: false });
    store.close();
  });
});
