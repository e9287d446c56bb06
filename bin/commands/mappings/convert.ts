/** `quadmill convert`: a mapping in another mapping language. */
import { resolve } from 'node:path';
import { convertMapping, LANGUAGES, type Language } from '../../../src/mapping/convert/convert.ts';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import { readMappingDocuments } from '../../../src/run/prepare/load.ts';
import { DEFAULT_BASE } from '../../../src/run/request.ts';
import { writeAtomically } from '../../../src/storage/local/file.ts';
import { type Command, commandOf, UsageError } from '../../command-line.ts';
import { EXIT } from '../../exit.ts';
import { webAccess } from '../../options/inputs.ts';
import { refuseOtherEnding } from '../../options/output.ts';
import { printData, printLine } from '../../terminal.ts';

const CONVERT: Command = {
  name: 'convert',
  usage: 'convert MAPPING… --to LANGUAGE [options]',
  summary: "Writes mappings, which together make one mapping, in another language: today's RML, legacy RML, R2RML or YARRRML.",
  options: {
    to: { value: 'LANGUAGE', choices: LANGUAGES, summary: "rml (today's), legacy, r2rml or yarrrml" },
    output: { short: 'o', value: 'FILE', summary: 'default: standard output' },
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
  },
  notes: `What the language cannot say is an error, and nothing is written. Exit codes: 0 written, 2 errors.

  quadmill convert people.yml --to rml -o people.ttl
  quadmill convert people.ttl --to yarrrml -o people.yml`,
};

export const convert = commandOf(CONVERT, async (parsed) => {
  const to = parsed.value('to');
  if (parsed.positionals.length === 0) throw new UsageError('convert needs at least one mapping');
  if (to === undefined) throw new UsageError(`convert needs --to, one of ${LANGUAGES.join(', ')}`);
  const output = parsed.value('output');
  if (output !== undefined) refuseOtherEnding(output, to === 'yarrrml' ? 'YARRRML' : 'Turtle');
  const documents = await readMappingDocuments(parsed.positionals, {
    workingDirectory: process.cwd(),
    reach: undefined,
    s3: webAccess().s3,
  });
  const { text, diagnostics } = await convertMapping(documents, to as Language, { baseIri: parsed.value('base') ?? DEFAULT_BASE });
  for (const diagnostic of diagnostics) printLine(formatDiagnostic(diagnostic));
  if (text === undefined) return EXIT.usage;
  if (output === undefined) printData(text);
  else await writeAtomically(resolve(output), text);
  return EXIT.done;
});
