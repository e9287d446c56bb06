/** References and iterators, as each reference formulation writes them. */
import type { Formulation } from '../core/input/formats.ts';

/** A step down: to a member, or to each item of an array. */
export type Step = { readonly kind: 'member'; readonly name: string } | { readonly kind: 'items' };

export const member = (name: string): Step => ({ kind: 'member', name });
export const ITEMS: Step = { kind: 'items' };

export interface PathSyntax {
  /** undefined: records are rows. */
  iterator(steps: readonly Step[]): string | undefined;
  /** @param ups levels that are climbed from the record first */
  reference(ups: number, steps: readonly Step[]): string;
  /** The levels between a record and what the steps find in it. */
  levels(steps: readonly Step[]): number;
}

/** `.name`, or `['…']` for names that are not plain. @see https://www.rfc-editor.org/rfc/rfc9535#name-name-selector */
function jsonStep(step: Step): string {
  if (step.kind === 'items') return '[*]';
  if (/^[A-Za-z_]\w*$/.test(step.name)) return `.${step.name}`;
  const text = step.name
    .replace(/['\\]/g, '\\$&')
    .replace(/[\x00-\x1f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `['${text}']`;
}

/** Names of elements and attributes on a way; arrays are no level of their own. */
const xmlNames = (steps: readonly Step[]): string[] =>
  steps.flatMap((step) => (step.kind === 'member' && step.name !== '.' ? [step.name] : []));

const JSON_PATHS: PathSyntax = {
  iterator: (steps) => `$${steps.map(jsonStep).join('')}`,
  reference: (ups, steps) => `$${'^'.repeat(ups)}${steps.map(jsonStep).join('')}`,
  levels: (steps) => steps.length,
};

export const PATHS: Readonly<Record<Formulation, PathSyntax>> = {
  csv: {
    iterator: () => undefined,
    reference: (_, [step]) => (step?.kind === 'member' ? step.name : ''),
    levels: () => 0,
  },
  json: JSON_PATHS,
  parquet: JSON_PATHS,
  xml: {
    iterator: (steps) => `/${xmlNames(steps).join('/')}`,
    reference: (ups, steps) => [...new Array<string>(ups).fill('..'), ...xmlNames(steps)].join('/') || '.',
    levels: (steps) => xmlNames(steps).length,
  },
};
