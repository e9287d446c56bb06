/** The mapping of a run: documents read, understood, planned; a bad one ends with all its diagnostics in one fault. */
import { createHash } from 'node:crypto';
import { Fault } from '../fault.ts';
import { formatDiagnostic } from '../mapping/diagnostics.ts';
import type { Diagnostic, Mapping } from '../mapping/model.ts';
import { readMapping } from '../mapping/read.ts';
import { redact } from '../redact.ts';
import { readText } from '../storage/storage.ts';

const MAPPING_LIMIT_BYTES = 64 * 2 ** 20;

export interface MappingDocument {
  readonly name: string;
  readonly text: string;
}

export interface LoadedMapping {
  readonly mapping: Mapping;
  readonly warnings: readonly Diagnostic[];
  readonly documents: readonly { readonly url: string; readonly sha256: string }[];
}

/**
 * Reads mapping documents into one mapping.
 *
 * @throws Fault mapping/syntax, mapping/invalid — the message lists every diagnostic; mapping/unreadable
 */
export async function loadMapping(urls: readonly string[], base: string, workingDirectory: string): Promise<LoadedMapping> {
  const documents = await readMappingDocuments(urls, workingDirectory);
  const { mapping, diagnostics } = readMapping(documents, { baseIri: base });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    const syntax = errors.every(({ code }) => code === 'syntax');
    throw new Fault(syntax ? 'mapping/syntax' : 'mapping/invalid', errors.map(formatDiagnostic).join('\n'));
  }
  return {
    mapping,
    warnings: diagnostics,
    documents: documents.map(({ name, text }) => ({ url: name, sha256: createHash('sha256').update(text).digest('hex') })),
  };
}

/** The texts of mapping documents, named as the user named them. @throws Fault mapping/unreadable */
export const readMappingDocuments = (urls: readonly string[], workingDirectory: string): Promise<readonly MappingDocument[]> =>
  Promise.all(urls.map((url) => readDocument(url, workingDirectory)));

async function readDocument(url: string, workingDirectory: string): Promise<MappingDocument> {
  try {
    return { name: redact(url), text: await readText(url, MAPPING_LIMIT_BYTES, { workingDirectory }) };
  } catch (error) {
    const fault = Fault.of(error);
    if (fault.code === 'run/cancelled') throw fault;
    throw new Fault('mapping/unreadable', `The mapping ${redact(url)} cannot be read: ${fault.message}`, {
      cause: error,
      place: fault.place,
      ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    });
  }
}
