/** What stands in a side file, and whether something that was parsed is one: anybody may have put it there. */
import { KINDS, type Kind } from '../../../src/infer/kinds.ts';
import type { Element, Id, Path } from '../document.ts';
import type { Holds } from '../elements/schema.ts';

/** How the canvas shows a model. It is no part of the document: looking at a model does not change it. */
export interface Shown {
  /** Where the layout has put the blocks that the user has not moved. */
  readonly points: ReadonlyMap<Id, { readonly x: number; readonly y: number }>;
  /** Inputs of which all fields are shown. */
  readonly all: ReadonlySet<Id>;
  /** Keys of levels that are unfolded. */
  readonly open: ReadonlySet<string>;
}

export const NOTHING_SHOWN: Shown = { points: new Map(), all: new Set(), open: new Set() };

/** As JSON. */
export interface SideFile {
  readonly version: 1;
  readonly expert: boolean;
  readonly rejected: readonly string[];
  /** All elements: those of the text are found again by them. */
  readonly elements: readonly Element[];
  readonly points: Readonly<Record<Id, readonly [x: number, y: number]>>;
  readonly all: readonly Id[];
  readonly open: readonly string[];
  /** By input. */
  readonly fields: Readonly<Record<Id, readonly (readonly [Path, Holds, Kind | null])[]>>;
}

type Check = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isIndex: Check = (value) => isNumber(value) && Number.isInteger(value) && (value as number) >= 0;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
const shaped =
  (fields: Fields): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));
const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

const isTexts = listOf(isText);
const isStep = either(
  shaped({ name: isText }),
  shaped({ attribute: isText }),
  shaped({ each: oneOf(true) }),
  shaped({ index: isIndex }),
  shaped({ text: oneOf(true) }),
);
const isPath = listOf(isStep);
const isRef = shaped({ input: isText, path: isPath });
const isExpression: Check = (value) =>
  either(
    shaped({ kind: oneOf('field'), ref: isRef }),
    shaped({ kind: oneOf('template'), parts: listOf(either(isText, isRef)) }),
    shaped({ kind: oneOf('constant'), value: isText }),
    shaped({
      kind: oneOf('call'),
      function: isText,
      arguments: listOf(shaped({ parameter: isText, value: isExpression })),
      returns: optional(isText),
    }),
    shaped({ kind: oneOf('written'), text: isText }),
    shaped({ kind: oneOf('fresh') }),
  )(value);
const isTermType = oneOf('iri', 'uri', 'unsafe-iri', 'unsafe-uri', 'blank', 'literal');
const isDatabase = optional(shaped({ url: isText, driver: optional(isText), user: optional(isText) }));
const isLocation = either(
  shaped({ kind: oneOf('upload', 'url'), url: isText }),
  shaped({ kind: oneOf('file'), path: isText, directory: optional(isText) }),
  shaped({ kind: oneOf('table'), table: isText, database: isDatabase }),
  shaped({ kind: oneOf('query'), query: isText, database: isDatabase }),
);

/** By kind; every element has an id too. */
const ELEMENTS: Readonly<Record<Element['kind'], Fields>> = {
  input: {
    name: isText,
    location: isLocation,
    format: oneOf('csv', 'json', 'jsonl', 'xml', 'xlsx', 'ods', 'parquet', 'sql'),
    grouped: isFlag,
    namespaces: mapOf(isText),
    nulls: isTexts,
    dialect: optional(
      shaped({ delimiter: optional(isText), quote: optional(isText), header: optional(isFlag), encoding: optional(isText) }),
    ),
    compression: optional(oneOf('gzip', 'zip', 'targz', 'tarxz')),
  },
  entity: {
    name: isText,
    input: isText,
    level: isPath,
    identifier: isExpression,
    termType: isTermType,
    classes: isTexts,
    graphs: isTexts,
    parts: isTexts,
  },
  attribute: { value: isExpression, termType: isTermType, datatype: optional(isText), language: optional(isText) },
  edge: {
    from: isText,
    to: isText,
    predicates: isTexts,
    graphs: isTexts,
    part: isText,
    form: oneOf('same', 'down', 'view', 'join'),
  },
  join: { edge: isText, conditions: listOf(shaped({ child: isExpression, parent: isExpression })) },
  graph: { name: isExpression },
  prefix: { name: isText, iri: isText },
  text: { of: optional(isText), anchor: shaped({ from: isIndex, to: isIndex }), reason: isText },
  place: { of: isText, x: isNumber, y: isNumber, width: optional(isNumber), open: isTexts, pinned: isFlag },
};

const isElement: Check = (value) => {
  const fields =
    isObject(value) && isText(value.id) && Object.hasOwn(ELEMENTS, String(value.kind)) && ELEMENTS[value.kind as Element['kind']];
  return fields !== false && shaped(fields)(value);
};

const isPair =
  (...checks: readonly Check[]): Check =>
  (value) =>
    Array.isArray(value) && value.length === checks.length && checks.every((check, i) => check(value[i]));

const isFile = shaped({
  version: oneOf(1),
  expert: isFlag,
  rejected: isTexts,
  elements: listOf(isElement),
  points: mapOf(isPair(isNumber, isNumber)),
  all: isTexts,
  open: isTexts,
  fields: mapOf(listOf(isPair(isPath, oneOf('value', 'list', 'object'), oneOf(...KINDS, 'text', null)))),
});

export const isSideFile = (value: unknown): value is SideFile => isFile(value);
