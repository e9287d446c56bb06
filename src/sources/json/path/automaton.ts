/**
 * The iterators of a scan → an automaton over the paths of the document, for the splitter to follow.
 *
 * An iterator is followed from the root as long as a name or a position alone decides each step: names, `[*]`, indexes and slices from the
 * front, and a final filter that only refers to its own element. At its end, or at the end of an iterator that is its prefix, the value is
 * cut out; the rest of each iterator is evaluated on the parsed value.
 */

import { getHeapStatistics } from 'node:v8';
import type { Query, Segment, Selector } from '../../../paths/json/model.ts';
import { usesRoot } from './filter.ts';
import { compileLinked } from './parents.ts';
import { compileFilter, compileSegments, type Find } from './query.ts';

/** The largest value that is parsed in one piece because its iterator cannot be followed further: the maximum length of a V8 string. */
export const MAX_WHOLE_BYTES = 512_000_000;

/** The same where records know their parents: a tree takes about ten times the bytes of its text. */
const MAX_LINKED_BYTES = Math.min(256 * 2 ** 20, Math.floor(getHeapStatistics().heap_size_limit / 16));

/** An iterator that has reached a piece. `find` pushes its records; undefined: the piece is the record. */
export interface Subscriber {
  readonly iteration: number;
  readonly find: Find | undefined;
  /** Whether the piece is the record, or none is in it. */
  readonly isRecord: boolean;
  /** From the piece to its records, if nothing but these segments finds them. */
  readonly segments: readonly Segment[] | undefined;
}

export interface PathAutomaton {
  /** The value here is cut out, for `subscribers`. */
  readonly cuts: boolean;
  readonly subscribers: readonly Subscriber[];
  /** Some transition depends on the name of a member. */
  readonly named: boolean;
  readonly limitBytes: number;
  /** What to do about a piece that exceeds the limit. */
  readonly advice: string;
  /** For a warning: what needs a piece as a whole because of a parent. */
  readonly whole: string | undefined;
  /** Number of elements of arrays in this state at which the splitter has come; one more for an array without elements. */
  begun: number;
  /** @param name as bytes */
  member(name: string): PathAutomaton | undefined;
  element(position: number): PathAutomaton | undefined;
}

type Step =
  | { readonly kind: 'any' }
  | { readonly kind: 'name'; readonly name: string }
  /** Elements from `start` to before `end`. */
  | { readonly kind: 'range'; readonly start: number; readonly end: number };

interface PathState {
  readonly iteration: number;
  readonly steps: readonly Step[];
  readonly find: Find | undefined;
  /** Whether the value to which no step is left is the record, or none is in it. */
  readonly isRecord: boolean;
  readonly iterator: string;
  /** The records are `Linked`: what finds them in the value to which no step is left. */
  readonly linked: readonly Segment[] | undefined;
  /** The reference that leads furthest up. */
  readonly parent: string | undefined;
}

/** An iterator of a scan. */
export interface TrackedIterator {
  readonly query: Query;
  /** From which it was parsed. */
  readonly text: string;
  /** Levels above its records that references need; 0: the records are plain values. */
  readonly ups: number;
  /** The reference that leads up so many levels. */
  readonly parent: string | undefined;
}

/** @param iterators in the order of the scan's iterations */
export function buildAutomaton(iterators: readonly TrackedIterator[], maxRecordBytes: number): PathAutomaton {
  const states = iterators.map((iterator, iteration) =>
    iterator.ups > 0 ? linkedStateOf(iterator, iteration) : pathStateOf(iterator.query, iteration, iterator.text),
  );
  return new Node(states, false, maxRecordBytes);
}

/** Whether a value around the records of an iterator is read as a whole. */
export const needsAround = (iterator: TrackedIterator): boolean =>
  iterator.ups > 0 || !pathStateOf(iterator.query, 0, iterator.text).isRecord;

/**
 * Where an iterator goes through the elements of an array to several records in each, as `$.a[*].b[*]`: the state of that array. undefined: the
 * iterator is another one, or the array is not reached, because something takes a value around it as a whole.
 *
 * @param root the state of the document
 */
export function arrayAround(root: PathAutomaton, { segments }: Query): PathAutomaton | undefined {
  let state: PathAutomaton | undefined = root;
  for (const [i, segment] of segments.entries()) {
    const selector = onlySelector(segment);
    if (state === undefined || state.cuts) return undefined;
    if (selector?.kind === 'wildcard') return i < segments.length - 1 ? state : undefined;
    if (selector?.kind !== 'name') return undefined;
    state = state.member(selector.name);
  }
  return undefined;
}

/** Followed only as far as the ancestors reach. They and what is below them are evaluated on the parsed value. */
function linkedStateOf({ query: { segments }, text, ups, parent }: TrackedIterator, iteration: number): PathState {
  const rooted = segments.some(({ selectors }) => selectors.some((selector) => selector.kind === 'filter' && usesRoot(selector.test)));
  const steps: Step[] = [];
  for (const segment of rooted ? [] : segments.slice(0, Math.max(0, segments.length - ups))) {
    const step = stepOf(segment);
    if (step === undefined) break;
    steps.push(step);
  }
  const linked = segments.slice(steps.length);
  return { iteration, steps, find: compileLinked(linked), isRecord: false, iterator: text, linked, parent };
}

function pathStateOf(query: Query, iteration: number, iterator: string): PathState {
  const plain = { iteration, iterator, isRecord: false, linked: undefined, parent: undefined };
  const { segments } = query;
  if (segments.some(({ selectors }) => selectors.some((selector) => selector.kind === 'filter' && usesRoot(selector.test)))) {
    return { ...plain, steps: [], find: compileSegments(segments) };
  }
  const steps: Step[] = [];
  for (const [i, segment] of segments.entries()) {
    const step = stepOf(segment);
    if (step !== undefined) {
      steps.push(step);
      continue;
    }
    const selector = onlySelector(segment);
    if (selector?.kind !== 'filter') return { ...plain, steps, find: compileSegments(segments.slice(i)) };
    const test = compileFilter(selector.test);
    const rest = compileSegments(segments.slice(i + 1));
    const find: Find = (node, root, found) => {
      if (test(node, root)) rest(node, root, found);
    };
    return { ...plain, steps: [...steps, { kind: 'any' }], find, isRecord: i === segments.length - 1 };
  }
  return { ...plain, steps, find: undefined, isRecord: true };
}

const onlySelector = ({ descendant, selectors }: Segment): Selector | undefined =>
  descendant || selectors.length !== 1 ? undefined : selectors[0];

function stepOf(segment: Segment): Step | undefined {
  const selector = onlySelector(segment);
  if (selector?.kind === 'wildcard') return { kind: 'any' };
  if (selector?.kind === 'name') return selector;
  if (selector?.kind === 'index' && selector.index >= 0) return { kind: 'range', start: selector.index, end: selector.index + 1 };
  if (selector?.kind !== 'slice' || selector.step !== 1) return undefined;
  const { start = 0, end = Number.POSITIVE_INFINITY } = selector;
  return start >= 0 && end >= 0 ? { kind: 'range', start, end } : undefined;
}

class Node implements PathAutomaton {
  readonly cuts: boolean;
  readonly subscribers: readonly Subscriber[];
  readonly named: boolean;
  readonly limitBytes: number;
  readonly advice: string;
  readonly whole: string | undefined;
  begun = 0;
  private readonly names: ReadonlyMap<string, PathAutomaton>;
  private readonly otherName: PathAutomaton | undefined;
  private readonly states: readonly PathState[];
  /** From this position on, every element has the same state. */
  private readonly settledFrom: number;
  private readonly settled: PathAutomaton | undefined;
  private readonly elements = new Map<string, PathAutomaton>();
  private readonly repeats: boolean;
  private readonly maxRecordBytes: number;

  /** @param repeats there may be several values in this state */
  constructor(states: readonly PathState[], repeats: boolean, maxRecordBytes: number) {
    this.states = states;
    this.repeats = repeats;
    this.maxRecordBytes = maxRecordBytes;
    this.cuts = states.some((state) => state.steps.length === 0);
    const isWhole = (state: PathState): boolean => state.steps.length > 0 || state.find !== undefined || state.iterator === '$';
    const linked = this.cuts ? states.find((state) => state.linked !== undefined) : undefined;
    const whole = this.cuts && !repeats ? (linked ?? states.find(isWhole)) : undefined;
    const needed = whole?.parent === undefined ? whole?.iterator : `${whole.iterator} with the reference ${whole.parent}`;
    this.limitBytes = whole === undefined ? maxRecordBytes : linked === undefined ? MAX_WHOLE_BYTES : MAX_LINKED_BYTES;
    this.advice =
      whole === undefined
        ? 'Raise MAX_RECORD_BYTES (--max-record-mb), or take an iterator that reaches further down'
        : `The iterator ${needed} needs this value as a whole; one that begins with names and [*], for example $.items[*], is read record by record`;
    this.whole = whole?.parent === undefined ? undefined : needed;
    this.named = !this.cuts && states.some((state) => state.steps[0]?.kind === 'name');
    this.subscribers = this.cuts
      ? states.map((state) => ({
          iteration: state.iteration,
          find: state.steps.length === 0 ? state.find : findSteps(state),
          isRecord: state.steps.length === 0 && state.isRecord,
          segments: state.find === undefined ? state.steps.map(segmentOf) : undefined,
        }))
      : [];
    const names = new Map<string, PathAutomaton>();
    if (!this.cuts) {
      for (const { steps } of states) {
        const step = steps[0];
        if (step?.kind !== 'name' || names.has(step.name)) continue;
        const next = this.next(
          (other) => other.kind === 'any' || (other.kind === 'name' && other.name === step.name),
          !states.every((state) => state.steps[0]?.kind === 'name'),
        );
        if (next !== undefined) names.set(step.name, next);
      }
    }
    this.names = names;
    this.otherName = this.cuts ? undefined : this.next((step) => step.kind === 'any', true);
    const bounds = states.flatMap(({ steps: [step] }) => (step?.kind === 'range' ? [step.start, step.end] : [])).filter(Number.isFinite);
    this.settledFrom = Math.max(0, ...bounds);
    this.settled = this.cuts
      ? undefined
      : this.next((step) => step.kind === 'any' || (step.kind === 'range' && step.end === Number.POSITIVE_INFINITY), true);
  }

  member(name: string): PathAutomaton | undefined {
    return this.names.get(name) ?? this.otherName;
  }

  element(position: number): PathAutomaton | undefined {
    if (position >= this.settledFrom) return this.settled;
    const takes = (step: Step): boolean => step.kind === 'any' || (step.kind === 'range' && step.start <= position && position < step.end);
    const key = this.states.map(({ steps: [step] }) => (step !== undefined && takes(step) ? 1 : 0)).join('');
    let next = this.elements.get(key);
    if (next === undefined && key.includes('1')) {
      next = this.next(takes, true) as PathAutomaton;
      this.elements.set(key, next);
    }
    return next;
  }

  private next(takes: (step: Step) => boolean, repeats: boolean): PathAutomaton | undefined {
    const states = this.states
      .filter(({ steps: [step] }) => step !== undefined && takes(step))
      .map((state) => ({ ...state, steps: state.steps.slice(1) }));
    return states.length === 0 ? undefined : new Node(states, this.repeats || repeats, this.maxRecordBytes);
  }
}

/** The remaining steps when another iterator cuts earlier. */
function findSteps({ steps, find, linked }: PathState): Find {
  const segments = steps.map(segmentOf);
  if (linked !== undefined) return compileLinked([...segments, ...linked]);
  const walk = compileSegments(segments);
  if (find === undefined) return walk;
  return (node, root, found) => {
    const reached: unknown[] = [];
    walk(node, root, reached);
    for (const each of reached) find(each, root, found);
  };
}

function segmentOf(step: Step): Segment {
  if (step.kind !== 'range') return { descendant: false, selectors: [step.kind === 'any' ? { kind: 'wildcard' } : step] };
  const end = Number.isFinite(step.end) ? step.end : undefined;
  return { descendant: false, selectors: [{ kind: 'slice', start: step.start, end, step: 1 }] };
}
