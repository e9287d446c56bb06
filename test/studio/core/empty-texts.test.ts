/** One meaning of an empty text: in samples, in the mapping that is written, and in its run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import type { InputFormat } from '../../../src/core/input/formats.ts';
import { sampleFields } from '../../../src/sampling/fields.ts';
import { addAttribute, setTermType } from '../../../studio/core/commands/elements/attributes.ts';
import { addEntity } from '../../../studio/core/commands/elements/entities.ts';
import { addInput, relocateInput, setEmpty } from '../../../studio/core/commands/elements/inputs.ts';
import type { Format, Input, Language, Location, StudioDocument } from '../../../studio/core/document.ts';
import { recordsOf } from '../../../studio/core/elements/records.ts';
import { fieldsByPath } from '../../../studio/core/elements/schema.ts';
import { emptyIsNone, isEmptyWithoutQuotes, whyNoSwitch } from '../../../studio/core/empty-texts.ts';
import { print } from '../../../studio/core/print/print.ts';
import { read } from '../../../studio/core/read/read.ts';
import { linesOf } from '../../src/run/random/engine.ts';
import { FILES } from '../../src/sources/sheet/reading.ts';
import { ods, odsRows, xlsx, xlsxRows } from '../../src/sources/sheet/workbooks.ts';
import { model } from './support/model.ts';
import { perform } from './support/perform.ts';

const ROWS = [
  ['id', 'name', 'page'],
  ['1', 'Ann', 'http://a.example/'],
  ['2', '', ''],
  ['3', 'Bo', ''],
];

/** Three objects: two have a name, and one has a page. Values that are not there are empty texts. */
const FILES_BY_NAME: Readonly<Record<string, readonly [format: Format, content: string | Buffer]>> = {
  'p.csv': ['csv', 'id,name,page\n1,Ann,http://a.example/\n2,,\n3,Bo,\n'],
  'quoted.csv': ['csv', '"id","name","page"\n"1","Ann","http://a.example/"\n"2","",""\n"3","Bo",""\n'],
  'p.tsv': ['csv', 'id\tname\tpage\n1\tAnn\thttp://a.example/\n2\t\t\n3\tBo\t\n'],
  'p.xlsx': ['xlsx', xlsx({ sheets: { S: xlsxRows(ROWS) } })],
  'p.ods': ['ods', ods({ sheets: { S: odsRows(ROWS) } })],
  'p.json': ['json', '[{"id":1,"name":"Ann","page":"http://a.example/"},{"id":2,"name":"","page":""},{"id":3,"name":"Bo","page":""}]'],
  'p.jsonl': ['jsonl', '{"id":1,"name":"Ann","page":"http://a.example/"}\n{"id":2,"name":"","page":""}\n{"id":3,"name":"Bo","page":""}\n'],
  'p.xml': [
    'xml',
    '<all><p id="1" name="Ann"><page>http://a.example/</page></p><p id="2" name=""><page/></p><p id="3" name="Bo"><page></page></p></all>',
  ],
};

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-empty-texts-'));
  for (const [name, [, content]] of Object.entries(FILES_BY_NAME)) writeFileSync(join(directory, name), content);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ACCESS = { reach: undefined, web: RUN_DEFAULTS.web, limits: RUN_DEFAULTS.limits, maxRecordBytes: 2 ** 20, files: FILES };

/** As the page asks for it. */
async function sampleOf({ nulls, format, location }: Input, name: string, language: Language) {
  const legacy = isEmptyWithoutQuotes(language, { format, location });
  const asked = format === 'csv' ? {} : { format: format as InputFormat };
  const question = { location: join(directory, name), nulls, legacy, ...asked };
  const { fields } = await sampleFields(question, { ...ACCESS, workingDirectory: directory }, Date.now() + 60_000);
  return format === 'jsonl' ? fields.map((field) => ({ ...field, path: [{ each: true } as const, ...field.path] })) : fields;
}

const nameOf = ({ path }: { readonly path: readonly object[] }): string => Object.values(path.at(-1) ?? {})[0] as string;

interface Meaning {
  readonly document: StudioDocument;
  /** How many objects have a name and a page, by the sample and by the run. */
  readonly sampled: readonly number[];
  readonly made: readonly number[];
}

/** A model of one input, each of whose objects is an entity with a name as literal and a page as IRI. */
async function meaningOf(name: string, language: Language, isNone?: boolean): Promise<Meaning> {
  const [format] = FILES_BY_NAME[name] as (typeof FILES_BY_NAME)[string];
  const location: Location = { kind: 'file', path: name };
  let document = perform({ ...model([]), language }, addInput, { name, location, format }).document;
  const [{ id }] = recordsOf(document, 'input') as [Input];
  if (isNone !== undefined) document = perform(document, setEmpty, { id, isNone }).document;
  const [input] = recordsOf(document, 'input') as [Input];
  const fields = await sampleOf(input, name, language);
  const schema = new Map([[id, fieldsByPath(fields)]]);
  const at = (field: string) => ({ input: id, path: fields.find((one) => nameOf(one) === field)?.path ?? [] });
  document = perform(document, addEntity, { schema, at: at('id') }).document;
  document = perform(document, addAttribute, { schema, at: at('name'), predicates: ['http://e.org/name'] }).document;
  document = perform(document, addAttribute, { schema, at: at('page'), predicates: ['http://e.org/page'] }).document;
  const page = recordsOf(document, 'attribute').at(-1)?.id ?? '';
  document = perform(document, setTermType, { id: page, termType: 'iri' }).document;
  const { text, diagnostics } = await print(document, language);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const file = language === 'yarrrml' ? 'm.yml' : 'm.ttl';
  writeFileSync(join(directory, file), text as string);
  const lines = await linesOf({ mappings: [join(directory, file)], workingDirectory: directory });
  const again = await read(text as string, language);
  expect(recordsOf(again.document, 'input').map(({ nulls }) => nulls)).toEqual([input.nulls]);
  const values = (field: string): number => fields.find((one) => nameOf(one) === field)?.values?.values ?? 0;
  const count = (field: string): number => lines.filter((line) => line.includes(`/${field}>`)).length;
  return { document, sampled: [values('name'), values('page')], made: [count('name'), count('page')] };
}

describe.each(Object.keys(FILES_BY_NAME))('%s', (name) => {
  test('an empty text is no value in what the studio makes', async () => {
    const { document, sampled, made } = await meaningOf(name, 'rml');
    expect(recordsOf(document, 'input').map(({ nulls }) => nulls)).toEqual([['']]);
    expect({ sampled, made }).toEqual({ sampled: [2, 1], made: [2, 1] });
  });
  test('it is a value when the switch is off', async () => {
    const { sampled, made } = await meaningOf(name, 'rml', false);
    expect({ sampled, made }).toEqual({ sampled: [3, 3], made: [3, 3] });
  });
  test.each(['legacy', 'yarrrml'] as const)('%s: what the sample shows is what the run makes', async (language) => {
    for (const isNone of [undefined, false, true]) {
      const { sampled, made } = await meaningOf(name, language, isNone);
      expect(made).toEqual(sampled);
    }
  });
});

describe('set-empty', () => {
  const withInput = (language: Language, format: Format, location: Location): StudioDocument =>
    perform({ ...model([]), language }, addInput, { name: 'a', location, format }).document;
  const inputOf = (document: StudioDocument): Input => recordsOf(document, 'input')[0] as Input;
  const FILE: Location = { kind: 'file', path: 'a' };
  const TABLE: Location = { kind: 'table', table: 'a' };
  const OTHER: Location = { kind: 'table', table: 'a', database: { url: 'jdbc:postgresql://db/x' } };

  test.each<[Language, Format, Location, nulls: readonly string[], isNone: boolean, refused: string | undefined]>([
    ['rml', 'csv', FILE, [''], true, undefined],
    ['rml', 'parquet', FILE, [''], true, undefined],
    ['rml', 'sql', OTHER, [''], true, undefined],
    ['rml', 'sql', TABLE, [], false, "NULL alone is no value in a database of the run. Write a query that gives NULL: NULLIF(name, '')."],
    ['r2rml', 'sql', TABLE, [], false, "NULL alone is no value in a database of the run. Write a query that gives NULL: NULLIF(name, '')."],
    ['legacy', 'xlsx', FILE, [''], true, undefined],
    ['legacy', 'json', FILE, [], false, 'RML (older vocabulary) cannot say that an empty text is no value: today’s RML can.'],
    ['yarrrml', 'csv', FILE, [], true, 'YARRRML has no value for an empty cell, unless it stands in quotes.'],
    ['yarrrml', 'xml', FILE, [], false, 'YARRRML cannot say that an empty text is no value: today’s RML can.'],
  ])('%s, %s %j: %j', (language, format, location, nulls, isNone, refused) => {
    const document = withInput(language, format, location);
    const input = inputOf(document);
    expect({ nulls: input.nulls, isNone: emptyIsNone(language, input), why: whyNoSwitch(language, input) }).toEqual({
      nulls,
      isNone,
      why: refused,
    });
    const off = perform(document, setEmpty, { id: input.id, isNone: false });
    expect(off.refused).toBe(refused);
    if (refused !== undefined) return;
    expect(inputOf(off.document).nulls).toEqual([]);
    expect(off.said).toBe('Empty texts of a are values');
    const on = perform(off.document, setEmpty, { id: input.id, isNone: true });
    expect({ nulls: inputOf(on.document).nulls, said: on.said }).toEqual({ nulls: [''], said: 'Empty texts of a are no value' });
  });

  test('keeps the other texts that are no value', () => {
    const { document } = perform(model([]), addInput, { name: 'a', location: FILE, format: 'csv', nulls: ['NA', ''] });
    const { id } = inputOf(document);
    expect(inputOf(perform(document, setEmpty, { id, isNone: false }).document).nulls).toEqual(['NA']);
  });

  test('an input that becomes one of which the language cannot say it loses it', () => {
    const document = withInput('legacy', 'csv', FILE);
    const { document: moved } = perform(document, relocateInput, { id: inputOf(document).id, location: FILE, format: 'json' });
    expect(inputOf(moved).nulls).toEqual([]);
  });

  test('a language that cannot say it tells of each input, and the model is written', async () => {
    const { document } = await meaningOf('p.json', 'rml');
    const { text, diagnostics } = await print(document, 'yarrrml');
    expect(text).toContain('p.json~jsonpath');
    expect(diagnostics.map(({ message }) => message)).toContain(
      'an empty text of p.json becomes a value: YARRRML cannot say that it is none',
    );
    expect((await print((await meaningOf('p.csv', 'rml')).document, 'legacy')).text).toContain('csvw:url "p.csv" ; csvw:null ""');
  });
});
