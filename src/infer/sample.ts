/** The beginning of a document as a plain tree, whatever its format: what an inference begins with. Plain data, in ordinary text. */
import type { Fault } from '../core/fault.ts';
import type { Formulation } from '../core/input/formats.ts';

/** A value with a natural datatype: a number or boolean of JSON, a cell of a workbook. */
export interface TypedText {
  readonly text: string;
  /** IRI. */
  readonly datatype: string;
}

/** An object of JSON, an element of XML, a row of a table. */
export interface Members {
  /** In the order of the document. In XML, attributes begin with `@`, and `.` is the text beside them. */
  readonly members: ReadonlyMap<string, Tree>;
}

/** null: no value. An array: JSON's, or XML elements of one name beside each other. */
export type Tree = null | string | TypedText | Members | readonly Tree[];

/** How a mapping names a document. */
export interface SampledSource {
  /** As the mapping writes it: relative to the mapping, or a URL; of a workbook with its sheet. */
  readonly path: string;
  readonly formulation: Formulation;
  /** Whether values have natural datatypes in every dialect. */
  readonly isWorkbook: boolean;
  /** Of CSV, where it is not the usual one of the name. */
  readonly delimiter?: string | undefined;
  /** Of CSV, where it is not the usual one. Empty: none. */
  readonly quote?: string | undefined;
  /** Of text. */
  readonly encoding?: string | undefined;
  /** Of XML: prefix → namespace IRI, for the names of the tree. */
  readonly namespaces: ReadonlyMap<string, string>;
}

export interface DocumentSample {
  readonly source: SampledSource;
  /** What its class is named after, where nothing within it has a name. */
  readonly name: string;
  /** Of a table: an array of rows. */
  readonly root: Tree;
  /** Of a table: the columns that can be referred to. */
  readonly columns?: readonly string[];
  /** Of a workbook: the names of its sheets. */
  readonly sheets?: readonly string[];
  /** The sample is the whole document. */
  readonly isWhole: boolean;
  /** What was left out already, as messages. */
  readonly notes: readonly string[];
  /** The sample is what stands before it. Only where that is asked for: otherwise it is thrown. */
  readonly fault?: Fault;
}

export const isMembers = (tree: Tree): tree is Members => typeof tree === 'object' && tree !== null && 'members' in tree;
export const isArray = (tree: Tree): tree is readonly Tree[] => Array.isArray(tree);
