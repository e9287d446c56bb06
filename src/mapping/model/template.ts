/**
 * String templates: text with references in braces; a backslash escapes a brace or a backslash, inside and outside of braces.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/#template-rml-template
 */
import { hasScheme } from '../../core/text.ts';
import type { TemplatePart } from './model.ts';

export type ParsedTemplate =
  | { readonly kind: 'parts'; readonly parts: readonly TemplatePart[] }
  /** `at` is the 1-based position in the template of what is wrong. */
  | { readonly kind: 'fault'; readonly at: number; readonly message: string; readonly hint: string };

const fault = (index: number, message: string, hint: string): ParsedTemplate => ({ kind: 'fault', at: index + 1, message, hint });

/** Parts in order, neighbouring text joined, no empty text. A template without braces is one text, the empty one no part at all. */
export function parseTemplate(template: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let text = '';
  /** Index of the open brace; -1 outside of braces. */
  let open = -1;
  for (let i = 0; i < template.length; i++) {
    const character = template[i] as string;
    switch (character) {
      case '\\': {
        const escaped = template[i + 1];
        if (escaped !== '{' && escaped !== '}' && escaped !== '\\') {
          return fault(i, 'a backslash that escapes nothing', 'a template writes \\\\ for a backslash (in Turtle, four of them)');
        }
        text += escaped;
        i++;
        break;
      }
      case '{':
        if (open >= 0) return fault(i, 'a brace inside of a reference', 'escape a brace that belongs to the reference: \\{');
        if (text !== '') parts.push({ kind: 'text', text });
        text = '';
        open = i;
        break;
      case '}':
        if (open < 0) return fault(i, 'a closing brace without an opening one', 'escape a brace that stands for itself: \\}');
        if (text.trim() === '') return fault(open, 'braces without a reference', 'name a reference, or escape the braces: \\{\\}');
        parts.push({ kind: 'reference', reference: text });
        text = '';
        open = -1;
        break;
      default:
        text += character;
    }
  }
  if (open >= 0) return fault(open, 'an opening brace that is never closed', 'close the reference with }, or escape the brace: \\{');
  if (text !== '') parts.push({ kind: 'text', text });
  return { kind: 'parts', parts };
}

/**
 * Where the scheme of the IRIs comes from that a template makes: the template's own beginning; none, so that all of them are relative;
 * or the value at hand, as in `{prefix}:{id}`, whose IRI is absolute for `urn` and relative for `1`.
 *
 * @param encoded whether values are percent-encoded, and so hold no colon
 * @see https://www.w3.org/TR/r2rml/#dfn-term-generation-rules (a value that is no absolute IRI gets the base IRI in front)
 */
export function schemeOf(parts: readonly TemplatePart[], encoded = true): 'template' | 'none' | 'value' {
  const [first] = parts;
  if (first?.kind === 'text' && hasScheme(first.text)) return 'template';
  // A value may give letters.
  const value = encoded ? 'a' : 'a:';
  return hasScheme(parts.map((part) => (part.kind === 'text' ? part.text : value)).join('')) ? 'value' : 'none';
}
