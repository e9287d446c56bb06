/** A document → the text of its mapping, in any of the languages. */
import { convertMapping, turtlePrefixes } from '../../../src/mapping/convert/convert.ts';
import { convertGraph } from '../../../src/mapping/convert/dialect.ts';
import { writeTurtle } from '../../../src/mapping/convert/turtle.ts';
import { Report } from '../../../src/mapping/model/diagnostics.ts';
import type { Diagnostic, Dialect } from '../../../src/mapping/model/model.ts';
import type { Input, Language, StudioDocument } from '../document.ts';
import { baseOf } from '../elements/base.ts';
import { recordsOf, withRecords } from '../elements/records.ts';
import { isEmptyWithoutQuotes, LANGUAGE_NAMES, saysEmpty } from '../empty-texts.ts';
import { MADE } from './graph.ts';
import { mappingGraph } from './mapping.ts';

export { MADE };

export interface Printed {
  /** undefined: the language cannot say something that the document means. */
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Incomplete elements are left out, and what is kept as text is, with a warning. */
export async function print(of: StudioDocument, language: Language): Promise<Printed> {
  const report = new Report();
  const document = withEmptyOf(of, language, report);
  const own = dialectOf(document);
  for (const { reason } of recordsOf(document, 'text')) report.warning('not-supported', MADE, `left out: ${reason}`);
  const { graph } = mappingGraph(document, report, own === 'rml' && language === 'rml');
  const baseIri = baseOf(document.language, document.base);
  const nodes = convertGraph(graph, own, report).map((node) => ({ ...node, comments: [] }));
  const declared = recordsOf(document, 'prefix').map(({ name, iri }) => [name, iri] as const);
  const prefixes = new Map([...turtlePrefixes(own), ...declared]);
  const base = { iri: baseIri, isDeclared: document.base !== undefined };
  const text = graph.size === 0 ? '' : writeTurtle(nodes, prefixes, { heading: [], base });
  const diagnostics = report.sorted([MADE.document]);
  if (report.errors > 0) return { text: undefined, diagnostics };
  if (language === own || text === '') return { text, diagnostics };
  const converted = await convertMapping([{ name: 'mapping.ttl', text }], language, { baseIri });
  return { text: converted.text, diagnostics: [...diagnostics, ...converted.diagnostics] };
}

/** Where the language takes empty texts for values, they are values: a notice names each input. */
function withEmptyOf(document: StudioDocument, language: Language, report: Report): StudioDocument {
  const others = emptyLost(document, language);
  for (const input of others) report.warning('changed-meaning', MADE, emptyLostBy(input, language));
  return withRecords(
    document,
    others.map((input) => ({ ...input, nulls: input.nulls.filter((text) => text !== '') })),
  );
}

/** The inputs of which a language cannot say that an empty text is no value. An empty cell of a table is none in any language. */
export const emptyLost = (document: StudioDocument, language: Language): readonly Input[] =>
  recordsOf(document, 'input').filter(
    (input) => input.nulls.includes('') && !saysEmpty(language, input) && !isEmptyWithoutQuotes(language, input),
  );

export const emptyLostBy = ({ name }: Input, language: Language): string =>
  `an empty text of ${name} becomes a value: ${LANGUAGE_NAMES[language]} cannot say that it is none`;

/** What the document means is what its language means: YARRRML is legacy RML, or R2RML for tables of the run's database. */
export function dialectOf(document: StudioDocument): Dialect {
  if (document.language !== 'yarrrml') return document.language;
  const inputs = recordsOf(document, 'input');
  const isTable = ({ location }: (typeof inputs)[number]): boolean =>
    (location.kind === 'table' || location.kind === 'query') && location.database === undefined;
  return inputs.length > 0 && inputs.every(isTable) ? 'r2rml' : 'legacy';
}
