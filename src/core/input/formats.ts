/** The formats of inputs and their reference formulations, one row each: what tells them apart, and what references in them find. */

/** A reference formulation. */
export interface FormulationRow {
  /** Its name in both vocabularies of RML. */
  readonly name: string;
  /** Records are rows: there is no iterator. */
  readonly hasRows: boolean;
  /** Values carry natural datatypes of their own. */
  readonly typed: boolean;
  /** Whether a reference finds one value at most in a record. @param lenient the dialect of legacy mappings */
  isSingle(reference: string, lenient: boolean): boolean;
}

export const FORMULATIONS = {
  csv: { name: 'CSV', hasRows: true, typed: false, isSingle: () => true },
  // Legacy JSONPath reads an array as its elements. Several nodes come from a wildcard, a filter, a slice, a list of selectors or a descendant segment. A name may hold these characters, too.
  json: { name: 'JSONPath', hasRows: false, typed: true, isSingle: (reference, lenient) => !lenient && !/[*?:,]|\.\./.test(reference) },
  xml: { name: 'XPath', hasRows: false, typed: false, isSingle: (reference) => /^@[\p{L}_][\p{L}\p{N}_.-]*$/u.test(reference) },
} as const satisfies Record<string, FormulationRow>;

/** How references and iterators are written, and which reader reads a document. */
export type Formulation = keyof typeof FORMULATIONS;

interface FormatRow {
  readonly formulation: Formulation;
  /** In lower case, without the ending of a compression. */
  readonly extensions: readonly string[];
  readonly mediaTypes: RegExp;
}

/** `tsv` is tab-separated CSV, `jsonl` one JSON document per line. */
export const FORMATS = {
  csv: { formulation: 'csv', extensions: ['csv'], mediaTypes: /^(?:text|application)\/csv$/ },
  tsv: { formulation: 'csv', extensions: ['tsv', 'tab'], mediaTypes: /^text\/tab-separated-values$/ },
  json: { formulation: 'json', extensions: ['json', 'geojson'], mediaTypes: /[/+]json$/ },
  jsonl: { formulation: 'json', extensions: ['jsonl', 'ndjson'], mediaTypes: /\/(?:x-)?(?:jsonl|ndjson|jsonlines)$/ },
  xml: { formulation: 'xml', extensions: ['xml'], mediaTypes: /[/+]xml$/ },
} as const satisfies Record<string, FormatRow>;

export type InputFormat = keyof typeof FORMATS;

export const INPUT_FORMATS = Object.keys(FORMATS) as readonly InputFormat[];

/** @param extension in lower case */
export const formatOfExtension = (extension: string): InputFormat | undefined =>
  INPUT_FORMATS.find((format) => (FORMATS[format].extensions as readonly string[]).includes(extension));

/** @param type with or without parameters */
export function formatOfMediaType(type: string): InputFormat | undefined {
  const plain = (type.split(';', 1)[0] as string).trim().toLowerCase();
  return INPUT_FORMATS.find((format) => FORMATS[format].mediaTypes.test(plain));
}

/** `rml:CSV, rml:JSONPath and rml:XPath`, for messages. */
export const formulationNames = (word: 'and' | 'or'): string => {
  const names = Object.values(FORMULATIONS).map(({ name }) => `rml:${name}`);
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
};
