/** Comments of a text of Turtle. */
import type { Anchor } from '../../document.ts';
import { tokensOf } from '../places.ts';

/** The comments in a range that begins and ends between tokens. */
export const commentsIn = (text: string, { from, to }: Anchor): readonly Anchor[] =>
  tokensOf(text.slice(from, to)).flatMap((token) => (token.kind === 'comment' ? [{ from: from + token.from, to: from + token.to }] : []));

export function withoutComments(text: string): string {
  let left = '';
  let at = 0;
  for (const { from, to } of commentsIn(text, { from: 0, to: text.length })) {
    left += text.slice(at, from).trimEnd();
    at = to;
  }
  return left + text.slice(at);
}
