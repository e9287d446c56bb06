/**
 * The iterators of a scan → an automaton over the paths of the document, for the splitter to follow.
 *
 * An iterator is followed from the root as long as a name or a position alone decides each step: names, `[*]`, indexes and slices from the
 * front, and a final filter that only refers to its own element. At its end, or at the end of an iterator that is its prefix, the value is
 * cut out; the rest of each iterator is evaluated on the parsed value.
 */

import type { Query, Segment, Selector } from '../../../paths/json/model.ts';
import { usesRoot } from './filter.ts';
import { compileFilter, compileSegments, type Find } from './query.ts';

/** The largest value that is parsed in one piece because its iterator cannot be followed further: the maximum length of a V8 string. */
export const MAX_WHOLE_BYTES = 512_000_000;

/** An iterator that has reached a piece. `find` pushes its records; undefined: the piece is the record. */
export interface Subscriber {
  readonly iteration: number;
  readonly find: Find | undefined;
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
  readonly iterator: string;
}

/** @param iterators in the order of the scan's iterations, with the text they were parsed from */
export function buildAutomaton(
  iterators: readonly { readonly query: Query; readonly text: string }[],
  maxRecordBytes: number,
): PathAutomaton {
  const states = iterators.map(({ query, text }, iteration) => pathStateOf(query, iteration, text));
  return new Node(states, false, maxRecordBytes);
}

function pathStateOf(query: Query, iteration: number, iterator: string): PathState {
  const { segments } = query;
  if (segments.some(({ selectors }) => selectors.some((selector) => selector.kind === 'filter' && usesRoot(selector.test)))) {
    return { iteration, steps: [], find: compileSegments(segments), iterator };
  }
  const steps: Step[] = [];
  for (const [i, segment] of segments.entries()) {
    const step = stepOf(segment);
    if (step !== undefined) {
      steps.push(step);
      continue;
    }
    const selector = onlySelector(segment);
    if (selector?.kind !== 'filter') return { iteration, steps, find: compileSegments(segments.slice(i)), iterator };
    const test = compileFilter(selector.test);
    const rest = compileSegments(segments.slice(i + 1));
    const find: Find = (node, root, found) => {
      if (test(node, root)) rest(node, root, found);
    };
    return { iteration, steps: [...steps, { kind: 'any' }], find, iterator };
  }
  return { iteration, steps, find: undefined, iterator };
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
    const whole =
      this.cuts && !repeats
        ? states.find((state) => state.steps.length > 0 || state.find !== undefined || state.iterator === '$')
        : undefined;
    this.limitBytes = whole === undefined ? maxRecordBytes : MAX_WHOLE_BYTES;
    this.advice =
      whole === undefined
        ? 'Raise MAX_RECORD_BYTES (--max-record-mb), or take an iterator that reaches further down'
        : `The iterator ${whole.iterator} needs this value as a whole; one that begins with names and [*], for example $.items[*], is read record by record`;
    this.named = !this.cuts && states.some((state) => state.steps[0]?.kind === 'name');
    this.subscribers = this.cuts
      ? states.map((state) => ({
          iteration: state.iteration,
          find: state.steps.length === 0 ? state.find : findSteps(state.steps, state.find),
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
function findSteps(steps: readonly Step[], find: Find | undefined): Find {
  const segments = steps.map((step): Segment => {
    if (step.kind === 'range')
      return {
        descendant: false,
        selectors: [{ kind: 'slice', start: step.start, end: Number.isFinite(step.end) ? step.end : undefined, step: 1 }],
      };
    return { descendant: false, selectors: [step.kind === 'any' ? { kind: 'wildcard' } : step] };
  });
  const walk = compileSegments(segments);
  if (find === undefined) return walk;
  return (node, root, found) => {
    const reached: unknown[] = [];
    walk(node, root, reached);
    for (const each of reached) find(each, root, found);
  };
}
