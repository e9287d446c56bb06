/**
 * The file of a logical target: any serialisation, encoding and compression of RML-IO.
 *
 * @see https://kg-construct.github.io/rml-io/spec/docs/#target
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import type { Compression } from '../storage/compression.ts';
import { locate } from '../storage/url.ts';
import { writeFault } from './descriptor.ts';
import { openFileSink } from './file.ts';
import type { QuadSink, Serialization, TextEncoding } from './sink.ts';

export interface TargetFileOptions {
  /** A path or a `file:` URL. A relative path is relative to `workingDirectory`, which stands for the root that the mapping names. */
  readonly location: string;
  /** Absolute. */
  readonly workingDirectory: string;
  readonly serialization: Serialization;
  /** Default `utf-8`. */
  readonly encoding?: TextEncoding;
  /** Default `none`: the name of the file implies nothing. */
  readonly compression?: Compression;
  /** Distinguishes overlapping attempts of one run: each writes its own files. */
  readonly attempt: string | number;
  /** Prefix → namespace IRI, for Turtle, TriG, N3 and RDF/XML. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Compute SHA-256 of the file (default true). */
  readonly digest?: boolean;
  /** Sync to disk before the name appears (default true). */
  readonly durable?: boolean;
}

/**
 * Opens the file of a target. It appears under its name at `commit`, and replaces what is there; a link is kept, and its target replaced.
 * Until then everything stands beside it under names that begin with a dot, which `abort` removes: the file itself, the content of an
 * archive of tar, and statements that RDF/JSON groups. Statements may come twice in all formats but RDF/JSON. Memory is bounded.
 *
 * @throws Fault target/refused — not a file of this machine; sink/failed — with path and reason; from `write` and `commit` also mapping/invalid — what the serialisation cannot say: a named graph (N-Triples, Turtle, N3,
 * RDF/XML, RDF/JSON), in RDF/XML a predicate that is no name of an element, or a character that no XML may hold
 */
export async function openTargetFile(options: TargetFileOptions): Promise<QuadSink> {
  const { location, workingDirectory, serialization, attempt, prefixes, digest, durable } = options;
  const place = locate(location, workingDirectory);
  if (place.kind !== 'file') {
    throw new Fault('target/refused', `The target ${redact(location)} is not a local file`, {
      hint: 'Give it a path or a file: URL',
    });
  }
  const found = await stat(place.path).catch(() => undefined);
  if (found?.isDirectory()) throw writeFault(place.path, Object.assign(new Error(), { code: 'EISDIR' }));
  const path = found === undefined ? place.path : await realpath(place.path);
  const { write, writeBytes, text, commit, abort } = await openFileSink({
    directory: dirname(path),
    name: basename(path),
    attempt,
    format: serialization,
    encoding: options.encoding,
    compression: options.compression,
    prefixes,
    digest,
    durable,
  });
  // One file, whatever its size: without `rollOver`.
  return { write, commit, abort, ...(writeBytes && { writeBytes }), ...(text && { text }) };
}
