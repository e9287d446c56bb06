/** Loads the mapping of a run: reads, parses and plans the documents. An invalid mapping ends with all diagnostics in one fault. */
import { createHash } from 'node:crypto';
import { Fault } from '../../core/fault.ts';
import { redact } from '../../core/redact.ts';
import type { Modules } from '../../functions/library.ts';
import { formatDiagnostic } from '../../mapping/model/diagnostics.ts';
import type { Diagnostic, Mapping } from '../../mapping/model/model.ts';
import type { ReadOptions } from '../../mapping/parse/document.ts';
import { readMapping } from '../../mapping/parse/read.ts';
import { readText } from '../../storage/open.ts';
import type { OpenOptions } from '../../storage/storage.ts';

const MAPPING_LIMIT_BYTES = 64 * 2 ** 20;
/** A server that sends nothing for this long is asked again later. */
const SILENCE_MS = 30_000;

/** How documents are read. */
export type DocumentOptions = Pick<OpenOptions, 'workingDirectory' | 'reach' | 'signal' | 's3'>;

export interface MappingDocument {
  readonly name: string;
  readonly text: string;
}

export interface LoadedMapping {
  readonly mapping: Mapping;
  /** Those that are loaded for it, in this thread. */
  readonly modules: Modules;
  readonly warnings: readonly Diagnostic[];
  readonly documents: readonly { readonly url: string; readonly sha256: string }[];
}

/**
 * Parses mapping documents into one mapping.
 *
 * @throws Fault mapping/syntax, mapping/invalid — the message lists every diagnostic; and those of `readMappingDocuments`
 */
export const loadMapping = async (urls: readonly string[], read: ReadOptions, options: DocumentOptions): Promise<LoadedMapping> =>
  loadDocuments(await readMappingDocuments(urls, options), read);

/**
 * As `loadMapping`, from texts.
 *
 * @param validOnly see `RunRequest.validOnly`
 * @throws Fault mapping/syntax, mapping/invalid
 */
export async function loadDocuments(
  documents: readonly MappingDocument[],
  { baseIri, separate = false, functions }: ReadOptions,
  validOnly = false,
): Promise<LoadedMapping> {
  const digests = documents.map(({ name, text }) => ({ url: name, sha256: createHash('sha256').update(text).digest('hex') }));
  const key = JSON.stringify([baseIri, separate, digests, functions?.version]);
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const { mapping, diagnostics, modules } = await readMapping(documents, { baseIri, separate, functions });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    if (validOnly && mapping.triplesMaps.length > 0)
      return { mapping, modules, warnings: diagnostics.filter(({ severity }) => severity === 'warning'), documents: digests };
    const syntax = errors.every(({ code }) => code === 'syntax');
    throw new Fault(syntax ? 'mapping/syntax' : 'mapping/invalid', errors.map(formatDiagnostic).join('\n'));
  }
  const loaded = { mapping, modules, warnings: diagnostics, documents: digests };
  const bytes = documents.reduce((sum, { text }) => sum + text.length, 0);
  if (bytes <= REMEMBERED_BYTES) remembered.set(key, loaded);
  if (remembered.size > REMEMBERED) remembered.delete(remembered.keys().next().value as string);
  return loaded;
}

/**
 * Cache of mappings of earlier runs in this thread, by the digests of their documents: parsing one takes longer than a small run. The
 * oldest is evicted first.
 */
const remembered = new Map<string, LoadedMapping>();
const REMEMBERED = 16;
/** Total for the documents of one mapping. */
const REMEMBERED_BYTES = 2 ** 20;

/**
 * The texts of mapping documents, with the names that the user gave.
 *
 * @throws Fault mapping/unreadable; source/unreadable — a server that may answer later; limit/exceeded, run/cancelled
 */
export const readMappingDocuments = (urls: readonly string[], options: DocumentOptions): Promise<readonly MappingDocument[]> =>
  Promise.all(urls.map((url) => readDocument(url, options)));

async function readDocument(url: string, options: DocumentOptions): Promise<MappingDocument> {
  try {
    return { name: redact(url), text: await readText(url, MAPPING_LIMIT_BYTES, { ...options, silenceMs: SILENCE_MS }) };
  } catch (error) {
    const fault = Fault.of(error);
    if (fault.code === 'run/cancelled') throw fault;
    const message = `The mapping ${redact(url)} cannot be read: ${fault.message}`;
    const forGood = fault.code.startsWith('source/') && !fault.retriable;
    throw fault.with({ message, ...(forGood ? { code: 'mapping/unreadable' } : {}) });
  }
}
