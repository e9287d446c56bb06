/** The rewrites, in their order. */
import type { Algebra } from '../algebra.ts';
import { pushDownJoins } from './push-down.ts';
import type { Rewrite, RewriteContext } from './rewrite.ts';
import { removeSelfJoins } from './self-joins.ts';
import { splitRows } from './split-rows.ts';

/** Each with its name, for people. */
export const REWRITES: readonly (readonly [name: string, rewrite: Rewrite])[] = [
  ['remove self-joins', removeSelfJoins],
  ['split rows', splitRows],
  ['push joins down', pushDownJoins],
];

export const rewritten = (built: Algebra, context: RewriteContext): Algebra =>
  REWRITES.reduce((algebra, [, rewrite]) => rewrite(algebra, context), built);
