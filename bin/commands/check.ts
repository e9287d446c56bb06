/** `quadmill check`: prints all errors and warnings of mappings at once, without reading any input. */
import { readMapping } from '../../src/mapping/parse/read.ts';
import { readMappingDocuments } from '../../src/run/prepare/load.ts';
import { DEFAULT_BASE } from '../../src/run/request.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { FUNCTION_OPTIONS, openedFunctionsOf } from '../options/functions.ts';
import { webAccess } from '../options/inputs.ts';
import { DIAGNOSTIC_FORMATS, type DiagnosticFormat, printedDiagnostics } from '../report/diagnostics.ts';
import { printData } from '../terminal.ts';

const CHECK: Command = {
  name: 'check',
  usage: 'check MAPPING… [options]',
  summary: 'Prints every error and warning of mappings, which together make one mapping. No input is read.',
  options: {
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
    format: { short: 'f', value: 'FORMAT', choices: DIAGNOSTIC_FORMATS, summary: 'default text; sarif is for code scanning services' },
    ...FUNCTION_OPTIONS,
  },
  notes: 'Exit codes: 0 no errors, 2 errors. docs/diagnostics.md has every code, and what json and sarif hold.',
};

export const check = commandOf(CHECK, async (parsed) => {
  if (parsed.positionals.length === 0) throw new UsageError('check needs at least one mapping');
  const documents = await readMappingDocuments(parsed.positionals, {
    workingDirectory: process.cwd(),
    reach: undefined,
    s3: webAccess().s3,
  });
  const baseIri = parsed.value('base') ?? DEFAULT_BASE;
  const { mapping, diagnostics } = await readMapping(documents, { baseIri, functions: await openedFunctionsOf(parsed) });
  const format = (parsed.value('format') ?? 'text') as DiagnosticFormat;
  printData(`${printedDiagnostics(diagnostics, mapping.triplesMaps.length, format)}\n`);
  return diagnostics.some(({ severity }) => severity === 'error') ? EXIT.usage : EXIT.done;
});
