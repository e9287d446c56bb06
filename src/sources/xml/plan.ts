/** Plans the iterations over an XML document: what to track, how to read each reference, and which iterations need the whole document. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import type { IterationRequest, ReadOptions } from '../source.ts';
import { type Keep, MAX_STEPS, Matcher, STRUCTURE, TEXT, type TrackedPath, WHOLE } from './matcher.ts';
import type { Name, NameTable, Scope } from './names.ts';
import { type NamePattern, nameTest, type Path, parsePath, type Step } from './path/path.ts';
import { streamabilityOf } from './path/streamability.ts';
import { type Bind, compileWalk, isWalkable } from './path/walk.ts';
import type { Element } from './tree.ts';

type Engine = typeof import('./path/xpath.ts');
type View = import('./path/xpath.ts').View;

/** A record is an Element, or a view of the XPath engine if the whole document is kept. Null: no node. */
export type ReadReference = (record: unknown) => null | string | string[];

export interface XmlPlan {
  readonly matcher: Matcher;
  /** By iteration: how to read each announced reference, or its fault. */
  readonly references: readonly ReadonlyMap<string, ReadReference | Fault>[];
  /** Iterations whose records are known only after the whole document has been read. */
  readonly deferred: readonly number[];
  /** The records of the iterations in `deferred`, in that order, from the root element of the whole document. */
  deferredRecords(root: Element): readonly (readonly View[])[];
}

/** The root's start tag, to which prefixes and paths from the root are bound. */
export interface Root {
  readonly name: Name;
  readonly scope: Scope;
}

/**
 * What a record is: a matching element, the root element (no iterator), the document node (`/`; represented by the root element), or a node
 * that the XPath engine finds in the whole document.
 */
type Kind = 'element' | 'root' | 'document' | 'deferred';

interface RecordPath {
  readonly kind: Kind;
  readonly steps: readonly Step[];
  readonly usesEngine: boolean;
}

const ROOT_STEPS: readonly Step[] = [{ descendant: false, name: { prefix: undefined, local: undefined }, predicates: [] }];

/**
 * The fault of a reference is stored until its accessor is requested; a fault of an iterator is thrown at once.
 *
 * @throws Fault mapping/reference — an iterator is not XPath, or has an undeclared prefix
 */
export async function planIterations(
  iterations: readonly IterationRequest[],
  options: ReadOptions,
  names: NameTable,
  root: Root,
): Promise<XmlPlan> {
  const planner = new Planner(options, names, root);
  const paths = iterations.map((iteration) => planner.recordPath(iteration));
  const engine = paths.some((recordPath) => recordPath.usesEngine) ? await import('./path/xpath.ts') : undefined;
  const tracked: TrackedPath[] = [];
  const references = iterations.map((iteration, i) => planner.references(iteration, i, paths[i] as RecordPath, engine, tracked));
  const deferred = paths.flatMap((recordPath, i) => (recordPath.kind === 'deferred' ? [i] : []));
  return {
    matcher: new Matcher(tracked, planner.bind({ input: options.name })),
    references,
    deferred: deferred,
    deferredRecords: (element) => {
      if (engine === undefined) return [];
      const document = new engine.DocumentView(new engine.ElementView(element));
      return deferred.map((i) => {
        const { iterator = '/', origin } = iterations[i] as IterationRequest;
        return engine.selectNodes(iterator, document, planner.resolve, { input: options.name, mapping: origin, expression: iterator });
      });
    },
  };
}

class Planner {
  readonly #options: ReadOptions;
  readonly #names: NameTable;
  readonly #root: Root;

  constructor(options: ReadOptions, names: NameTable, root: Root) {
    this.#options = options;
    this.#names = names;
    this.#root = root;
  }

  /**
   * The IRI of a prefix: by the mapping's declarations, else by those of the root element. No prefix means no namespace, unless an option
   * says otherwise.
   */
  readonly resolve = (prefix: string): string | undefined => {
    const own = this.#options.namespaces[prefix];
    if (own !== undefined) return own;
    if (prefix === '' && this.#options.xmlDefaultNamespace !== 'document') return '';
    const declared = this.#root.scope.prefixes.get(prefix);
    return declared === undefined ? (prefix === '' ? '' : undefined) : fromBytes(declared);
  };

  /** Binds names of an expression at `place`. In the legacy dialect an undeclared prefix is compared as written. */
  bind(place: FaultPlace): Bind {
    return (pattern: NamePattern) =>
      nameTest(pattern, this.#names, (prefix) => {
        const iri = this.resolve(prefix);
        if (iri !== undefined || this.#options.dialect === 'legacy') return iri;
        throw new Fault('mapping/reference', `The prefix ${JSON.stringify(prefix)} is not declared`, {
          place,
          hint: `Declare it in the mapping (rml:namespace), or on the document's root element <${fromBytes(this.#root.name.raw)}>.`,
        });
      });
  }

  recordPath(iteration: IterationRequest): RecordPath {
    const { iterator, origin } = iteration;
    const path = iterator === undefined || iterator.trim() === '/' ? undefined : parsePath(iterator);
    const place = { input: this.#options.name, mapping: origin, ...(iterator === undefined ? {} : { expression: iterator }) };
    if (iterator === undefined || iterator.trim() === '/') {
      const kind = iterator === undefined ? 'root' : 'document';
      return { kind: kind, steps: ROOT_STEPS, usesEngine: iteration.references.some((r) => this.#plain(r, kind) === undefined) };
    }
    const streams = path !== undefined && path.target.kind === 'element' && path.ups === 0 && path.steps.length > 0;
    if (!streams || path.steps.length > MAX_STEPS) return { kind: 'deferred', steps: ROOT_STEPS, usesEngine: true };
    const bind = this.bind(place);
    for (const step of path.steps) {
      bind(step.name);
      for (const predicate of step.predicates) if (predicate.kind === 'attribute') bind(predicate.name);
    }
    const others = iteration.references.filter((r) => this.#plain(r, 'element') === undefined);
    if (others.some((r) => streamabilityOf(r) === 'document')) return { kind: 'deferred', steps: ROOT_STEPS, usesEngine: true };
    return { kind: 'element', steps: path.steps, usesEngine: others.length > 0 };
  }

  /** The reference as a path from a record's element that needs no XPath engine. */
  #plain(reference: string, kind: Kind): Path | undefined {
    const path = parsePath(reference);
    if (path === undefined) return undefined;
    const fromElement = kind === 'root' || kind === 'document' ? this.#fromRoot(path) : path.absolute ? undefined : path;
    return fromElement !== undefined && isWalkable(fromElement) ? fromElement : undefined;
  }

  /**
   * Converts a path from the document node to one from the root element. The first step of a relative path may name the root element or one
   * of its children: the first is XPath, the second a common usage.
   */
  #fromRoot(path: Path): Path | undefined {
    const [first, ...rest] = path.steps;
    if (path.ups > 0 || first === undefined) return path.absolute ? undefined : path;
    const isRoot = nameTest(first.name, this.#names, this.resolve)(this.#root.name);
    if (isRoot) return first.descendant || first.predicates.length > 0 ? undefined : { ...path, absolute: false, steps: rest };
    return path.absolute && !first.descendant ? undefined : { ...path, absolute: false };
  }

  /** Accessors by reference. Adds to `tracked` what they and the iterator need of the document. */
  references(
    iteration: IterationRequest,
    index: number,
    recordPath: RecordPath,
    engine: Engine | undefined,
    tracked: TrackedPath[],
  ): ReadonlyMap<string, ReadReference | Fault> {
    const deferred = recordPath.kind === 'deferred';
    tracked.push({ steps: recordPath.steps, iteration: deferred ? undefined : index, keep: deferred ? WHOLE : STRUCTURE });
    const readers = new Map<string, ReadReference | Fault>();
    for (const reference of iteration.references) {
      const place = { input: this.#options.name, mapping: iteration.origin, expression: reference };
      try {
        const path = this.#plain(reference, recordPath.kind);
        if (path !== undefined) {
          const walk = compileWalk(path, this.bind(place));
          if (!deferred) track(path, recordPath.steps, tracked);
          readers.set(
            reference,
            deferred ? orElse(walk, engine as Engine, reference, this.resolve, place) : (record) => walk(record as Element),
          );
        } else if (engine !== undefined) {
          const evaluate = engine.compileXPath(reference, this.resolve, place);
          if (!deferred) tracked.push({ steps: recordPath.steps, iteration: undefined, keep: WHOLE });
          readers.set(reference, deferred ? (record) => evaluate(record as View) : viewed(evaluate, engine, recordPath.kind));
        }
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        readers.set(reference, error);
      }
    }
    return readers;
  }
}

/** Tracks the elements that a reference reads, ignoring its predicates. */
function track(path: Path, from: readonly Step[], tracked: TrackedPath[]): void {
  if (path.ups > 0) return;
  const steps = [...from, ...path.steps].map((step) => ({ ...step, predicates: [] }));
  const keep: Keep = path.target.kind === 'element' ? WHOLE : path.target.kind === 'text' ? TEXT : STRUCTURE;
  if (steps.length > MAX_STEPS) tracked.push({ steps: from, iteration: undefined, keep: WHOLE });
  else tracked.push({ steps, iteration: undefined, keep });
}

/** For a deferred record: the compiled walk if it is an element, XPath if it is another node. */
function orElse(
  walk: (record: Element) => null | string | string[],
  engine: Engine,
  reference: string,
  resolve: (prefix: string) => string | undefined,
  place: FaultPlace,
): ReadReference {
  const evaluate = engine.compileXPath(reference, resolve, place);
  return (record) => (record instanceof engine.ElementView ? walk(record.element) : evaluate(record as View));
}

/** XPath for records of a stream; the references of one record share its view. */
function viewed(evaluate: (node: View) => null | string | string[], engine: Engine, kind: Kind): ReadReference {
  return (record) => {
    const view = engine.viewOf(record as Element);
    return evaluate(kind === 'document' ? (view.parentNode as View) : view);
  };
}
