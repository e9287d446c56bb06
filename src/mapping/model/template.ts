/**
 * String templates: text with references in braces. A backslash escapes a brace or a backslash, inside and outside of braces.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/#template-rml-template
 */
import type { TemplatePart } from './model.ts';

export type ParsedTemplate =
  | { readonly kind: 'parts'; readonly parts: readonly TemplatePart[] }
  /** `at` is the 1-based position of the problem in the template. */
  | { readonly kind: 'fault'; readonly at: number; readonly message: string; readonly hint: string };

const fault = (index: number, message: string, hint: string): ParsedTemplate => ({ kind: 'fault', at: index + 1, message, hint });

/**
 * The parts in order; adjacent text is joined, and there is no empty text. A template without braces is one text; the empty template has no
 * parts.
 */
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
