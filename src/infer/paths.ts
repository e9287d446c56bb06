/** References and iterators, as each reference formulation writes them. */
import type { Formulation } from '../core/input/formats.ts';

/** A step down: to a member, or to each item of an array. */
export type Step = { readonly kind: 'member'; readonly name: string } | { readonly kind: 'items' };

export const member = (name: string): Step => ({ kind: 'member', name });
export const ITEMS: Step = { kind: 'items' };

export interface PathSyntax {
  /**
   * undefined: records are rows.
   *
   * @param skipsNull a null at the end of the steps is no record
   */
  iterator(steps: readonly Step[], skipsNull: boolean): string | undefined;
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

/** Names of elements and attributes on a way; arrays are no separate level. */
const xmlNames = (steps: readonly Step[]): string[] =>
  steps.flatMap((step) => (step.kind === 'member' && step.name !== '.' ? [step.name] : []));

const JSON_PATHS: PathSyntax = {
  iterator: (steps, skipsNull) => {
    const at = skipsNull ? steps.lastIndexOf(ITEMS) : -1;
    const [before, after] = [
      steps.slice(0, at + 1),
      steps
        .slice(at + 1)
        .map(jsonStep)
        .join(''),
    ];
    if (at < 0) return `$${steps.map(jsonStep).join('')}`;
    // The filter stands at the array, so that records are read one by one.
    return `$${before.slice(0, -1).map(jsonStep).join('')}[?@${after} != null]${after}`;
  },
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
