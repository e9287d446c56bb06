/** Finds the documents of each logical source: those that the request binds by name, else the path in the mapping. */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../../core/fault.ts';
import {
  FORMATS,
  FORMULATIONS,
  hasTypedColumns,
  type InputFormat,
  isReadAs,
  isWorkbook,
  readAs,
  splitSheet,
} from '../../../core/input/formats.ts';
import { nearest } from '../../../core/nearest.ts';
import { redact } from '../../../core/redact.ts';
import { type FileSource, formatOrigin, type LogicalSource } from '../../../mapping/model/model.ts';
import { formatByExtension, inputFormat } from '../../../storage/input-format.ts';
import { pathsMeant } from '../../../storage/input-names.ts';
import { type InputBinding, type InputOptions, type RunRequest, STANDARD_INPUT } from '../../request.ts';
import { formatOfAnswer } from './web-answer.ts';

/** A document of a source. */
export interface DocumentPlace {
  /** URL or path. */
  readonly url: string;
  /** Of a workbook: the sheet that the request names, else the one of the mapping. */
  readonly sheet?: string;
  /** The request names it: its type must be supported, whatever the mapping says. */
  readonly given: boolean;
  /** The version (`InputState`) of which the run knows something, and which it must read. */
  readonly version?: string;
}

/**
 * URLs of the inputs that are bound to each source, in request order.
 *
 * @param byFileName whether an input without a name is matched with the source that has its file name; otherwise there must be exactly one
 * source
 * @param mayBeIdle whether an input may have a name that no source has: its source may have been left out
 * @throws Fault request/invalid — an input that matches no source, or several
 */
export function bindSources(
  all: readonly LogicalSource[],
  inputs: readonly InputBinding[],
  byFileName: boolean,
  mayBeIdle = false,
): ReadonlyMap<FileSource, readonly string[]> {
  const bound = new Map<FileSource, string[]>();
  const sources = all.filter((source) => source.kind === 'file');
  for (const input of inputs) {
    const named =
      input.name === undefined ? meant(sources, input, byFileName) : sources.filter((source) => isNamed(source, input.name as string));
    if (named.length === 0 && !mayBeIdle) throw unknownName(input.name as string, sources);
    for (const source of named) bound.set(source, [...(bound.get(source) ?? []), input.url]);
  }
  return bound;
}

/**
 * The documents of each source, at least one, in read order; none for a database.
 *
 * @throws Fault source/type — an input of an unsupported type, or of another type than the mapping expects
 */
export function locateInputs(
  sources: readonly LogicalSource[],
  request: Pick<RunRequest, 'inputs' | 'boundOnly' | 'validOnly' | 'workingDirectory' | 'inputOptions'>,
): readonly (readonly DocumentPlace[] | undefined)[] {
  const { inputOptions } = request;
  const bound = bindSources(sources, request.inputs, request.boundOnly === true, request.validOnly);
  if (inputOptions !== undefined) checkInputOptions(inputOptions, sources, bound);
  return sources.map((source) => {
    if (source.kind === 'sql') return undefined;
    const urls = bound.get(source);
    const given = urls?.map((url) => placeOf(url, source, true));
    for (const { url } of given ?? []) checkType(url, source, inputOptions);
    if (given !== undefined) return given;
    const place = placeOf(locateSource(source, request), source, false);
    // A workbook or Parquet is never text, whatever the reference formulation; this fault says more than one about encodings.
    const format = formatByName(place.url);
    if (format !== undefined && hasTypedColumns(format) && source.request === undefined) checkFormat(format, place.url, source);
    return [place];
  });
}

/** @param url with the sheet of a workbook, if the request names one */
function placeOf(url: string, source: FileSource, given: boolean): DocumentPlace {
  const { path, sheet = source.sheet } = splitSheet(url);
  return { url: path, given, ...(sheet === undefined ? {} : { sheet }) };
}

const isNamed = ({ path, sheet, ids }: FileSource, name: string): boolean =>
  path === name || (sheet !== undefined && name === `${path}#${sheet}`) || ids.includes(name);

/** Every source with the only path that the input can match. */
function meant(sources: readonly FileSource[], { url }: InputBinding, byFileName: boolean): readonly FileSource[] {
  const paths = [...new Set(sources.map(({ path }) => path))];
  const found = byFileName || paths.length === 1 ? pathsMeant(splitSheet(url).path, paths) : [];
  if (found.length === 1) return sources.filter(({ path }) => path === found[0]);
  const why = byFileName ? `, of which ${found.length === 0 ? 'none has' : `${found.length} have`} the name of its file` : '';
  throw new Fault('request/invalid', `The input ${redact(url)} has no name, and the mapping has ${paths.length} file sources${why}`, {
    hint: paths.length === 0 ? 'It reads databases alone' : `Name one of ${(found.length === 0 ? paths : found).join(', ')}`,
  });
}

function unknownName(name: string, sources: readonly FileSource[]): Fault {
  const names = [...new Set(sources.flatMap(({ path, ids }) => [path, ...ids.filter((id) => !id.startsWith('_:'))]))];
  const near = nearest(name, names);
  return new Fault('request/invalid', `The mapping has no source named ${JSON.stringify(name)}`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Its file sources are ${names.join(', ') || 'none'}`,
  });
}

/** For inputs of servers without a known extension the response decides (`checkFormat`). On the command line the mapping may decide. */
function checkType(url: string, source: FileSource, inputOptions: InputOptions | undefined): void {
  // Endpoints have no extension, and the query says in which format they answer.
  if (source.request?.kind === 'select') return;
  if (inputOptions?.format !== undefined && isReadAs(inputOptions.format, source.formulation)) return;
  const format = inputOptions !== undefined || /^(?:https?|s3):/i.test(url) ? formatByExtension(url) : inputFormat(url);
  if (format !== undefined) checkFormat(format, url, source);
  if (inputOptions?.format !== undefined && format === undefined) checkFormat(inputOptions.format, url, source);
}

/**
 * The format as which a document is read.
 *
 * @throws Fault source/type — an input of an unsupported type, or of another type than the mapping expects
 */
export function formatOf(
  { url, given }: DocumentPlace,
  source: FileSource,
  inputOptions: InputOptions | undefined,
  mediaType?: string,
): InputFormat {
  const { request, formulation } = source;
  if (request !== undefined && /^https?:/i.test(url)) {
    const told = formatOfAnswer(url, source, request, mediaType);
    return readAs(formulation, told ?? (request.kind === 'get' ? formatByName(url) : undefined));
  }
  if (request?.kind === 'select') return formulation;
  const known = formatBefore(url, source, inputOptions);
  if (!given || known === inputOptions?.format) return known;
  const format = inputOptions === undefined ? inputFormat(url, mediaType) : formatByName(url, mediaType);
  if (format === undefined) return known;
  checkFormat(format, url, source);
  return format;
}

/** The format as which a document is read, as far as it is known before it is opened. */
export function formatBefore(url: string, { formulation }: FileSource, inputOptions: InputOptions | undefined): InputFormat {
  const format = inputOptions?.format;
  return format !== undefined && isReadAs(format, formulation) ? format : readAs(formulation, formatByName(url));
}

/** The format by name and server, if they tell. */
export function formatByName(url: string, mediaType?: string): InputFormat | undefined {
  try {
    return inputFormat(url, mediaType);
  } catch {
    // Without a known extension, the reference formulation of the mapping decides.
    return undefined;
  }
}

/** @throws Fault request/invalid — options without an input to apply to, or standard input that would be read twice */
function checkInputOptions(
  { csv }: InputOptions,
  sources: readonly LogicalSource[],
  bound: ReadonlyMap<FileSource, readonly string[]>,
): void {
  const files = sources.filter((source) => source.kind === 'file');
  if (Object.keys(csv).length > 0 && !files.some(({ formulation }) => FORMULATIONS[formulation].hasRows)) {
    throw new Fault('request/invalid', 'A delimiter or a quote is given, and the mapping reads no CSV', {
      hint: `It reads ${[...new Set(files.map(({ formulation }) => formulation.toUpperCase()))].join(' and ') || 'databases alone'}`,
    });
  }
  const piped = [...bound].filter(([, urls]) => urls.includes(STANDARD_INPUT)).map(([source]) => source);
  if (piped.length > 1) {
    const places = piped.map(({ path, origin }) => `${path} (${formatOrigin(origin)})`);
    throw new Fault(
      'request/invalid',
      `Standard input can be read once, and the mapping reads it ${piped.length} times: ${places.join(', ')}`,
      {
        hint: 'Save it to a file and name that, or describe these sources alike in one mapping file',
      },
    );
  }
}

/** @throws Fault source/type — the mapping expects another format */
function checkFormat(format: InputFormat, url: string, source: FileSource): void {
  if (isReadAs(format, source.formulation)) return;
  const found = isWorkbook(format) ? format : FORMATS[format].formulation;
  throw new Fault(
    'source/type',
    `The input is ${found.toUpperCase()}, and the mapping reads this source as ${source.formulation.toUpperCase()}`,
    {
      place: { input: redact(url), mapping: formatOrigin(source.origin) },
      hint: `Give a ${source.formulation.toUpperCase()} file, or change rml:referenceFormulation in the mapping. On the command line, --input-format says what a file is whose name is wrong`,
    },
  );
}

/** Whether the location of a source depends on something other than its path. */
const isRelative = (path: string): boolean => !/^[a-z][a-z0-9+.-]+:\/\//i.test(path) && !isAbsolute(path);

/** The path or URL of a source that the request does not bind. */
export function locateSource(
  source: FileSource,
  { workingDirectory, inputOptions }: Pick<RunRequest, 'workingDirectory' | 'inputOptions'>,
): string {
  const { path, root } = source;
  if (isRelative(path) && inputOptions?.sourceRoot !== undefined)
    return resolve(inputOptions.sourceRoot, root.kind === 'directory' ? root.path : '', path);
  return addressOf(source, workingDirectory);
}

/** The path or URL of a file that the mapping names. */
export function addressOf({ path, root, origin }: Pick<FileSource, 'path' | 'root' | 'origin'>, workingDirectory: string): string {
  if (!isRelative(path)) return path;
  if (root.kind === 'working-directory') return resolve(workingDirectory, path);
  if (root.kind === 'directory') return resolve(workingDirectory, root.path, path);
  const { document } = origin;
  if (/^https?:/i.test(document)) return new URL(path, document).href;
  if (/^s3:/i.test(document))
    return document.replace(/^(s3:\/\/[^/]*\/)(.*)$/is, (_, bucket, key) => bucket + posix.join(posix.dirname(key), path));
  return resolve(mappingDirectory(document, workingDirectory), path);
}

const mappingDirectory = (document: string, workingDirectory: string): string =>
  resolve(workingDirectory, dirname(/^file:/i.test(document) ? fileURLToPath(document) : document));

/** The fault for a source that does not exist at the mapping's path, with a suggestion of where it is, for the command line. */
export function withOtherPlace(error: unknown, source: FileSource, { url, given }: DocumentPlace, request: RunRequest): unknown {
  const { path, root, origin } = source;
  if (!(error instanceof Fault) || error.code !== 'source/missing' || given || request.inputOptions === undefined || !isRelative(path))
    return error;
  const { workingDirectory } = request;
  const directories = [
    workingDirectory,
    ...(/^(?:https?|s3):/i.test(origin.document) ? [] : [mappingDirectory(origin.document, workingDirectory)]),
  ];
  const other = directories.find((directory) => resolve(directory, path) !== url && existsSync(resolve(directory, path)));
  const looked =
    request.inputOptions.sourceRoot !== undefined
      ? 'in --source-root'
      : root.kind === 'mapping'
        ? 'beside the mapping'
        : 'in the working directory';
  const place = { mapping: formatOrigin(origin) };
  if (other === undefined) {
    const what = `Relative sources are looked for ${looked}; --source-root DIRECTORY names another place, --input ${path}=FILE another file`;
    return error.with({ place, hint: error.hint === undefined ? what : `${error.hint}. ${what}` });
  }
  const where = other === workingDirectory ? 'the working directory' : 'the directory of the mapping';
  const hint = `There is one in ${where}: ${resolve(other, path)}. The source is looked for ${looked}; --source-root ${relative(workingDirectory, other) || '.'} looks there instead`;
  return error.with({ place, hint });
}
