/** Which document each logical source of a mapping is: what the request binds by name, else what the mapping's path says. */
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../fault.ts';
import type { FileSource } from '../mapping/model.ts';
import { formatOrigin } from '../mapping/model.ts';
import { nearest } from '../nearest.ts';
import type { ScanPlan } from '../plan/plan.ts';
import { redact } from '../redact.ts';
import { inputFormat } from '../storage/storage.ts';
import type { InputBinding } from './request.ts';

/** The URL or path of each scan's document, in the order of the scans; undefined for a database's rows. */
export function locateInputs(
  scans: readonly ScanPlan[],
  inputs: readonly InputBinding[],
  workingDirectory: string,
): readonly (string | undefined)[] {
  const bound = new Map<FileSource, string>();
  const sources = scans.map(({ source }) => source).filter((source) => source.kind === 'file');
  for (const input of inputs) {
    const named = input.name === undefined ? only(sources, input) : sources.filter((source) => isNamed(source, input.name as string));
    if (named.length === 0) throw unknownName(input.name as string, sources);
    for (const source of named) {
      if (bound.has(source)) throw boundTwice(input, source);
      checkType(input, source);
      bound.set(source, input.url);
    }
  }
  return scans.map(({ source }) => {
    if (source.kind === 'sql') return undefined;
    const url = bound.get(source) ?? locateSource(source, workingDirectory);
    // A sheet is no text in whatever formulation; its name says what a reader's fault about encodings would not.
    if (/\.(xlsx|ods)(\.gz)?$/i.test(url)) inputFormat(url);
    return url;
  });
}

const isNamed = (source: FileSource, name: string): boolean => source.path === name || source.ids.includes(name);

/** Every scan of the mapping's only document. */
function only(sources: readonly FileSource[], input: InputBinding): readonly FileSource[] {
  const paths = new Set(sources.map(({ path }) => path));
  if (paths.size === 1) return sources;
  throw new Fault('request/invalid', `The input ${redact(input.url)} has no name, and the mapping has ${paths.size} file sources`, {
    hint: paths.size === 0 ? 'It reads databases alone' : `Name one of ${[...paths].join(', ')}`,
  });
}

function boundTwice(input: InputBinding, source: FileSource): Fault {
  return new Fault('request/invalid', `The source ${source.path} is given two inputs, the second is ${redact(input.url)}`, {
    hint: 'A source stands for one document; make a run for each, or give the mapping a source for each.',
  });
}

function unknownName(name: string, sources: readonly FileSource[]): Fault {
  const names = [...new Set(sources.flatMap(({ path, ids }) => [path, ...ids.filter((id) => !id.startsWith('_:'))]))];
  const near = nearest(name, names);
  return new Fault('request/invalid', `The mapping has no source named ${JSON.stringify(name)}`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Its file sources are ${names.join(', ') || 'none'}`,
  });
}

/** @throws Fault source/type — an extension that nobody reads, or a format that is not the one the mapping reads */
function checkType(input: InputBinding, source: FileSource): void {
  if (/^https?:/i.test(input.url)) return;
  const format = inputFormat(input.url);
  const family = format === 'tsv' ? 'csv' : format === 'jsonl' ? 'json' : format;
  if (family === source.formulation) return;
  throw new Fault(
    'source/type',
    `The input is ${family.toUpperCase()}, and the mapping reads this source as ${source.formulation.toUpperCase()}`,
    {
      place: { input: redact(input.url), mapping: formatOrigin(source.origin) },
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
