/** Datatypes and languages of literals, from samples and names. */
import { datatypeOf } from '../../../src/infer/kinds.ts';
import { wordsOf } from '../../../src/infer/names.ts';
import { isLanguageTag, namesLanguage } from '../../../src/mapping/vocabulary/language-tag.ts';
import type { Attribute, FieldRef, StudioDocument } from '../document.ts';
import { fieldName } from '../elements/path-text.ts';
import { recordsOf } from '../elements/records.ts';
import { fieldOf, type Schema } from '../elements/schema.ts';
import type { Suggestion } from './suggestion.ts';

/** The kind that all values of a field have; text has no datatype. */
export function* datatypes(document: StudioDocument, schema: Schema): Iterable<Omit<Suggestion, 'key'>> {
  for (const { attribute, ref } of plainLiterals(document)) {
    const sample = fieldOf(schema, ref)?.sample;
    if (sample === undefined || sample.kind === 'text' || sample.values === 0) continue;
    yield {
      of: attribute.id,
      change: { kind: 'datatype', attribute: attribute.id, datatype: datatypeOf(sample.kind) },
      reason: `All ${sample.values} values that were read are of the kind ${sample.kind}${exampleText(sample.examples)}.`,
    };
  }
}

const exampleText = ([example]: readonly string[]): string => (example === undefined ? '' : `, such as ${example}`);

/** Languages that names of fields end with: `title_en`, `name-fr`. */
export function* languages(document: StudioDocument, schema: Schema): Iterable<Omit<Suggestion, 'key'>> {
  for (const { attribute, ref } of plainLiterals(document)) {
    const name = fieldName(ref.path);
    const words = wordsOf(name);
    const last = words.at(-1) ?? '';
    const kind = fieldOf(schema, ref)?.sample?.kind ?? 'text';
    if (kind !== 'text' || words.length < 2 || !SPOKEN.has(last) || !isLanguageTag(last) || !namesLanguage(last)) continue;
    yield {
      of: attribute.id,
      change: { kind: 'language', attribute: attribute.id, language: last },
      reason: `The name ${name} ends with the language ${last}.`,
    };
  }
}

/** Codes of languages that names of fields end with. Others, such as `id`, `no` and `is`, are rather words. */
const SPOKEN: ReadonlySet<string> = new Set(
  'ar bg cs da de el en es et fi fr he hr hu it ja ko lt lv nl pl pt ro ru sk sl sv tr uk zh'.split(' '),
);

/** Attributes of one field that are literals without datatype and language. */
function* plainLiterals(document: StudioDocument): Iterable<{ readonly attribute: Attribute; readonly ref: FieldRef }> {
  for (const attribute of recordsOf(document, 'attribute')) {
    const { value, termType, datatype, language } = attribute;
    if (value.kind === 'field' && termType === 'literal' && datatype === undefined && language === undefined)
      yield { attribute, ref: value.ref };
  }
}
