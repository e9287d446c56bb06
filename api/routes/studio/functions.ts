/** `/studio/functions`: the functions that mappings may call, as data. */
import { describedFunctions } from '../../../src/custom-functions/open.ts';
import type { Example, FunctionDefinition } from '../../../src/functions/definition.ts';
import { type Api, type Route, withinQueueWait } from '../../route.ts';

export function functionsRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/studio/functions',
    role: 'viewer',
    summary: 'Lists the functions that a mapping may call: the custom functions of the service, then the built-in ones',
    replies: { 200: { description: 'The functions', schema: 'StudioFunctions' } },
    handle: async () => {
      const set = await withinQueueWait(api, api.functions.described());
      const custom = set === undefined ? [] : describedFunctions(set).definitions;
      // Loaded at the first request: most processes never need them.
      const { FAMILIES } = await import('../../../src/functions/registry.ts');
      const functions = [
        ...custom.map((definition) => functionView(definition, null)),
        ...FAMILIES.flatMap(({ title, definitions }) => definitions.map((definition) => functionView(definition, title))),
      ];
      return { status: 200, body: { functions } };
    },
  };
}

/** `family`: the heading of a built-in function; null: a custom one. */
const functionView = (
  { iri, aliases, name, does, parameters, returns, deterministic, examples }: FunctionDefinition,
  family: string | null,
) => ({
  iri,
  aliases,
  name,
  family,
  description: does,
  deterministic,
  parameters: parameters.map((one) => ({
    name: one.name,
    iri: one.iri,
    type: one.type,
    required: one.needs === 'value' || one.needs === 'argument',
    ...(one.default === undefined ? {} : { default: one.default }),
  })),
  returns: returns.map((one) => ({ name: one.name, iri: one.iri, type: one.type })),
  examples: examples.map(exampleView),
});

const exampleView = ({ given, gives, of }: Example) => ({
  given: given.map((value) => value ?? null),
  ...(isFailure(gives) ? { fails: gives.fails } : { gives: gives ?? null }),
  ...(of === undefined ? {} : { of }),
});

const isFailure = (gives: Example['gives']): gives is { readonly fails: string } =>
  typeof gives === 'object' && gives !== null && 'fails' in gives;
