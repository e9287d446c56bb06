/**
 * I-Regexp → JavaScript's regular expressions, for `match()` and `search()`.
 *
 * The RFC's grammar has `^` and `$` among ordinary characters, its mapping to ECMAScript leaves them as they are, which makes them anchors. They
 * are anchors here, as in the public compliance suite of JSONPath; `[$]` and `\^` are the characters.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9485#section-3 and section 5.3
 */
import { BoundedRegExp } from '../../regexp/linear.ts';

// Sticky patterns. What may stand outside of brackets:
const ORDINARY = /[^()*+.?[\\\]{|}]/uy;
const QUANTIFIER = /[*+?]|\{[0-9]+(?:,[0-9]*)?\}/y;
const ESCAPE = '\\\\(?:[()*+\\-.?[\\\\\\]^nrt{|}])';
const CATEGORY = '\\\\[pP]\\{(?:C[cfno]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\\}';
const ESCAPED = new RegExp(`${ESCAPE}|${CATEGORY}`, 'uy');
// And within them:
const MEMBER = `(?:[^\\-[\\\\\\]]|${ESCAPE})`;
const MEMBERS = `(?:${CATEGORY}|${MEMBER}(?:-${MEMBER})?)`;
const CLASS = new RegExp(`\\[(\\^?)((?:-|${MEMBERS})${MEMBERS}*-?)\\]`, 'uy');

/**
 * The pattern in JavaScript's syntax with the flag `u`, or the position of the first character that cannot stand there.
 *
 * @param source ordinary text
 */
export function translateRegExp(source: string): { readonly pattern: string } | { readonly position: number } {
  let pattern = '';
  let at = 0;
  let open = 0;
  /** Whether a quantifier may follow. */
  let isAtom = false;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(source);
    if (found !== null) at += found[0].length;
    return found;
  };
  while (at < source.length) {
    const c = source[at];
    if (c === '|' || c === '(') {
      at++;
      if (c === '(') open++;
      pattern += c === '(' ? '(?:' : c;
      isAtom = false;
      continue;
    }
    if (c === ')') {
      if (open === 0) return { position: at };
      at++;
      open--;
      pattern += c;
      isAtom = true;
      continue;
    }
    const quantifier = isAtom ? take(QUANTIFIER) : null;
    if (quantifier !== null) {
      pattern += quantifier[0];
      isAtom = false;
      continue;
    }
    isAtom = true;
    const [escaped] = take(ESCAPED) ?? [];
    const [ordinary] = escaped === undefined ? (take(ORDINARY) ?? []) : [];
    const found = escaped === undefined && ordinary === undefined ? take(CLASS) : null;
    if (escaped !== undefined) pattern += escaped === '\\-' ? '-' : escaped;
    else if (ordinary !== undefined) pattern += ordinary;
    else if (found !== null) pattern += `[${found[1]}${(found[2] as string).replace(/^\^/, '\\^')}]`;
    else if (c === '.') {
      at++;
      pattern += '[^\\n\\r]';
    } else return { position: at };
  }
  return open === 0 ? { pattern } : { position: at };
}

/**
 * @param whole the pattern must match the whole text
 * @returns undefined if the text is no I-Regexp: then it matches nothing
 */
export function compileRegExp(source: string, whole: boolean): BoundedRegExp | undefined {
  const translated = translateRegExp(source);
  if ('position' in translated) return undefined;
  const { pattern } = translated;
  try {
    return new BoundedRegExp(whole ? `^(?:${pattern})$` : pattern, '', true);
  } catch {
    // A range or a quantifier whose end comes before its beginning.
    return undefined;
  }
}
