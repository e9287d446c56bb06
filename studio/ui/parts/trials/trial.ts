/** Parts of a model that are tried alone: a mapping of a few elements, whatever else stands in the document. */
import type { StudioPreviewRequest } from '../../../../client/types.ts';
import { hasYarrrmlEnding, withoutMappingEnding } from '../../../../src/mapping/model/language.ts';
import type { Element, StudioDocument } from '../../../core/document.ts';
import { mappingText } from '../../store/text.ts';

/** What a question about a mapping needs. */
export type Trial = Pick<StudioPreviewRequest, 'name' | 'text' | 'service'>;

/**
 * @param name of the model: its relative inputs stand beside it
 * @returns undefined: they cannot be written
 */
export async function trialOf(name: string, document: StudioDocument, elements: readonly Element[]): Promise<Trial | undefined> {
  const only: StudioDocument = {
    ...document,
    language: 'rml',
    records: new Map(elements.map((record) => [record.id, record])),
    text: { text: '', anchors: new Map() },
  };
  const { text } = await mappingText(only, 'drawn');
  if (text === undefined) return undefined;
  const isSql = elements.some((one) => one.kind === 'input' && (one.location.kind === 'table' || one.location.kind === 'query'));
  const file = hasYarrrmlEnding(name) ? withoutMappingEnding(name) : name;
  return { name: file.endsWith('.ttl') ? file : `${file}.ttl`, text, service: isSql ? 'sql-transformer' : 'semi-structured-transformer' };
}
