/**
 * Results of a SPARQL query as records: the readers of CSV, JSON and XML, with variables as references.
 *
 * A reference that is a variable (`name`, also `?name`) gives the term that is bound to it: the IRI, the label of the blank node, or the
 * text of the literal, with its datatype where the format has it. A variable without a binding has no value. Other references are in the
 * syntax of the format: `name.value` and `name.datatype` in JSON, `binding[@name="name"]/literal` in XML.
 *
 * @see https://www.w3.org/TR/sparql11-overview/#sparql11-results and https://kg-construct.github.io/rml-io-registry/
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { variableOf } from '../../core/input/sparql-variable.ts';
import { toBytes } from '../../core/text.ts';
import type { Accessor, Value } from '../../core/value.ts';
import type { IterationRequest, OpenScan, ReadOptions, Scan, XmlOptions } from '../source.ts';
import { literalOf, parseTerm } from './terms.ts';

export type ResultFormat = 'csv' | 'tsv' | 'json' | 'xml';

/** How a variable is read from the results of one format. */
interface Binding {
  /** References, in the syntax of the format, to the text of the bound term and to its datatype. */
  readonly text: string;
  readonly datatype: string | undefined;
}

const BINDINGS: Readonly<Record<ResultFormat, (variable: string) => Binding>> = {
  csv: (variable) => ({ text: variable, datatype: undefined }),
  tsv: (variable) => ({ text: `?${variable}`, datatype: undefined }),
  json: (variable) => ({ text: `$["${variable}"]["value"]`, datatype: `$["${variable}"]["datatype"]` }),
  xml: (variable) => ({ text: `binding[@name="${variable}"]/*`, datatype: `binding[@name="${variable}"]/literal/@datatype` }),
};

/**
 * The reader of results in a format.
 *
 * @param open the reader of the format itself: CSV for TSV, too
 */
export const openResults =
  (format: ResultFormat, open: OpenScan): OpenScan =>
  async (bytes, iterations, options) => {
    const bindings = iterations.map(({ references }) => new Map(references.map((reference) => [reference, bindingOf(reference, format)])));
    const requests = iterations.map((request, i): IterationRequest => ({ ...request, references: readBy(bindings[i] as Bindings) }));
    return new ResultScan(await open(bytes, requests, optionsOf(format, options)), bindings, iterations, format, options);
  };

type Bindings = ReadonlyMap<string, Binding | undefined>;

const bindingOf = (reference: string, format: ResultFormat): Binding | undefined => {
  const variable = variableOf(reference);
  return variable === undefined ? undefined : BINDINGS[format](variable);
};

const readBy = (bindings: Bindings): readonly string[] => [
  ...new Set(
    [...bindings].flatMap(([reference, binding]) =>
      binding === undefined ? [reference] : binding.datatype === undefined ? [binding.text] : [binding.text, binding.datatype],
    ),
  ),
];

function optionsOf(format: ResultFormat, options: ReadOptions): ReadOptions {
  switch (format) {
    case 'csv':
      // An empty cell is a variable without a binding. An empty literal looks the same.
      return { ...options, nulls: [...options.nulls, ''] };
    case 'tsv':
      // Cells are terms in the syntax of Turtle, which no text for null can equal.
      return { ...options, nulls: [] };
    case 'json':
      return options;
    case 'xml':
      // All elements are in one namespace, and paths of mappings name them without a prefix.
      return { ...(options as XmlOptions), xmlDefaultNamespace: 'document' };
  }
}

class ResultScan implements Scan {
  readonly #scan: Scan;
  readonly #bindings: readonly Bindings[];
  readonly #iterations: readonly IterationRequest[];
  readonly #format: ResultFormat;
  readonly #options: ReadOptions;
  readonly batches: Scan['batches'];
  readonly nested: Scan['nested'];

  constructor(
    scan: Scan,
    bindings: readonly Bindings[],
    iterations: readonly IterationRequest[],
    format: ResultFormat,
    options: ReadOptions,
  ) {
    this.#scan = scan;
    this.#bindings = bindings;
    this.#iterations = iterations;
    this.#format = format;
    this.#options = options;
    this.batches = (signal) => scan.batches(signal);
    this.nested = scan.nested?.bind(scan);
  }

  accessor(iteration: number, reference: string): Accessor {
    const binding = this.#bindings[iteration]?.get(reference) ?? bindingOf(reference, this.#format);
    if (binding === undefined) return this.#scan.accessor(iteration, reference);
    const text = this.#read(iteration, reference, binding.text);
    const place = { input: this.#options.name, expression: reference, mapping: this.#iterations[iteration]?.origin as string };
    if (this.#format === 'tsv') return this.#parsed(text, place);
    // The older dialect has no natural datatypes.
    if (binding.datatype === undefined || this.#options.dialect === 'legacy') return text;
    const datatype = this.#scan.accessor(iteration, binding.datatype);
    return (record) => {
      const value = text(record);
      const type = typeof value === 'string' ? datatype(record) : null;
      return typeof value === 'string' && typeof type === 'string' ? literalOf(value, type, place) : value;
    };
  }

  unmatched(iteration: number): readonly string[] {
    const missing = new Set(this.#scan.unmatched(iteration));
    const bindings = this.#bindings[iteration] as Bindings;
    return [...bindings].flatMap(([reference, binding]) => (missing.has(binding?.text ?? reference) ? [reference] : []));
  }

  warnings(): readonly string[] {
    return this.#scan.warnings?.() ?? [];
  }

  hint(iteration: number, reference?: string): string | undefined {
    if (reference === undefined) return this.#scan.hint?.(iteration);
    const binding = this.#bindings[iteration]?.get(reference);
    return binding === undefined ? this.#scan.hint?.(iteration, reference) : 'Is it a variable that the query selects?';
  }

  /** A fault for a missing column names the variable, not the column. */
  #read(iteration: number, reference: string, text: string): Accessor {
    try {
      return this.#scan.accessor(iteration, text);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'mapping/reference') throw error;
      throw error.with({
        message: `The query selects no variable ${JSON.stringify(reference)}`,
        place: { expression: reference },
        ...(error.hint === undefined ? {} : { hint: error.hint.replaceAll('columns', 'variables').replaceAll('"?', '"') }),
      });
    }
  }

  #parsed(cell: Accessor, place: FaultPlace): Accessor {
    const nulls = new Set(this.#options.nulls.map(toBytes));
    const typed = this.#options.dialect === 'rml';
    const isNull = (value: Value): boolean => nulls.has(typeof value === 'string' ? value : value.text);
    return (record) => {
      const written = cell(record) as string | null;
      if (written === null || written === '') return null;
      const value = parseTerm(written, place);
      if (isNull(value)) return null;
      return typed || typeof value === 'string' ? value : value.written;
    };
  }
}
