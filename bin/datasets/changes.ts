/** What `dataset` and `diff` have in common: blank nodes, and where text goes. */
import type { ChangedLines } from '../../src/datasets/changes.ts';
import { BLANK_NODE_FORMS, type BlankNodeForm, type ChangeFormat, skolemising } from '../../src/datasets/formats.ts';
import { compressionByName } from '../../src/storage/compression.ts';
import { type CommandOption, type Parsed, UsageError } from '../command-line.ts';
import { openOutput, targetOf } from '../options/output.ts';
import { variablesOf } from '../options/variables.ts';

export const BLANK_NODES: CommandOption = {
  value: 'FORM',
  choices: BLANK_NODE_FORMS,
  summary: 'write blank nodes as IRIs that begin with the variable SKOLEM_BASE_IRI (skolem), or as blank nodes (keep)',
};

const DEFAULT_BASE = 'http://quadmill.invalid/.well-known/genid/';

/** @throws UsageError — an update that would delete blank nodes */
export function formOf(parsed: Parsed, format: ChangeFormat | undefined, usual: BlankNodeForm): BlankNodeForm {
  const given = parsed.value('blank-nodes') as BlankNodeForm | undefined;
  if (format !== 'sparql-update') return given ?? usual;
  if (given === 'keep') throw new UsageError('SPARQL can delete no blank nodes: --format sparql-update takes --blank-nodes skolem alone');
  return 'skolem';
}

/** Text of lines with the blank nodes as the form says. @param seed distinguishes labels of other files: the name of their file */
export function blankNodesAs(form: BlankNodeForm, seed: string): (lines: string) => string {
  if (form === 'keep') return (lines) => lines;
  return skolemising(variablesOf('SKOLEM_BASE_IRI').SKOLEM_BASE_IRI ?? DEFAULT_BASE, seed);
}

export async function* changesAs(changes: AsyncIterable<ChangedLines>, form: BlankNodeForm, seed: string): AsyncGenerator<ChangedLines> {
  const convert = blankNodesAs(form, seed);
  for await (const { kind, lines } of changes) yield { kind, lines: convert(lines) };
}

/** Writes text to the file of `--output`, which appears when it is complete, or to standard output. @throws Fault sink/failed */
export async function writeText(parsed: Parsed, text: AsyncIterable<string>): Promise<void> {
  const target = targetOf(parsed);
  const output = await openOutput(target, { format: 'nquads', compression: compressionByName(target) }, undefined);
  try {
    for await (const piece of text) await output.sink.write(piece);
    await output.sink.commit();
  } catch (error) {
    await output.sink.abort();
    throw error;
  } finally {
    output.close();
  }
}
