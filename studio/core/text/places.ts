/** Where statements and nodes of a text of Turtle stand: ranges for positions that the reader of mappings gives. */
import type { Origin } from '../../../src/mapping/model/model.ts';
import type { Anchor } from '../document.ts';

/** A token of Turtle, or a comment. */
export interface Token extends Anchor {
  readonly kind: 'open' | 'close' | 'end' | 'comment' | 'other';
}

const TOKENS =
  /(?<comment>#[^\r\n]*)|(?<iri><[^<>\s]*>)|(?<text>"""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')|(?<open>[[(])|(?<close>[\])])|(?<end>[.](?=\s|$|#|[[<"'(@]))|(?<punctuation>[;,])|(?<word>(?:[^\s"'<>()[\];,.#\\]|\\.|[.](?=[^\s.#[\]<"'(),;@])|(?<=:[^\s]*)#)+)|./gsu;

/** The tokens of a text. Text that is no Turtle gives tokens too. */
export const tokensOf = (text: string): readonly Token[] =>
  [...text.matchAll(TOKENS)].flatMap((found) => {
    const { comment, open, close, end } = found.groups ?? {};
    if (/^\s+$/.test(found[0])) return [];
    const kind =
      comment !== undefined ? 'comment' : open !== undefined ? 'open' : close !== undefined ? 'close' : end !== undefined ? 'end' : 'other';
    return [{ kind, from: found.index, to: found.index + found[0].length } as const];
  });

export interface Places {
  /** Of the node that begins at a position: what its brackets enclose, or its token. */
  nodeAt(origin: Origin): Anchor | undefined;
  /** Of the statement, to its dot, that a position is in. */
  statementAt(origin: Origin): Anchor | undefined;
}

export function turtlePlaces(text: string): Places {
  const offsets = lineOffsets(text);
  const nodes = new Map<number, Anchor>();
  const statements: Anchor[] = [];
  const open: Token[] = [];
  let start: number | undefined;
  for (const token of tokensOf(text)) {
    if (token.kind === 'comment') continue;
    start ??= token.from;
    if (token.kind === 'open') open.push(token);
    else if (token.kind === 'close') {
      const opening = open.pop();
      if (opening !== undefined) nodes.set(opening.from, { from: opening.from, to: token.to });
    } else if (token.kind === 'end' && open.length === 0) {
      statements.push({ from: start, to: token.to });
      start = undefined;
    } else nodes.set(token.from, { from: token.from, to: token.to });
  }
  const offsetOf = ({ line, column }: Origin): number => (offsets[line - 1] ?? 0) + column - 1;
  return {
    nodeAt: (origin) => nodes.get(offsetOf(origin)),
    statementAt: (origin) => {
      const at = offsetOf(origin);
      return statements.find(({ from, to }) => from <= at && at < to);
    },
  };
}

/** The offset at which each line begins. */
export const lineOffsets = (text: string): readonly number[] => [
  0,
  ...[...text.matchAll(/\r\n|\r|\n/g)].map((found) => found.index + found[0].length),
];
