/** The segments, selectors and filters of a JSONPath. */

export interface Query {
  /** From `$`, the root; otherwise from `@`, the current node of a filter. */
  readonly absolute: boolean;
  readonly segments: readonly Segment[];
}

export interface Segment {
  readonly descendant: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start: number | undefined; readonly end: number | undefined; readonly step: number }
  | { readonly kind: 'filter'; readonly test: Test };

export type Test =
  | { readonly kind: 'or' | 'and'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly query: Query }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'compare'; readonly operator: Operator; readonly left: Operand; readonly right: Operand };

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type Operand =
  /** A number stands as it is written. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly value: string | boolean | null }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'call'; readonly call: Call };

export interface Call {
  readonly name: FunctionName;
  readonly operands: readonly Operand[];
}

/** What each parameter takes (`value`: one value or nothing, `nodes`: a query) and what comes out. */
export const FUNCTIONS = {
  length: { parameters: ['value'], result: 'value' },
  count: { parameters: ['nodes'], result: 'value' },
  value: { parameters: ['nodes'], result: 'value' },
  match: { parameters: ['value', 'value'], result: 'logical' },
  search: { parameters: ['value', 'value'], result: 'logical' },
} as const satisfies Record<string, { parameters: readonly ('value' | 'nodes')[]; result: 'value' | 'logical' }>;

export type FunctionName = keyof typeof FUNCTIONS;

export const isSingular = (query: Query): boolean =>
  query.segments.every(
    ({ descendant, selectors }) =>
      !descendant && selectors.length === 1 && (selectors[0]?.kind === 'name' || selectors[0]?.kind === 'index'),
  );
