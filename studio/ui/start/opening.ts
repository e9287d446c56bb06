/** Ways to a model that the service does not have yet: drawn from the beginning, or read from a file of this computer. */
import type { StudioMappingEntry, StudioUser } from '../../../client/types.ts';
import { hasYarrrmlEnding } from '../../../src/mapping/model/language.ts';
import { type DraftHead, type Drafts, draftId, type ModelOrigin } from '../../client/drafts.ts';
import type { Language, StudioDocument } from '../../core/document.ts';
import type { ModelAddress, TransformerName } from '../store/address.ts';

/** A model of the service. */
export interface Model extends StudioMappingEntry {
  readonly service: TransformerName;
}

/** The first draft of a model: the page that opens it continues it. @param typed a text with errors, to be corrected */
async function begun(origin: ModelOrigin, document: StudioDocument, drafts: Drafts | undefined, typed?: string): Promise<ModelAddress> {
  const draft = { id: draftId(origin), origin, document, done: [], undone: [], changes: 0, at: Date.now() };
  await drafts?.put({ ...draft, ...(typed !== undefined && { typed }) });
  return { kind: 'model', service: origin.service, name: origin.name, isNew: true };
}

export function beginModel(name: string, service: TransformerName, language: Language, drafts: Drafts | undefined): Promise<ModelAddress> {
  const origin: ModelOrigin = { name, service, etag: undefined, kept: 'drawn', savedText: undefined };
  return begun(origin, { records: new Map(), language, expert: false, text: { text: '', anchors: new Map() } }, drafts);
}

/** @throws what reading the file throws */
export async function openFile(file: File, services: StudioUser['services'], drafts: Drafts | undefined): Promise<ModelAddress> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  const { opened } = await import('../../core/read/opened.ts');
  const { document, hasErrors } = await opened(text);
  const service =
    services.includes('semi-structured-transformer') && document.language !== 'r2rml'
      ? 'semi-structured-transformer'
      : transformerOf(services);
  const origin: ModelOrigin = { name: file.name, service, etag: undefined, kept: 'text', savedText: undefined };
  return begun(origin, document, drafts, hasErrors ? text : undefined);
}

export const transformerOf = (services: StudioUser['services']): TransformerName =>
  services.includes('semi-structured-transformer') ? 'semi-structured-transformer' : 'sql-transformer';

/** The id of a draft begins with its service. */
export const draftAddress = (id: string, name: string, isNew: boolean): ModelAddress => ({
  kind: 'model',
  service: id.startsWith('sql-transformer/') ? 'sql-transformer' : 'semi-structured-transformer',
  name,
  isNew,
});

/** `shop` → `shop.ttl`; a name with an ending of the language stays. */
export function fileName(name: string, language: Language): string {
  const isRight = language === 'yarrrml' ? hasYarrrmlEnding(name) : /\.ttl$/i.test(name);
  return isRight ? name : `${name}${language === 'yarrrml' ? '.yml' : '.ttl'}`;
}

/** `example.ttl`, or `example-2.ttl` where that is taken by a model or a draft. */
export function freeModelName(name: string, models: readonly Pick<Model, 'name'>[], drafts: readonly DraftHead[] = []): string {
  const taken = new Set([...models.map((model) => model.name), ...drafts.map((draft) => draft.name)]);
  let number = 1;
  const numbered = (): string => fileName(number === 1 ? name : `${name}-${number}`, 'rml');
  while (taken.has(numbered())) number++;
  return numbered();
}
