/** The model of the studio that is the mapping of a version. */
import type { QuadmillClient } from '../../../../client/client.ts';
import type { DatasetManifest, StudioUser } from '../../../../client/types.ts';
import type { StudioDocument } from '../../../core/document.ts';
import { fileOf } from '../../parts/statements/records.tsx';
import { hashOf, type TransformerName } from '../../store/address.ts';
import { isSameFile } from './place.ts';

export interface VersionModel {
  readonly name: string;
  /** URL or path of the mapping, as the manifest has it. */
  readonly mapping: string;
  /** Of the page that opens it. */
  readonly hash: string;
  readonly document: StudioDocument;
}

/** A model without anything: IRIs have the usual prefixes. */
export const NO_MODEL: StudioDocument = {
  records: new Map(),
  language: 'rml',
  expert: false,
  text: { text: '', anchors: new Map() },
};

/** undefined: the mapping is none of the saved models, or has errors. @throws what the service answers */
export async function modelOf(
  { mappings, run }: Pick<DatasetManifest, 'mappings' | 'run'>,
  services: StudioUser['services'],
  client: QuadmillClient,
  signal: AbortSignal,
): Promise<VersionModel | undefined> {
  for (const service of services) {
    if (service === 'graph-writer') continue;
    const saved = await client.studio.listMappings({ service, signal });
    for (const { url } of mappings) {
      const name = decodeURIComponent(fileOf(url) ?? '');
      if (!saved.some((one) => one.name === name && one.etag !== null)) continue;
      const { location, text } = await client.studio.getMapping(name, { service, signal });
      if (!isSameFile(location, url, String(run.workingDirectory))) continue;
      const { readPartly } = await import('../../../core/read/partly.ts');
      const { document } = await readPartly(text);
      return { name, mapping: url, hash: hashOf({ kind: 'model', service: service as TransformerName, name, isNew: false }), document };
    }
  }
  return undefined;
}
