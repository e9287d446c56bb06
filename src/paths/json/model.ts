/**
 * A parsed JSONPath: segments, selectors and filters, with the terms of RFC 9535.
 *
 * Names and string literals are one-byte UTF-8 (`core/text.ts`), because documents are read as bytes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9535#section-2
 */

export interface Query {
  /** true: the query starts at `$`, the root. false: at `@`, the current node of a filter. */
  readonly absolute: boolean;
  readonly segments: readonly Segment[];
}

export interface Segment {
  /** `..`: the selectors apply to the node and all its descendants. */
  readonly descendant: boolean;
  readonly selectors: readonly Selector[];
}

/** `slice`: from `start` to before `end`. undefined: the bound is absent, which means one end of the array. */
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
  /** `text`: the number as it is written. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly value: string | boolean | null }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'call'; readonly call: Call };

export interface Call {
  readonly name: FunctionName;
  readonly operands: readonly Operand[];
}

/** By function: the types of its parameters and its result. `value`: one value or nothing; `nodes`: the nodes of a query; `logical`: true or false. */
export const FUNCTIONS = {
  length: { parameters: ['value'], result: 'value' },
  count: { parameters: ['nodes'], result: 'value' },
  value: { parameters: ['nodes'], result: 'value' },
  match: { parameters: ['value', 'value'], result: 'logical' },
  search: { parameters: ['value', 'value'], result: 'logical' },
} as const satisfies Record<string, { parameters: readonly ('value' | 'nodes')[]; result: 'value' | 'logical' }>;

export type FunctionName = keyof typeof FUNCTIONS;

/** Whether the query finds at most one node: it has only names and indexes. */
export const isSingular = (query: Query): boolean =>
  query.segments.every(
    ({ descendant, selectors }) =>
      !descendant && selectors.length === 1 && (selectors[0]?.kind === 'name' || selectors[0]?.kind === 'index'),
  );
