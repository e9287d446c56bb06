/**
 * Values of YARRRML: text with references, `$(name)`, and a prefix in front.
 *
 * Parentheses within a reference stand in pairs, or behind a backslash. A backslash escapes a bracket, a colon, or a backslash. Within a reference, it also escapes the underscore of a name that is not external.
 *
 * @see https://rml.io/yarrrml/spec/#template
 */
import type { TemplatePart } from '../model/model.ts';

export type ParsedValue =
  /** `stray`: the last reference in front of a closing parenthesis that nothing has opened and no backslash escapes. */
  | { readonly kind: 'parts'; readonly parts: readonly TemplatePart[]; readonly stray?: string }
  | { readonly kind: 'fault'; readonly message: string; readonly hint: string };

/**
 * The parts in order; adjacent text is joined, and there is no empty text.
 *
 * @param external names of external references, without their underscore → their values
 */
export function parseValue(value: string, external: ReadonlyMap<string, string>): ParsedValue {
  const parts: TemplatePart[] = [];
  let text = '';
  let open = 0;
  let last: string | undefined;
  let stray: string | undefined;
  for (let i = 0; i < value.length; i++) {
    if (value.startsWith('$(', i)) {
      const end = endOfReference(value, i + 2);
      if (end < 0) {
        return {
          kind: 'fault',
          message: `the reference of ${JSON.stringify(value)} is not closed`,
          hint: 'close it with ), or write $\\( for brackets that belong to the text; a ) within a reference is \\)',
        };
      }
      const written = value.slice(i + 2, end);
      const name = written.replace(/^\\_|\\([\\()])/g, (_, escaped = '_') => escaped);
      if (name.trim() === '') {
        return { kind: 'fault', message: `${JSON.stringify(value)} has brackets without a reference`, hint: 'name a reference: $(id)' };
      }
      const replaced = written.startsWith('_') ? external.get(name.slice(1)) : undefined;
      if (replaced === undefined) {
        if (text !== '') parts.push({ kind: 'text', text });
        parts.push({ kind: 'reference', reference: name });
        text = '';
      } else text += replaced;
      last = written;
      i = end;
    } else if (value[i] === '\\' && /[\\():]/.test(value[i + 1] ?? '')) {
      text += value[++i];
    } else {
      if (value[i] === '(') open++;
      else if (value[i] === ')') {
        if (open > 0) open--;
        else stray ??= last;
      }
      text += value[i];
    }
  }
  if (text !== '') parts.push({ kind: 'text', text });
  return { kind: 'parts', parts, ...(stray === undefined ? {} : { stray }) };
}

/**
 * The position of the parenthesis that ends a reference: the first that no backslash escapes, but the one that matches if the reference has
 * opened others, as in `$(Name (en))`. Those in quotes are not counted, if the quotes are closed.
 */
export function endOfReference(value: string, from: number): number {
  const first = ending(value, from, 'first');
  if (first < 0 || !value.slice(from, first).includes('(')) return first;
  const matching = ending(value, from, 'unquoted');
  const any = matching < 0 ? ending(value, from, 'matching') : matching;
  return any < 0 ? first : any;
}

function ending(value: string, from: number, which: 'first' | 'matching' | 'unquoted'): number {
  let depth = 0;
  let quote: string | undefined;
  for (let i = from; i < value.length; i++) {
    const character = value[i] as string;
    if (character === '\\') i++;
    else if (which === 'unquoted' && (quote !== undefined ? character === quote : character === "'" || character === '"'))
      quote = quote === undefined ? character : undefined;
    else if (quote !== undefined) continue;
    else if (character === '(' && which !== 'first') depth++;
    else if (character === ')' && depth-- === 0) return i;
  }
  return -1;
}

/** The value that `parseValue` reads as these parts, with no external references and no stray parenthesis. */
export function valueOf(parts: readonly TemplatePart[]): string {
  let open = 0;
  return parts
    .map((part, i) => {
      if (part.kind === 'reference') return `$(${part.reference.replace(/[\\()]/g, '\\$&')})`;
      return part.text.replace(/\\(?=[\\():]|$)|\$\(|[()]/g, (found) => {
        if (found === '(') open++;
        else if (found === ')' && open > 0) open--;
        else if (found === '$(') return '$\\(';
        else if (found === '\\' || i > 0) return `\\${found}`;
        return found;
      });
    })
    .join('');
}
