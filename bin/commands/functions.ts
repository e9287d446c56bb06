/** `quadmill functions`: what a mapping may call, for people, or as FnO descriptions for tools that write mappings. */
import { describeFunctions } from '../../src/functions/describe.ts';
import { expand, NAMESPACES } from '../../src/functions/names.ts';
import { FAMILIES, findFunction, suggestFunctions } from '../../src/functions/registry.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { FUNCTION_OPTIONS, openedFunctionsOf } from '../options/functions.ts';

const COMMAND: Command = {
  name: 'functions',
  usage: 'functions [NAME…] [options]',
  summary: 'Lists the functions that a mapping may call, or those of the names or IRIs that are given: grel:toUpperCase.',
  options: {
    ...FUNCTION_OPTIONS,
    turtle: { summary: 'write FnO descriptions with parameters and returns, as Turtle' },
  },
  notes: `docs/functions.md has their rules, parameters and examples.

  quadmill functions
  quadmill functions grel:toUpperCase --turtle
  quadmill functions --turtle > functions.ttl`,
};

export const functions = commandOf(COMMAND, async (parsed) => {
  const own = await openedFunctionsOf(parsed);
  const named = parsed.positionals.map((name) => {
    const iri = Object.hasOwn(NAMESPACES, name.split(':', 1)[0] ?? '') ? expand(name) : name;
    const found = own?.find(iri) ?? findFunction(iri);
    if (found !== undefined) return found;
    const near = suggestFunctions(name.replace(/^[\w-]*:(?!\/\/)/, ''), own?.definitions);
    throw new UsageError(`there is no function '${name}'${near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`}`);
  });
  const ownFamily = own === undefined ? [] : [{ title: 'Functions of --functions', definitions: own.definitions }];
  const families = named.length > 0 ? [{ title: undefined, definitions: named }] : [...ownFamily, ...FAMILIES];
  const text = parsed.has('turtle')
    ? describeFunctions(families.flatMap(({ definitions }) => definitions))
    : `${families
        .map(({ title, definitions }) =>
          [...(title === undefined ? [] : [title]), ...definitions.map(({ name, does }) => `  ${name}: ${does}`)].join('\n'),
        )
        .join('\n\n')}\n`;
  process.stdout.write(text);
  return EXIT.done;
});
