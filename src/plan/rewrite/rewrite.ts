/** What a rewrite is: another algebra with the same statements in each output, the same collections, and the same broken promises. */
import type { Policies } from '../../mapping/model/model.ts';
import type { Algebra } from '../algebra.ts';
import type { Builder } from '../build/operators.ts';
import type { CatalogueMetadata } from '../catalogue-metadata.ts';

/** Returns the algebra itself where it changes nothing. */
export type Rewrite = (algebra: Algebra, context: RewriteContext) => Algebra;

/** What a rewrite may use besides the algebra. */
export interface RewriteContext extends Policies {
  /** The builder of the algebra, so that new columns differ from its columns. */
  readonly builder: Builder;
  readonly catalogue: CatalogueMetadata;
}
