/** What a rewrite is: another algebra with the same statements in each output, the same collections, and the same broken promises. */
import type { Policies } from '../../mapping/model/model.ts';
import type { Algebra } from '../algebra.ts';
import type { Builder } from '../build/operators.ts';
import type { CatalogueMetadata } from '../catalogue-metadata.ts';

/** Returns the algebra itself where it changes nothing. */
export type Rewrite = (algebra: Algebra, given: Given) => Algebra;

/** What a rewrite may rest on. */
export interface Given extends Policies {
  /** That of the algebra: new columns differ from those of the algebra. */
  readonly builder: Builder;
  readonly catalogue: CatalogueMetadata;
}
