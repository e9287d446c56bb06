/** The mapping of a run: documents read, understood, planned; a bad one ends with all its diagnostics in one fault. */
import { createHash } from 'node:crypto';
import { Fault } from '../fault.ts';
import { formatDiagnostic } from '../mapping/diagnostics.ts';
import type { Diagnostic, Mapping } from '../mapping/model.ts';
import { readMapping } from '../mapping/read.ts';
import { readText, redactUrl } from '../storage/storage.ts';

const MAPPING_LIMIT_BYTES = 64 * 2 ** 20;

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
  const documents = await Promise.all(urls.map(async (url) => ({ name: redactUrl(url), text: await readDocument(url, workingDirectory) })));
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

async function readDocument(url: string, workingDirectory: string): Promise<string> {
  try {
    return await readText(url, MAPPING_LIMIT_BYTES, { workingDirectory });
  } catch (error) {
    const fault = Fault.of(error);
    if (fault.code === 'run/cancelled') throw fault;
    throw new Fault('mapping/unreadable', `The mapping ${redactUrl(url)} cannot be read: ${fault.message}`, {
      cause: error,
      place: fault.place,
      ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    });
  }
}
