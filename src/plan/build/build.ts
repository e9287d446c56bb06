/** Mapping → algebra. */
import type { Mapping } from '../../mapping/model/model.ts';
import type { Algebra } from '../algebra.ts';
import { buildChecks } from './checks.ts';
import type { Builder } from './operators.ts';
import { buildRules } from './rules.ts';
import { ViewBuilder } from './views.ts';

/** @param runBase the base for relative IRIs of triples maps without their own */
export function buildAlgebra(mapping: Mapping, runBase: string, builder: Builder): Algebra {
  const views = new ViewBuilder(mapping.triplesMaps, builder);
  return { maps: buildRules(mapping, runBase, builder, views), checks: buildChecks(mapping, views, builder) };
}
