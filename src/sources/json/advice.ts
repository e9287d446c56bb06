/**
 * What to write in the place of a JSONPath that finds nothing: another case, a step through an array, a name with a point in it, a member that
 * stands deeper. Proposals are tried on the values at the beginning of the document, and given only where they find something.
 */
import { nearest } from '../../core/nearest.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { foreignFunction } from '../../paths/json/dialects.ts';
import type { Segment, Selector } from '../../paths/json/model.ts';
import type { WrittenStep } from '../../paths/json/parse.ts';
import { compileSegments } from './path/query.ts';
import { isObject, type JsonObject, Numeral } from './text.ts';

/** Nodes of each step that are looked at. */
const MOST_NODES = 200;
const MOST_NAMES = 8;
/** Corrections of one expression. */
const MOST_MENDS = 2;
/** Levels below a node in which a name is looked for. */
const LEVELS = 3;

/** Any two shorter names are similar. */
const LEAST_SIMILAR = 3;

type Nodes = readonly unknown[];
type Steps = readonly WrittenStep[];

/** An expression that finds something, as its steps, and why the one that was written does not. */
interface Mended {
  readonly texts: readonly string[];
  /** Of the first correction, made of the path before it. undefined: there is none. */
  readonly reason: ((path: string) => string) | undefined;
  /** The steps before the first correction. */
  readonly before: readonly string[];
}

/** Where an expression begins. */
export interface Begin {
  readonly nodes: Nodes;
  /** What they are. */
  readonly what: 'document' | 'record' | 'item' | 'parent';
  /** The steps that lead to the nodes: an expression that has them again begins at the document. */
  readonly from?: Steps;
  /** Whether the nodes are complete. */
  readonly isWhole: boolean;
}

/**
 * @param start what stands before the steps: `$`, `$^^`; empty for a short expression
 */
export function adviceOn(start: string, steps: Steps, { nodes, what, from = [], isWhole }: Begin): string | undefined {
  if (nodes.length === 0) return undefined;
  const mended = mend(nodes, steps, MOST_MENDS) ?? fromRecord(nodes, steps, from);
  if (mended?.reason !== undefined) {
    const { reason, before, texts } = mended;
    return `${reason(before.length === 0 ? `The ${what}` : writtenAs(start, before))}: write ${writtenAs(start, texts)}`;
  }
  return foreignAdvice(steps) ?? ending(start, steps, { nodes, what, isWhole });
}

/** The expression with the start that it had: a short one has no `$.`. */
const writtenAs = (start: string, texts: readonly string[]): string => {
  const path = texts.join('');
  return start !== '' ? start + path : path === '' ? '$' : path.replace(/^\.(?!\.)/, '');
};

// ---------------------------------------------------------------- corrections

function mend(nodes: Nodes, steps: Steps, mends: number): Mended | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return { texts: [], reason: undefined, before: [] };
  const found = find(nodes, step.segment);
  if (found.length > 0) {
    const further = mend(found, rest, mends);
    if (further !== undefined && further.reason === undefined) return behind([step.text], further);
    return (mends === 0 ? undefined : withPoints(nodes, steps, mends)) ?? (further && behind([step.text], further));
  }
  if (mends === 0) return undefined;
  return (
    throughArray(nodes, steps, mends) ??
    withPoints(nodes, steps, mends) ??
    byName(nodes, steps, mends, alike) ??
    withoutPosition(nodes, steps, mends) ??
    deeper(nodes, steps) ??
    byName(nodes, steps, mends, similar)
  );
}

/** @param reason of a correction at these texts */
function behind(texts: readonly string[], further: Mended, reason?: Mended['reason']): Mended {
  const all = [...texts, ...further.texts];
  if (reason !== undefined) return { texts: all, reason, before: [] };
  return { texts: all, reason: further.reason, before: [...texts, ...further.before] };
}

/** `tags.t` of an array: `tags[*].t`. */
function throughArray(nodes: Nodes, steps: Steps, mends: number): Mended | undefined {
  const elements = nodes.flatMap((node) => (Array.isArray(node) ? node.slice(0, MOST_NODES) : [])).slice(0, MOST_NODES);
  if (elements.length === 0 || nameOf(steps[0]) === undefined) return undefined;
  const further = mend(elements, steps, mends - 1);
  return (
    further &&
    behind(['[*]'], further, (path) =>
      path === 'The record' ? `${path} is an array, an iterator with [*] at its end gives its members` : `${path} is an array`,
    )
  );
}

/** `address.street` of `{ "address.street": … }`. */
function withPoints(nodes: Nodes, steps: Steps, mends: number): Mended | undefined {
  const objects = nodes.filter(isObject);
  const end = steps.findIndex((step) => nameOf(step) === undefined);
  const names = (end < 0 ? steps : steps.slice(0, end)).map(nameOf);
  for (let count = names.length; count > 1; count--) {
    const joined = names.slice(0, count).join('.');
    const members = membersOf(objects, joined);
    const further = members.length === 0 ? undefined : mend(members, steps.slice(count), mends - 1);
    if (further !== undefined) return behind([textOf(joined)], further, () => `The name ${quoted(joined)} has a point in it`);
  }
  return undefined;
}

/** @param among which of the names are tried */
function byName(nodes: Nodes, steps: Steps, mends: number, among: Candidates): Mended | undefined {
  const [step, ...rest] = steps;
  const name = nameOf(step);
  if (name === undefined) return undefined;
  const objects = nodes.filter(isObject);
  for (const other of among(name, namesOf(objects))) {
    const further = mend(membersOf(objects, other), rest, mends - 1);
    if (further === undefined) continue;
    const isCase = fromBytes(other).toLowerCase() === fromBytes(name).toLowerCase();
    return behind([textOf(other)], further, () => (isCase ? 'Upper and lower case count' : `There is a member ${quoted(other)}`));
  }
  return undefined;
}

/** All as bytes. */
type Candidates = (name: string, names: readonly string[]) => readonly string[];

/** Names in other letters. */
const alike: Candidates = (name, names) => {
  const folded = fold(name);
  return folded === '' ? [] : names.filter((one) => fold(one) === folded);
};

const similar: Candidates = (name, names) =>
  name.length < LEAST_SIMILAR ? [] : nearest(fromBytes(name), names.map(fromBytes), 2).map(toBytes);

/** `address[0].city` of an object: `address.city`. */
function withoutPosition(nodes: Nodes, steps: Steps, mends: number): Mended | undefined {
  const [step, ...rest] = steps;
  const isPosition = step?.segment.selectors.every(({ kind }) => kind === 'index' || kind === 'slice' || kind === 'wildcard') ?? false;
  const others = nodes.filter((node) => (rest.length > 0 ? isObject(node) : isScalar(node)));
  if (step?.segment.descendant !== false || !isPosition || others.length === 0) return undefined;
  const further = mend(others, rest, mends - 1);
  return further && behind([], further, (path) => `${path} is no array`);
}

/** A member of that name further down. */
function deeper(nodes: Nodes, steps: Steps): Mended | undefined {
  const name = nameOf(steps[0]);
  if (name === undefined) return undefined;
  let level: readonly { readonly path: readonly string[]; readonly nodes: Nodes }[] = [{ path: [], nodes }];
  for (let i = 0; i < LEVELS; i++) {
    level = level
      .flatMap(({ path, nodes: here }) => {
        const elements = here.flatMap((node) => (Array.isArray(node) ? node : [])).slice(0, MOST_NODES);
        const objects = here.filter(isObject);
        return [
          ...(elements.length === 0 ? [] : [{ path: [...path, '[*]'], nodes: elements }]),
          ...namesOf(objects).map((member) => ({ path: [...path, textOf(member)], nodes: membersOf(objects, member) })),
        ];
      })
      .slice(0, MOST_NODES);
    for (const { path, nodes: here } of level) {
      if (find(here, (steps[0] as WrittenStep).segment).length === 0) continue;
      const further = mend(here, steps, 0);
      if (further !== undefined) return behind(path, further, () => `${quoted(name)} stands deeper`);
    }
  }
  return undefined;
}

/** The reference of a record that has the iterator again. */
function fromRecord(nodes: Nodes, steps: Steps, from: Steps): Mended | undefined {
  if (from.length === 0 || steps.length < from.length || from.some(({ text }, i) => text !== steps[i]?.text)) return undefined;
  const further = mend(nodes, steps.slice(from.length), MOST_MENDS);
  return further && behind([], further, () => 'A reference begins at the record');
}

/** In legacy RML, `tags.length()` is the name of a member. */
function foreignAdvice(steps: Steps): string | undefined {
  const path = steps.map(({ text }) => text).join('');
  const foreign = foreignFunction(path);
  if (foreign !== undefined) return `${foreign.message}: it is read as a name. ${foreign.hint}`;
  return steps.some((step) => nameOf(step)?.includes('/')) ? 'JSONPath writes a point where XPath has /' : undefined;
}

// ---------------------------------------------------------------- where a path ends

function ending(start: string, steps: Steps, { nodes, what, isWhole }: Begin): string | undefined {
  let here = nodes;
  const passed: string[] = [];
  for (const { segment, text } of steps) {
    const found = find(here, segment);
    if (found.length === 0) {
      const path = passed.length === 0 ? `The ${what}` : writtenAs(start, passed);
      if (segment.selectors.some(({ kind }) => kind === 'filter')) return `The path ends there: nothing in ${path} passes ${text}`;
      const isArray = what === 'document' && here.every(Array.isArray);
      return passed.length === 0
        ? `${path} is ${describe(here, isWhole)}${isArray ? ': $[*] gives its members' : ''}`
        : `The path ends at ${path}, which is ${describe(here, isWhole)}`;
    }
    here = found;
    passed.push(text);
  }
  return undefined;
}

function describe(nodes: Nodes, isWhole: boolean): string {
  const objects = nodes.filter(isObject);
  if (objects.length > 0) {
    const names = namesOf(objects);
    if (names.length === 0) return 'an object without members';
    const more = names.length > MOST_NAMES || !isWhole ? ', …' : '';
    return `an object with the ${names.length === 1 ? 'member' : 'members'} ${names.slice(0, MOST_NAMES).map(fromBytes).join(', ')}${more}`;
  }
  const arrays = nodes.filter(Array.isArray);
  if (arrays.length > 0) return arrays.every((array) => array.length === 0) ? 'an empty array' : 'an array';
  const [first] = nodes;
  if (first === null) return 'null';
  if (typeof first === 'boolean') return 'true or false';
  if (typeof first === 'number' || first instanceof Numeral) return 'a number';
  return isDocument(first) ? 'a text that is JSON itself: a field of a view reads it (docs/views.md)' : 'a text';
}

// ---------------------------------------------------------------- nodes and names

function find(nodes: Nodes, segment: Segment): Nodes {
  const found: unknown[] = [];
  const step = compileSegments([segment]);
  for (const node of nodes) {
    step(node, node, found);
    if (found.length >= MOST_NODES) break;
  }
  return found.slice(0, MOST_NODES);
}

/** As bytes. undefined: the step is more than one name. */
function nameOf(step: WrittenStep | undefined): string | undefined {
  const [selector, ...others] = (step?.segment.selectors ?? []) as readonly Selector[];
  return step?.segment.descendant === false && others.length === 0 && selector?.kind === 'name' ? selector.name : undefined;
}

const namesOf = (objects: readonly JsonObject[]): readonly string[] => [...new Set(objects.flatMap(Object.keys))].slice(0, MOST_NODES);

const membersOf = (objects: readonly JsonObject[], name: string): Nodes =>
  objects.flatMap((object) => (Object.hasOwn(object, name) ? [object[name]] : []));

/** Without case and signs: `first_name`, `firstName` and `First name` are alike. */
const fold = (name: string): string =>
  fromBytes(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** A value with a text, which is not a document itself. */
const isScalar = (node: unknown): boolean => node !== null && !Array.isArray(node) && !isObject(node) && !isDocument(node);

const isDocument = (node: unknown): boolean => typeof node === 'string' && /^\s*[[{]/.test(node);

const quoted = (name: string): string => JSON.stringify(fromBytes(name));

function textOf(name: string): string {
  const text = fromBytes(name);
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text) ? `.${text}` : `['${text.replace(/[\\']/g, '\\$&')}']`;
}
