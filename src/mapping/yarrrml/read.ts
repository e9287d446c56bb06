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
 * The statements of each document. Names of sources, targets and mappings mean the document's own, else those of the others.
 *
 * @param documents `scope` makes labels of blank nodes unique
 */
export function readYarrrml(
  documents: readonly { readonly name: string; readonly text: string; readonly scope: string }[],
  report: Report,
): readonly (readonly Described[])[] {
  const parsed = documents.map(({ name, text }) => {
    const tree = parseYaml(text, name, report);
    return tree === undefined ? undefined : documentOf(report, tree);
  });
  const all = parsed.filter((document) => document !== undefined);
  return parsed.map((document, i) => {
    const writer = new Writer(documents[i]?.scope as string);
    if (document !== undefined) new MappingWriter(report, all, document, writer).writeAll();
    return writer.statements;
  });
}

/** The prefixes that a document declares, as far as it can be read. */
export function prefixesIn(text: string): Readonly<Record<string, string>> {
  const tree = parseYaml(text, '', new Report());
  const prefixes = tree?.kind === 'map' ? tree.entries.find(({ key }) => longKey('document', key) === 'prefixes')?.value : undefined;
  if (prefixes?.kind !== 'map') return {};
  return Object.fromEntries(prefixes.entries.flatMap(({ key, value }) => (value.kind === 'text' ? [[key, value.text] as const] : [])));
}
