/** How many of the first records find a partner by a join. */
import { fromBytes } from '../core/text.ts';
import { joinShares } from '../explain/join-share.ts';
import { type MappingQuestion, type RunAccess, requestOf, type TimeLimit } from './preview.ts';

export interface JoinsQuestion extends MappingQuestion {
  /** Triples maps: IRI, or `_:label`. */
  readonly child: string;
  readonly parent: string;
  /** An IRI; absent: any. */
  readonly predicate?: string | undefined;
}

export interface JoinsAnswer {
  readonly joins: readonly JoinView[];
}

export interface JoinView {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** Records of the child that were read, and whether there was no time for as many as were wanted. */
  readonly children: number;
  readonly cut: boolean;
  /** Those of them with a value for each key, and those that have a partner. */
  readonly asked: number;
  readonly found: number;
  /** Records of the parent that were read, and whether that was all of them. */
  readonly parents: number;
  readonly complete: boolean;
  /** Keys of the first children without a partner, and of the first parents: for each condition the values. */
  readonly without: readonly (readonly (readonly string[])[])[];
  readonly examples: readonly (readonly (readonly string[])[])[];
}

const MAX_TEXT = 200;

/**
 * @param limit when the answer has to be there
 * @throws Fault as `executeRun`
 */
export async function sharesOfJoins(
  question: JoinsQuestion,
  access: RunAccess,
  limit: TimeLimit,
  signal: AbortSignal,
): Promise<JoinsAnswer> {
  const { child, parent, predicate } = question;
  const shares = await joinShares(requestOf(question, access), { child, parent, predicate }, limit, signal);
  return {
    joins: shares.map(({ origin: { line, column }, children, cut, asked, found, parents, complete, without, examples }) => ({
      line,
      column,
      children,
      cut,
      asked,
      found,
      parents,
      complete,
      without: without.map(shown),
      examples: examples.map(shown),
    })),
  };
}

const shown = (key: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  key.map((values) => values.slice(0, 3).map((value) => fromBytes(value).slice(0, MAX_TEXT)));
