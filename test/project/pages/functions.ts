/** `docs/functions.md`, made of the table of functions. */
import type { Example, ExampleValue, FunctionDefinition, Parameter, Return } from '../../../src/functions/definition.ts';
import { NAMESPACES, shortName } from '../../../src/functions/names.ts';
import { FAMILIES } from '../../../src/functions/registry.ts';

export function functionsPage(): string {
  const count = FAMILIES.reduce((sum, { definitions }) => sum + definitions.length, 0);
  return `# Functions

The ${count} functions that a mapping may call, by family. \`npm run docs\` makes this page from the tables in \`src/functions/families\`, and every
example on it is a test. None calls the network, and none but \`idlab-fn:lookup\` and \`idlab-fn:lookupWithDelimiter\` has to do with files. [functions.ttl](functions.ttl) describes them in
[FnO](https://w3id.org/function/spec), for tools; a mapping may be run together with it. \`quadmill functions --turtle\` writes the same.

${Object.entries(NAMESPACES)
  .filter(([prefix]) => prefix !== 'rdf')
  .map(([prefix, namespace]) => `- \`${prefix}:\` is \`${namespace}\`${NOTES[prefix] ?? ''}`)
  .join('\n')}

## Rules

- **Characters.** Functions see characters, not bytes. Positions count UTF-16 code units where GREL has them so; nothing is cut within a character.
- **Missing values.** A call has no result if a parameter has no value, unless the parameter says so below: *may be missing* must be given, but
  the function is called without a value for it; *optional* may be left out.
- **Several values.** A parameter of one value takes several one after the other: the results are those of all combinations, in order, the last
  parameter varying fastest. *list* and *any* take all values at once, and may be given by several inputs.
- **Branches.** Of the alternatives of a choice, only the one that is taken is evaluated; the second operand of \`qm:and\` and \`qm:or\` only where it
  matters.
- **Types.** *any* passes values as they are, with their natural datatypes. Results of other types are texts without a natural datatype. A
  *boolean* is \`true\`, \`false\`, \`1\` or \`0\`; a *number* has digits and a decimal point.
- **Errors.** An unknown function, parameter or return, or a constant that a parameter cannot take, is an error of the mapping, found before the first
  record: a wrong number, regular expression, pattern of dates, time zone, unit. Data that a function cannot take rejects the record.
- **Regular expressions** have the syntax of ECMAScript with Unicode rules, and a time that is bounded: where that of JavaScript could take long,
  the linear engine RE2 makes the same match ([decision 32](decisions/0032-regular-expressions.md)). A constant that could take hours, such as a
  look-ahead with \`(a+)+\`, is an error of the mapping; a pattern of the data rejects the record.
- **Look-ups.** \`idlab-fn:lookup\` and \`idlab-fn:lookupWithDelimiter\` look values up in a CSV file, which the run reads as an input, before the
  first record: from the directory of the mapping on (\`--source-root\`), within the reach and the limits of inputs, from a server or S3 too. File,
  columns and delimiter are constants. All rows are data, the first one too; quotes are read as in other CSV. The first row with a key counts,
  and it gives no value where its cell is empty without quotes. Without a delimiter there is a comma, in a \`.tsv\` a tab. The tables of a run
  have a quarter of \`MEMORY_BUDGET_MB\`, and as many threads map as have copies in it. Slices of a run that read another version of a file end
  the run.
- **Repetition.** Functions marked *random* give the same again when a run is repeated by the queue.

${FAMILIES.map(({ title, definitions }) => `## ${title}\n\n${definitions.map(section).join('\n\n')}`).join('\n\n')}
`;
}

const NOTES: Readonly<Record<string, string>> = {
  grel: ', functions of OpenRefine',
  'idlab-fn': ', also known as `http://example.com/idlab/function/`',
  morph: ', functions of Morph-KGC',
  qm: ", Quadmill's own",
  fns: ', functions that the test cases of RML-FNML describe',
};

function section(definition: FunctionDefinition): string {
  const { name, does, aliases, parameters, returns, deterministic, examples } = definition;
  const shown = aliases.map(shortName).filter((alias) => !alias.startsWith('<'));
  const facts = [
    ...(deterministic ? [] : ['Random.']),
    ...(shown.length === 0 ? [] : [`Also ${shown.map(code).join(', ')}.`]),
    `Parameters: ${parameters.length === 0 ? 'none' : parameters.map(parameterText).join('; ')}.`,
    `${returns.length === 1 ? 'Returns' : 'Returns several'}: ${returns.map(returnText).join('; ')}.`,
    `Examples: ${examples.map((example) => exampleText(example, returns)).join('; ')}.`,
  ];
  return `### ${name}\n\n${does}\n\n${facts.map((fact) => `- ${fact}`).join('\n')}`;
}

function parameterText({ iri, aliases, type, needs, default: text }: Parameter): string {
  const others = aliases.map(shortName).filter((alias) => !alias.startsWith('<'));
  const need = { value: '', argument: ', may be missing', nothing: ', optional', default: `, optional: ${code(JSON.stringify(text))}` }[
    needs
  ];
  return `${code(shortName(iri))}${others.length === 0 ? '' : ` (${others.map(code).join(', ')})`} ${type === 'lazy' ? 'any' : type}${need}`;
}

function returnText({ iri, aliases, type }: Return): string {
  const others = aliases.map(shortName).filter((alias) => !alias.startsWith('<'));
  return `${code(shortName(iri))}${others.length === 0 ? '' : ` (${others.map(code).join(', ')})`} ${type}`;
}

function exampleText({ given, gives, of }: Example, returns: readonly Return[]): string {
  const result =
    typeof gives === 'object' && gives !== null && 'fails' in gives ? 'an error' : gives === null ? 'no result' : code(valueText(gives));
  const from = of === undefined || returns.length === 1 ? '' : ` (${of})`;
  return `${code(`(${given.map(valueText).join(', ')})`)} → ${result}${from}`;
}

function valueText(value: ExampleValue): string {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'object') return `[${value.map(valueText).join(', ')}]`;
  // Characters that cannot be seen are written as escapes.
  return JSON.stringify(value).replace(
    /[\p{M}\p{C}]|(?! )\p{Z}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const code = (text: string): string => `\`${text}\``;
