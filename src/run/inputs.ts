/** Which documents each logical source of a mapping is: what the request binds by name, else what the mapping's path says. */
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../fault.ts';
import { pathsMeant } from '../input-names.ts';
import type { FileSource, LogicalSource } from '../mapping/model.ts';
import { formatOrigin } from '../mapping/model.ts';
import { nearest } from '../nearest.ts';
import { redact } from '../redact.ts';
import { formatByExtension, type InputFormat, inputFormat } from '../storage/storage.ts';
import type { InputBinding, RunRequest } from './request.ts';

/** A document of a source. */
export interface DocumentPlace {
  /** URL or path. */
  readonly url: string;
  /** The request names it: its type must be one of ours, whatever the mapping says of it. */
  readonly given: boolean;
}

/**
 * URLs of the inputs that each source is bound to, in their order.
 *
 * @param byFileName whether an input without a name is the source that has the name of its file; else there must be one source only
 * @throws Fault request/invalid — an input that can be no source, or several
 */
export function bindSources(
  all: readonly LogicalSource[],
  inputs: readonly InputBinding[],
  byFileName: boolean,
): ReadonlyMap<FileSource, readonly string[]> {
  const bound = new Map<FileSource, string[]>();
  const sources = all.filter((source) => source.kind === 'file');
  for (const input of inputs) {
    const named =
      input.name === undefined ? meant(sources, input, byFileName) : sources.filter((source) => isNamed(source, input.name as string));
    if (named.length === 0) throw unknownName(input.name as string, sources);
    for (const source of named) bound.set(source, [...(bound.get(source) ?? []), input.url]);
  }
  return bound;
}

/**
 * The documents of each source, at least one, in the order in which they are read; none of a database's rows.
 *
 * @throws Fault source/type — an input of a type that nobody reads, or of one that is not the one the mapping reads
 */
export function locateInputs(
  sources: readonly LogicalSource[],
  { inputs, boundOnly, workingDirectory }: Pick<RunRequest, 'inputs' | 'boundOnly' | 'workingDirectory'>,
): readonly (readonly DocumentPlace[] | undefined)[] {
  const bound = bindSources(sources, inputs, boundOnly === true);
  return sources.map((source) => {
    if (source.kind === 'sql') return undefined;
    const urls = bound.get(source);
    for (const url of urls ?? []) checkType(url, source);
    if (urls !== undefined) return urls.map((url) => ({ url, given: true }));
    const url = locateSource(source, workingDirectory);
    // A sheet is no text in whatever formulation; its name says what a reader's fault about encodings would not.
    if (/\.(xlsx|ods)(\.gz)?$/i.test(url)) inputFormat(url);
    return [{ url, given: false }];
  });
}

const isNamed = (source: FileSource, name: string): boolean => source.path === name || source.ids.includes(name);

/** Every source of the only path that the input can be. */
function meant(sources: readonly FileSource[], { url }: InputBinding, byFileName: boolean): readonly FileSource[] {
  const paths = [...new Set(sources.map(({ path }) => path))];
  const found = byFileName || paths.length === 1 ? pathsMeant(url, paths) : [];
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

/** Behind HTTP, what the name does not tell is told by the answer: `checkFormat`. */
function checkType(url: string, source: FileSource): void {
  const format = /^https?:/i.test(url) ? formatByExtension(url) : inputFormat(url);
  if (format !== undefined) checkFormat(format, url, source);
}

/** @throws Fault source/type — the mapping reads another format */
export function checkFormat(format: InputFormat, url: string, source: FileSource): void {
  const family = format === 'tsv' ? 'csv' : format === 'jsonl' ? 'json' : format;
  if (family === source.formulation) return;
  throw new Fault(
    'source/type',
    `The input is ${family.toUpperCase()}, and the mapping reads this source as ${source.formulation.toUpperCase()}`,
    {
      place: { input: redact(url), mapping: formatOrigin(source.origin) },
      hint: `Give a ${source.formulation.toUpperCase()} file, or change rml:referenceFormulation in the mapping`,
    },
  );
}

function locateSource(source: FileSource, workingDirectory: string): string {
  const { path, root } = source;
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path) || isAbsolute(path)) return path;
  if (root.kind === 'working-directory') return resolve(workingDirectory, path);
  if (root.kind === 'directory') return resolve(workingDirectory, root.path, path);
  const { document } = source.origin;
  if (/^https?:/i.test(document)) return new URL(path, document).href;
  return resolve(workingDirectory, dirname(/^file:/i.test(document) ? fileURLToPath(document) : document), path);
}
