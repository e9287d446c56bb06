/** The mapping files of a directory, and the drafts of the studio beside them. */
import { basename } from 'node:path';
import type { Transformer } from '../../../queues/jobs.ts';
import { Fault } from '../../../src/core/fault.ts';
import { MAPPING_EXTENSIONS } from '../../../src/mapping/model/language.ts';
import { isYarrrml } from '../../../src/mapping/parse/document.ts';
import { listDirectory } from '../../../src/storage/list.ts';
import type { Api } from '../../route.ts';
import { insideMappings, mappingDirectory } from './place.ts';
import { filesOf, readSaved } from './saved.ts';

/** A file directly in the directory, of a type that runs read. */
const NAME = new RegExp(`^[^/\\\\.\\u0000-\\u001F][^/\\\\\\u0000-\\u001F]*\\.(${MAPPING_EXTENSIONS.join('|')})$`, 'u');
export const isMappingName = (name: string): boolean => NAME.test(name);

/** `shop.ttl.draft` is the draft of `shop.ttl`. */
export const DRAFT_SUFFIX = '.draft';

export const languageOf = (name: string): 'turtle' | 'yarrrml' => (isYarrrml({ name }) ? 'yarrrml' : 'turtle');

export interface ListedMapping {
  readonly name: string;
  readonly language: 'turtle' | 'yarrrml';
  /** Null: there is a draft only. */
  readonly etag: string | null;
  readonly by: string | null;
  readonly at: string | null;
  readonly draft: boolean;
}

/** By name; none where there is no directory yet. @throws Fault request/conflict, source/refused, source/unreadable */
export async function listMappings(api: Api, service: Transformer): Promise<readonly ListedMapping[]> {
  const directory = mappingDirectory(api, service);
  const files = filesOf(api);
  const list: ListedMapping[] = [];
  for (const [name, { isSaved, draft }] of await namesIn(directory, files)) {
    const path = await insideMappings(directory, isSaved ? name : name + DRAFT_SUFFIX).catch(() => undefined);
    const saved = path === undefined ? undefined : await readSaved(files, path);
    // Removed meanwhile, or a link that leads out of the directory.
    if (saved === undefined) continue;
    const { etag, by, at } = saved;
    list.push({ name, language: languageOf(name), etag: isSaved ? etag : null, by, at, draft });
  }
  return list;
}

type Found = ReadonlyMap<string, { readonly isSaved: boolean; readonly draft: boolean }>;

async function namesIn(directory: string, files: ReturnType<typeof filesOf>): Promise<Found> {
  const extensions = [...MAPPING_EXTENSIONS, DRAFT_SUFFIX.slice(1)];
  const paths = await listDirectory(directory, extensions, { ...files, reach: undefined }).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'source/missing') return [];
    throw error;
  });
  const fileNames = new Set(paths.map((path) => basename(path)));
  const names = [...fileNames].map((name) => (name.endsWith(DRAFT_SUFFIX) ? name.slice(0, -DRAFT_SUFFIX.length) : name));
  const wanted = [...new Set(names)].filter(isMappingName).sort();
  return new Map(wanted.map((name) => [name, { isSaved: fileNames.has(name), draft: fileNames.has(name + DRAFT_SUFFIX) }]));
}
