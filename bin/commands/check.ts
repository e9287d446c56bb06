/** `quadmill check`: prints all errors and warnings of mappings at once, without reading any input. */
import { formatDiagnostic } from '../../src/mapping/model/diagnostics.ts';
import { readMapping } from '../../src/mapping/parse/read.ts';
import { readMappingDocuments } from '../../src/run/prepare/load.ts';
import { DEFAULT_BASE } from '../../src/run/request.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';

const CHECK: Command = {
  name: 'check',
  usage: 'check MAPPING… [options]',
  summary: 'Prints every error and warning of mappings, which together make one mapping. No input is read.',
  options: {
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
  },
  notes: 'Exit codes: 0 no errors, 2 errors.',
};

export const check = commandOf(CHECK, async (parsed) => {
  if (parsed.positionals.length === 0) throw new UsageError('check needs at least one mapping');
  const documents = await readMappingDocuments(parsed.positionals, process.cwd());
  const { mapping, diagnostics } = await readMapping(documents, { baseIri: parsed.value('base') ?? DEFAULT_BASE });
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const lines = [...diagnostics.map(formatDiagnostic), summaryOf(errors, diagnostics.length - errors, mapping.triplesMaps.length)];
  process.stdout.write(`${lines.join('\n')}\n`);
  return errors > 0 ? EXIT.usage : EXIT.done;
});

function summaryOf(errors: number, warnings: number, triplesMaps: number): string {
  const maps = `${plural(triplesMaps, 'triples map')}`;
  if (errors + warnings === 0) return `${maps}, nothing wrong`;
  return `${plural(errors, 'error')}, ${plural(warnings, 'warning')}, ${maps} without error`;
}

const plural = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? '' : 's'}`;
