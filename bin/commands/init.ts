/** `quadmill init`: a mapping to start from, made of the first records of inputs or of the catalogue of a database. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { databaseUrlOf, INPUT_FORMATS, type InputFormat, splitSheet } from '../../src/core/input/formats.ts';
import { redact } from '../../src/core/redact.ts';
import { findNotInIri } from '../../src/core/text.ts';
import { describeDocument } from '../../src/infer/describe.ts';
import { writeMapping } from '../../src/infer/mapping.ts';
import type { DocumentSample } from '../../src/infer/sample.ts';
import { convertMapping } from '../../src/mapping/convert/convert.ts';
import { hasYarrrmlEnding } from '../../src/mapping/model/language.ts';
import { DEFAULT_BASE } from '../../src/run/request.ts';
import type { SampleOptions } from '../../src/sampling/options.ts';
import { sampleInput } from '../../src/sampling/sample.ts';
import { writeAtomically } from '../../src/storage/local/file.ts';
import { locate } from '../../src/storage/url.ts';
import { type Command, commandOf, numberOf, type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';
import { databaseOf, LOGIN_OPTIONS } from '../options/database.ts';
import { INPUT_OPTIONS, inputOptionsOf, webAccess } from '../options/inputs.ts';
import { refuseOtherEnding, targetOf, whatIsLeft } from '../options/output.ts';
import { count, printData, printLine } from '../terminal.ts';
import { documentOf } from './direct-mapping.ts';

const RECORDS = 1000;
/** So much of JSON and XML is looked at. */
const SAMPLE_BYTES = 2 ** 20;
const BASE = 'http://example.com/';
const LANGUAGES = ['rml', 'yarrrml'] as const;
type Language = (typeof LANGUAGES)[number];

const { delimiter, quote, encoding } = INPUT_OPTIONS;

const INIT: Command = {
  name: 'init',
  usage: 'init FILE… [options]',
  summary: `Writes a mapping to start from, with comments, by the first records of each FILE: CSV, TSV, JSON, JSON Lines, XML, Parquet, XLSX, ODS, also
compressed, or URLs. Of a database (a JDBC URL, or an SQLite file) it writes R2RML by the catalogue, as direct-mapping --r2rml does.`,
  options: {
    output: { short: 'o', value: 'FILE', summary: 'write to FILE; default standard output. The mapping names its inputs relative to it' },
    to: { value: 'LANGUAGE', choices: LANGUAGES, summary: 'default yarrrml if FILE ends with .yml, .yaml or .yarrrml, else rml' },
    force: { summary: 'overwrite FILE if it exists' },
    records: { value: 'N', summary: `look at the first N records of each file, default ${RECORDS}` },
    base: { value: 'IRI', summary: `what the IRIs of the graph begin with, default ${BASE}` },
    'input-format': { value: 'FORMAT', choices: INPUT_FORMATS, summary: 'format of the files, if their names do not show it' },
    ...{ delimiter, quote, encoding },
    ...LOGIN_OPTIONS,
  } as Command['options'],
  notes: `Classes are named after files, arrays and elements. A field that is unique and has a name like id or code is the key. A datatype is
written where all values that were read have it; a number with a leading zero is a text. Objects, arrays and elements within records get separate
triples maps. A field whose values are the key of another file is joined with it.

  quadmill init people.csv orders.csv -o shop.ttl
  quadmill init orders.json -o shop.yml
  quadmill init jdbc:postgresql://localhost/shop --db-user reader -o shop.ttl`,
};

export const init = commandOf(INIT, async (parsed) => {
  const inputs = parsed.positionals;
  if (inputs.length === 0) throw new UsageError('init needs at least one file, as in quadmill init people.csv');
  const output = parsed.value('output');
  if (output !== undefined && existsSync(output) && !parsed.has('force')) throw new UsageError(`${output} exists; --force overwrites it`);
  const language = languageOf(parsed, output);
  if (output !== undefined) refuseOtherEnding(output, language === 'rml' ? 'Turtle' : 'YARRRML');
  const base = baseOf(parsed);
  const read = sampleOptionsOf(parsed, language);
  const databases = inputs.filter((input) => jdbcUrlOf(input) !== undefined);
  if (databases.length > 0 && inputs.length > 1)
    throw new UsageError(`${databases[0]} is a database: its mapping is written alone, so call init once for each`);
  return withInterruption(whatIsLeft(targetOf(parsed)), async (signal) => {
    const [database] = databases;
    const { text, told, access } =
      database === undefined
        ? await ofFiles(inputs, base, language, output, { ...read, signal })
        : await ofDatabase(database, parsed, language, signal);
    if (output === undefined) printData(text);
    else await writeAtomically(resolve(output), text);
    if (output !== undefined)
      printLine(`${output}: ${told}; quadmill ${['run', output, ...access, '--limit', '10'].map(inShell).join(' ')} shows statements`);
    return EXIT.done;
  });
});

interface Written {
  readonly text: string;
  /** What it is, for a line on standard error. */
  readonly told: string;
  /** What a run needs beside the mapping. */
  readonly access: readonly string[];
}

async function ofFiles(
  inputs: readonly string[],
  base: string,
  language: Language,
  output: string | undefined,
  options: SampleOptions,
): Promise<Written> {
  const samples: DocumentSample[] = [];
  for (const input of inputs) samples.push(await sampleInput(input, pathFor(input, output), options).catch((error) => withFormats(error)));
  const entities = samples.flatMap(describeDocument);
  const heading = [
    `A mapping to start from, made by quadmill init of the first records of ${inputs.length === 1 ? 'one input' : `${inputs.length} inputs`}.`,
    'Classes and predicates have the names that the data has: replace them by those of a vocabulary.',
  ];
  const turtle = writeMapping(entities, { base, language, heading });
  if (turtle === undefined)
    throw new Fault('source/malformed', `${inputs.join(', ')}: there is no record to make a mapping of`, {
      hint: 'Give a file with records',
    });
  const text = language === 'rml' ? turtle : await inYarrrml(turtle);
  return { text, told: `${entities.length === 1 ? 'a triples map' : `${count(entities.length)} triples maps`}`, access: [] };
}

/** @throws the error; the one about an unknown ending says which option names the format */
function withFormats(error: unknown): never {
  if (!(error instanceof Fault) || error.code !== 'source/type' || error.hint !== undefined) throw error;
  throw error.with({ hint: `--input-format says what it is, one of ${INPUT_FORMATS.join(', ')}` });
}

async function ofDatabase(input: string, parsed: Parsed, language: Language, signal: AbortSignal): Promise<Written> {
  const access = databaseOf(parsed, jdbcUrlOf(input));
  if (access === undefined) throw new UsageError('init needs a JDBC URL, as in jdbc:postgresql://localhost/shop');
  const r2rml = await documentOf(access, { base: parsed.value('base') ?? DEFAULT_BASE, schemas: [], tables: [] }, signal);
  const login = Object.keys(LOGIN_OPTIONS).flatMap((option) => {
    const value = parsed.value(option);
    return value === undefined ? [] : [`--${option}`, value];
  });
  return {
    text: language === 'rml' ? r2rml : await inYarrrml(r2rml),
    told: 'the direct mapping of the tables',
    access: ['--jdbc-url', redact(access.jdbcUrl), ...login],
  };
}

/** A word of a command for a shell. */
const inShell = (word: string): string => (/^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** @throws Fault mapping/invalid — YARRRML cannot say it */
async function inYarrrml(turtle: string): Promise<string> {
  const { text, diagnostics } = await convertMapping([{ name: 'mapping', text: turtle }], 'yarrrml', { baseIri: DEFAULT_BASE });
  if (text !== undefined) return text;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  throw new Fault('mapping/invalid', [...new Set(errors)].join('; '), {
    hint: 'Write the mapping in RML: --to rml, or a file with the ending .ttl',
  });
}

function sampleOptionsOf(parsed: Parsed, language: Language): Omit<SampleOptions, 'signal'> {
  const { csv, encoding } = inputOptionsOf(parsed);
  const { limits, maxRecordBytes, memoryBudgetBytes } = RUN_DEFAULTS;
  const files = {
    directory: tmpdir(),
    memoryBytes: Math.floor(memoryBudgetBytes / 4),
    inflationRatio: limits.inflationRatio,
    inputBytes: limits.inputBytes,
  };
  return {
    workingDirectory: process.cwd(),
    reach: undefined,
    web: webAccess(),
    limits,
    records: numberOf(parsed, 'records', 1) ?? RECORDS,
    bytes: SAMPLE_BYTES,
    format: parsed.value('input-format') as InputFormat | undefined,
    delimiter: csv.delimiter,
    quote: csv.quoteChar,
    encoding,
    untilFault: false,
    maxRecordBytes,
    dialect: language === 'rml' ? 'rml' : 'legacy',
    files,
  };
}

const languageOf = (parsed: Parsed, output: string | undefined): Language =>
  (parsed.value('to') as Language | undefined) ?? (hasYarrrmlEnding(output ?? '') ? 'yarrrml' : 'rml');

function baseOf(parsed: Parsed): string {
  const base = parsed.value('base') ?? BASE;
  if (!URL.canParse(base) || findNotInIri(base) >= 0) throw new UsageError(`--base is '${base}', expected is an absolute IRI`);
  return /[/#]$/.test(base) ? base : `${base}/`;
}

/** The JDBC URL of a database, also of a file by its extension. */
const jdbcUrlOf = (input: string): string | undefined => (/^jdbc:/i.test(input) ? input : databaseUrlOf(input));

/** What the mapping calls an input: a URL as it is, a file relative to the mapping. */
function pathFor(input: string, output: string | undefined): string {
  const { path, sheet } = splitSheet(input);
  const location = locate(path, process.cwd());
  if (location.kind !== 'file') return input;
  const found = relative(output === undefined ? process.cwd() : dirname(resolve(output)), location.path);
  const portable = isAbsolute(found) ? found : found.split(sep).join('/');
  return sheet === undefined ? portable : `${portable}#${sheet}`;
}
