/**
 * YARRRML documents → the statements of RML that they mean.
 *
 * The meaning is that of legacy RML: a record without a value is skipped, and mappings without a condition are paired record by record. A
 * source without an access is a table or a query of the run's database, as in R2RML.
 *
 * @see https://rml.io/yarrrml/spec/
 */
import { Report } from '../model/diagnostics.ts';
import type { Described } from '../model/graph.ts';
import { documentOf } from './document.ts';
import { longKey } from './keys.ts';
import { MappingWriter } from './mapping.ts';
import { parseYaml } from './tree.ts';
import { Writer } from './writer.ts';

/**
 * A document can mean far more statements than it has values: a mapping of 300 sources and 300 subjects is 90,000 triples maps, and a named
 * source stands wherever it is used. A document that repeats nothing has at most three for each value.
 */
const REPEATED_STATEMENTS = 200_000;
const STATEMENTS_OF_VALUE = 10;

/**
 * The statements of each document. Names of sources, targets and mappings mean the document's own, else those of the others.
 *
 * @param documents `scope` makes labels of blank nodes unique
 */
export function readYarrrml(
  documents: readonly { readonly name: string; readonly text: string; readonly scope: string }[],
  report: Report,
): readonly (readonly Described[])[] {
  const parsed = documents.map(({ name, text, scope }) => {
    const { tree, written = 0 } = parseYaml(text, name, report) ?? {};
    const writer = new Writer(scope, REPEATED_STATEMENTS + STATEMENTS_OF_VALUE * written);
    return { document: tree === undefined ? undefined : documentOf(report, tree), writer };
  });
  const all = parsed.flatMap(({ document }) => document ?? []);
  return parsed.map(({ document, writer }) => {
    if (document !== undefined) new MappingWriter(report, all, document, writer).writeAll();
    return writer.statements;
  });
}

/** The prefixes that a document declares, as far as it can be read. */
export function prefixesIn(text: string): Readonly<Record<string, string>> {
  const tree = parseYaml(text, '', new Report())?.tree;
  const prefixes = tree?.kind === 'map' ? tree.entries.find(({ key }) => longKey('document', key) === 'prefixes')?.value : undefined;
  if (prefixes?.kind !== 'map') return {};
  return Object.fromEntries(prefixes.entries.flatMap(({ key, value }) => (value.kind === 'text' ? [[key, value.text] as const] : [])));
}
