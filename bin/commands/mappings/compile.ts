/** `quadmill compile`: a mapping as SQL of another engine. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { allSourcesOf, type FileSource } from '../../../src/mapping/model/model.ts';
import { locateSource } from '../../../src/run/prepare/documents/inputs.ts';
import { labelsOf } from '../../../src/run/prepare/labels.ts';
import { loadMapping } from '../../../src/run/prepare/load.ts';
import { DEFAULT_BASE } from '../../../src/run/request.ts';
import { writeAtomically } from '../../../src/storage/local/file.ts';
import { DIALECTS, type DialectName } from '../../../src/transpile/dialects/dialect.ts';
import { jobFiles } from '../../../src/transpile/job.ts';
import type { Binding } from '../../../src/transpile/records.ts';
import { refusalLine, throwRefusals } from '../../../src/transpile/refusals.ts';
import { type Transpiled, transpile } from '../../../src/transpile/transpile.ts';
import { type Command, commandOf, UsageError } from '../../command-line.ts';
import { EXIT } from '../../exit.ts';
import { webAccess } from '../../options/inputs.ts';
import { PLACE_OPTIONS, placesOf } from '../../options/places.ts';
import { printData, printLine } from '../../terminal.ts';

const COMPILE: Command = {
  name: 'compile',
  usage: 'compile MAPPING… --for ENGINE -o DIRECTORY [options]',
  summary:
    'Writes mappings, which together make one mapping, as a job of another engine: Apache Spark, for data that lies in a lake or outgrows a machine, or DuckDB. No input is read.',
  options: {
    for: { value: 'ENGINE', choices: DIALECTS, summary: 'spark (4.0 or later) or duckdb' },
    output: { short: 'o', value: 'DIRECTORY', summary: 'where the files of the job go' },
    ...PLACE_OPTIONS,
    check: { summary: 'write nothing, and print all reasons why the engine cannot do it' },
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
  },
  notes: `The job gives the lines of quadmill run --on-error strict. Exit codes: 0 done, 2 the engine cannot, or the command line or the mapping is wrong.

  quadmill compile people.ttl --for spark -o job --source people.csv=s3a://lake/people/
  quadmill compile people.ttl --for duckdb --check`,
};

export const compile = commandOf(COMPILE, async (parsed) => {
  const engine = parsed.value('for') as DialectName | undefined;
  const output = parsed.value('output');
  if (parsed.positionals.length === 0) throw new UsageError('compile needs a mapping');
  if (engine === undefined) throw new UsageError(`compile needs --for, one of ${DIALECTS.join(', ')}`);
  if (output === undefined && !parsed.has('check')) throw new UsageError('compile needs -o DIRECTORY, or --check');
  const transpiled = await transpileFiles(parsed.positionals, engine, placesOf(parsed), parsed.value('base') ?? DEFAULT_BASE);
  const { dialect, refusals } = transpiled;
  if (parsed.has('check')) {
    printData(refusals.length === 0 ? `${dialect.title} can run the mapping\n` : `${refusals.map(refusalLine).join('\n')}\n`);
    return refusals.length === 0 ? EXIT.done : EXIT.usage;
  }
  throwRefusals(refusals, dialect.title);
  const directory = resolve(output as string);
  await mkdir(directory, { recursive: true });
  const files = jobFiles(transpiled, parsed.positionals);
  for (const { name, text } of files) await writeAtomically(join(directory, name), text);
  printLine(`${files.map(({ name }) => name).join(', ')} are in ${output}`);
  return EXIT.done;
});

/**
 * @param urls of mappings
 * @param places by the path or the IRI of a source in the mapping
 * @throws UsageError — a place is of no source; Fault mapping/syntax, mapping/invalid
 */
export async function transpileFiles(
  urls: readonly string[],
  engine: DialectName,
  places: ReadonlyMap<string, string>,
  base: string,
  workingDirectory = process.cwd(),
): Promise<Transpiled> {
  const { mapping, documents } = await loadMapping(urls, { baseIri: base }, { workingDirectory, reach: undefined, s3: webAccess().s3 });
  const sources = allSourcesOf(mapping);
  const files = sources.filter((source): source is FileSource => source.kind === 'file');
  const nameIn = ({ path, ids }: FileSource): string | undefined => [path, ...ids].find((name) => places.has(name));
  for (const name of places.keys())
    if (!files.some(({ path, ids }) => [path, ...ids].includes(name)))
      throw new UsageError(`--source names '${name}', and the sources are ${[...new Set(files.map(({ path }) => path))].join(', ')}`);
  const placeOf = (source: FileSource): string => {
    const name = nameIn(source);
    return name === undefined ? locateSource(source, { workingDirectory }) : (places.get(name) as string);
  };
  const bind = (source: FileSource): Binding => {
    const place = placeOf(source);
    return place.startsWith('table:') ? { kind: 'table', name: place.slice('table:'.length) } : { kind: 'file', path: place };
  };
  const inputs = sources.map((source) => ({ source, place: source.kind === 'file' ? { url: placeOf(source), given: false } : undefined }));
  const { values } = labelsOf(documents, [], inputs, { runId: 'compile', workingDirectory, database: undefined });
  return transpile(mapping, engine, { base, labels: values, bind });
}
