/** Plans the iterations over an XML document: what to track, how to read each reference, and which iterations need the whole document. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { type NamePattern, type Path, parsePath, pathsInCall, type Step } from '../../paths/xml/path.ts';
import type { IterationRequest, NeedsWhole, NestedRequest, XmlOptions } from '../source.ts';
import { MAX_STEPS, Matcher } from './matcher.ts';
import { type Name, NameTable, Scope } from './names.ts';
import { type SlotPath, SlotStates } from './parse/slot-states.ts';
import type { Slots } from './parse/slots.ts';
import { type NameTest, nameTest } from './path/name-test.ts';
import { type Streamability, streamabilityOf } from './path/streamability.ts';
import { type Bind, compileSelect, compileWalk, isWalkable } from './path/walk.ts';
import { type RecordTracking, Tracking } from './tracking.ts';
import type { Element } from './tree.ts';

export type Engine = typeof import('./path/xpath.ts');
type View = import('./path/xpath.ts').View;

/** A record is an Element, or a view of the XPath engine if the whole document is kept. Null: no node. */
export interface ReadReference {
  (record: unknown): null | string | string[];
  /** Of an expression that calls functions: the paths that they are given. */
  readonly paths?: ReadonlyMap<string, ReadReference>;
}

/** How to read what was announced of the records of an iteration, or of the items of an iterator within them; or its fault. */
export interface RecordsPlan {
  readonly references: ReadonlyMap<string, ReadReference | Fault>;
  readonly nested: ReadonlyMap<string, ItemsPlan | Fault>;
}

export interface ItemsPlan extends RecordsPlan {
  /** The items within a record, or within an item of the enclosing iterator. An item is an Element, or a view of the XPath engine. */
  find(node: unknown): readonly unknown[];
}

export interface XmlPlan {
  readonly matcher: Matcher;
  /** Records are slots, which these states fill; undefined: they are trees or views. */
  readonly slots: SlotStates | undefined;
  /** By iteration. */
  readonly records: readonly RecordsPlan[];
  /** Iterations whose records are known only after the whole document has been read. */
  readonly deferred: readonly number[];
  /** For warnings: what needs the whole document, as `The reference /b/a of the iterator /b/c`. */
  readonly reasons: readonly string[];
  /** By iteration, for warnings: the reference that leads to the outermost ancestor whose content is kept; undefined: none does. */
  readonly ancestors: readonly (string | undefined)[];
  /** How names of expressions are bound to those of the document. */
  readonly bind: Bind;
  /** The namespace of a prefix; undefined: it is not declared. */
  readonly resolve: (prefix: string) => string | undefined;
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
  /** `deferred`: the expression that needs the whole document. */
  readonly reason?: string;
}

/** Namespaces of the root element that a message names. */
const MAX_DECLARED = 5;

const NO_STEPS: readonly Step[] = [];
const ROOT_STEPS: readonly Step[] = [{ descendant: false, name: { prefix: undefined, local: undefined }, predicates: [] }];

/**
 * The fault of a reference is stored until its accessor is requested; a fault of an iterator is thrown at once.
 *
 * @throws Fault mapping/reference — an iterator is not XPath, or has an undeclared prefix
 */
export async function planIterations(
  iterations: readonly IterationRequest[],
  options: XmlOptions,
  names: NameTable,
  root: Root,
): Promise<XmlPlan> {
  const planner = new Planner(options, names, root);
  const paths = iterations.map((iteration) => planner.recordPath(iteration));
  const engine = paths.some((recordPath) => recordPath.usesEngine) ? await import('./path/xpath.ts') : undefined;
  const plan = planner.plan(iterations, paths, engine);
  const slots = planner.slots(iterations, paths);
  return slots === undefined ? plan : { ...plan, slots, records: iterations.map(slotsOf) };
}

/** Prefixes are compared as they are written: the root element is not known. */
export const needsWhole: NeedsWhole<XmlOptions> = (iteration, options) => {
  const names = new NameTable();
  const root: Root = { name: names.name('', '', '', ''), scope: new Scope(names) };
  const { kind, reason } = new Planner({ ...options, dialect: 'legacy' }, names, root).recordPath(iteration);
  if (kind === 'deferred') return `keeps the whole document: ${reason?.replace(/^T/, 't')} needs it`;
  return kind === 'element' ? undefined : 'has one record, which is the document';
};

/** The same when the engine is loaded, and records are never slots. @throws Fault mapping/reference */
export function planLoaded(
  iterations: readonly IterationRequest[],
  options: XmlOptions,
  names: NameTable,
  root: Root,
  engine: Engine,
): XmlPlan {
  const planner = new Planner(options, names, root);
  const paths = iterations.map((iteration) => planner.recordPath(iteration));
  return planner.plan(iterations, paths, engine);
}

class Planner {
  readonly #options: XmlOptions;
  readonly #names: NameTable;
  readonly #root: Root;

  constructor(options: XmlOptions, names: NameTable, root: Root) {
    this.#options = options;
    this.#names = names;
    this.#root = root;
  }

  /** @param engine undefined: no iteration uses it */
  plan(iterations: readonly IterationRequest[], paths: readonly RecordPath[], engine: Engine | undefined): XmlPlan {
    const tracking = new Tracking();
    const ancestors: (string | undefined)[] = [];
    const records = iterations.map((iteration, i): RecordsPlan => {
      const recordPath = paths[i] as RecordPath;
      const { kind, steps } = recordPath;
      if (kind === 'deferred') tracking.document(steps);
      const tracked = kind === 'deferred' ? undefined : tracking.records(i, steps);
      const references = this.#references(iteration, recordPath, engine, tracked);
      const items = this.#nested(iteration, recordPath, engine, tracked);
      ancestors.push(tracked?.outermost);
      return { references, nested: items };
    });
    const deferred = paths.flatMap((recordPath, i) => (recordPath.kind === 'deferred' ? [i] : []));
    const bind = this.bind({ input: this.#options.name });
    return {
      bind,
      resolve: this.resolve,
      matcher: new Matcher(tracking.paths, bind),
      slots: undefined,
      records,
      deferred,
      reasons: paths.flatMap(({ reason }) => (reason === undefined ? [] : [reason])),
      ancestors,
      deferredRecords: (element) => {
        if (engine === undefined) return [];
        const document = new engine.DocumentView(new engine.ElementView(element));
        return deferred.map((i) => {
          const { iterator = '/', origin } = iterations[i] as IterationRequest;
          return engine.selectNodes(iterator, document, this.resolve, {
            input: this.#options.name,
            mapping: origin,
            expression: iterator,
          });
        });
      },
    };
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
          hint: `${this.#declared()}. Declare the prefix in the mapping (rml:namespace), or write *:${pattern.local ?? '*'} for the name in any namespace`,
        });
      });
  }

  /** What the root element declares, for messages. */
  #declared(): string {
    const root = `The root element <${fromBytes(this.#root.name.raw)}> declares`;
    const all = [...this.#root.scope.prefixes].filter(([prefix]) => prefix !== 'xml').slice(0, MAX_DECLARED);
    const texts = all.map(([prefix, uri]) => `${prefix === '' ? 'the default namespace' : `${fromBytes(prefix)}:`} ${fromBytes(uri)}`);
    return texts.length === 0 ? `${root} no prefix` : `${root} ${texts.join(', ')}`;
  }

  recordPath(iteration: IterationRequest): RecordPath {
    const { iterator, origin, nested = [] } = iteration;
    const path = iterator === undefined || iterator.trim() === '/' ? undefined : parsePath(iterator);
    const place = { input: this.#options.name, mapping: origin, ...(iterator === undefined ? {} : { expression: iterator }) };
    if (iterator === undefined || iterator.trim() === '/') {
      const kind = iterator === undefined ? 'root' : 'document';
      const usesEngine =
        iteration.references.some((r) => this.#plain(r, kind, ROOT_STEPS) === undefined) ||
        nested.some((request) => this.#reachOf(request, kind, 0) !== 'path');
      return { kind, steps: ROOT_STEPS, usesEngine };
    }
    const streams = path !== undefined && path.target.kind === 'element' && path.ups === 0 && path.steps.length > 0;
    if (!streams || path.steps.length > MAX_STEPS)
      return { kind: 'deferred', steps: ROOT_STEPS, usesEngine: true, reason: `The iterator ${iterator}` };
    const bind = this.bind(place);
    for (const step of path.steps) {
      bind(step.name);
      for (const predicate of step.predicates) if (predicate.kind === 'attribute') bind(predicate.name);
    }
    const above = path.steps.length - 1;
    const others = iteration.references.filter((r) => this.#plain(r, 'element', path.steps) === undefined);
    const reaches = [...others.map(streamabilityOf), ...nested.map((request) => this.#reachOf(request, 'element', above))];
    const far = reaches.indexOf('document');
    if (far >= 0) {
      const expression = others[far] ?? `of the nested iterator ${nested[far - others.length]?.iterator}`;
      const reason = reasonOf(expression, iterator);
      return { kind: 'deferred', steps: ROOT_STEPS, usesEngine: true, reason };
    }
    return { kind: 'element', steps: path.steps, usesEngine: reaches.includes('record') };
  }

  /**
   * How far the expressions of a nested iterator reach, all together.
   *
   * @param kind of what the iterator is evaluated on
   * @param depth levels between the root element and that, at least
   */
  #reachOf({ iterator, references, nested = [] }: NestedRequest, kind: Kind, depth: number): Reach {
    const path = this.#plainIterator(iterator, kind);
    const below = path === undefined ? 0 : depth + path.steps.length;
    const reaches: Reach[] = [
      path === undefined ? streamabilityOf(iterator) : 'path',
      ...references.map((reference) => (plainBelow(reference, below) === undefined ? streamabilityOf(reference) : 'path')),
      ...nested.map((request) => this.#reachOf(request, 'element', below)),
    ];
    return reaches.includes('document') ? 'document' : reaches.includes('record') ? 'record' : 'path';
  }

  /** The nested iterator as a path to elements that needs no XPath engine. */
  #plainIterator(iterator: string, kind: Kind): Path | undefined {
    const path = this.#plain(iterator, kind, NO_STEPS);
    return path?.target.kind === 'element' && path.ups === 0 ? path : undefined;
  }

  /**
   * The reference as a path from a record's element that needs no XPath engine.
   *
   * @param steps to the records; none: the path may not leave the record
   */
  #plain(reference: string, kind: Kind, steps: readonly Step[]): Path | undefined {
    const path = parsePath(reference);
    if (path === undefined) return undefined;
    const above = Math.max(0, steps.length - 1);
    const fromElement =
      kind === 'root' || kind === 'document' ? this.#fromRoot(path) : path.absolute ? this.#fromRecord(path, steps) : path;
    return fromElement !== undefined && isWalkable(fromElement, above) ? fromElement : undefined;
  }

  /** Converts an absolute path to one from a record, if all records are at the same depth. */
  #fromRecord(path: Path, steps: readonly Step[]): Path | undefined {
    const fromRoot = steps.length === 0 || steps.some(({ descendant }) => descendant) ? undefined : this.#fromRoot(path);
    return fromRoot === undefined ? undefined : { ...fromRoot, ups: steps.length - 1 };
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

  /** Readers by reference. @param tracked takes what they need of the document; undefined: all of it is kept */
  #references(
    iteration: IterationRequest,
    { kind, steps }: RecordPath,
    engine: Engine | undefined,
    tracked: RecordTracking | undefined,
  ): ReadonlyMap<string, ReadReference | Fault> {
    return mapped(iteration.references, (reference): ReadReference => {
      const place = { input: this.#options.name, mapping: iteration.origin, expression: reference };
      const path = this.#plain(reference, kind, tracked === undefined ? NO_STEPS : steps);
      if (path === undefined) {
        if (engine === undefined) throw new Fault('internal/error', 'A reference needs the XPath engine, which was not loaded');
        tracked?.whole();
        const readerOf = (written: string): ReadReference => {
          const plain = this.#plain(written, kind, tracked === undefined ? NO_STEPS : steps);
          const walk = plain && compileWalk(plain, this.bind(place));
          if (walk !== undefined)
            return tracked === undefined ? orElse(walk, engine, written, this.resolve, place) : (record) => walk(record as Element);
          const evaluate = engine.compileXPath(written, this.resolve, place);
          return tracked === undefined ? (record) => evaluate(record as View) : viewed(evaluate, engine, kind);
        };
        return withPaths(readerOf, reference);
      }
      const walk = compileWalk(path, this.bind(place));
      if (tracked === undefined) return orElse(walk, engine as Engine, reference, this.resolve, place);
      tracked.path(path, steps, reasonOf(reference, iteration.iterator));
      return (record) => walk(record as Element);
    });
  }

  /** Plans of the iterators within records. @param tracked as above */
  #nested(
    { iterator, nested = [] }: IterationRequest,
    { kind, steps }: RecordPath,
    engine: Engine | undefined,
    tracked: RecordTracking | undefined,
  ): ReadonlyMap<string, ItemsPlan | Fault> {
    const above = steps.length - 1;
    return new Map(
      nested.map((request): [string, ItemsPlan | Fault] => {
        const plan = (): ItemsPlan => {
          if (tracked !== undefined && this.#reachOf(request, kind, above) === 'path') {
            return this.#walked(request, kind, steps, above, (path, from, reference) =>
              tracked.path(path, from, reasonOf(reference, iterator)),
            );
          }
          if (engine === undefined) throw new Fault('internal/error', 'An iterator needs the XPath engine, which was not loaded');
          tracked?.whole();
          return this.#evaluated(request, engine, (node) =>
            tracked === undefined ? (node as View) : enter(node as Element, engine, kind),
          );
        };
        return [request.iterator, orFault(plan)];
      }),
    );
  }

  /**
   * A nested iterator whose expressions are all plain paths: its items are elements.
   *
   * @param from steps from the root of the document to what the iterator is evaluated on, at least `depth` levels below the root element
   * @param keep what a path reads, and the expression that it belongs to
   */
  #walked(
    request: NestedRequest,
    kind: Kind,
    from: readonly Step[],
    depth: number,
    keep: (path: Path, from: readonly Step[], expression: string) => void,
  ): ItemsPlan {
    const { iterator, references, origin, nested = [] } = request;
    const path = this.#plainIterator(iterator, kind) as Path;
    const steps = [...from, ...path.steps];
    const below = depth + path.steps.length;
    const select = compileSelect(path, this.bind(this.#placeOf(iterator, origin)));
    keep({ ...path, target: PRESENCE }, from, iterator);
    return {
      find: (node) => select(node as Element),
      references: mapped(references, (reference): ReadReference => {
        const wanted = plainBelow(reference, below) as Path;
        const walk = compileWalk(wanted, this.bind(this.#placeOf(reference, origin)));
        keep(wanted, steps, reference);
        return (item) => walk(item as Element);
      }),
      nested: new Map(nested.map((inner) => [inner.iterator, orFault(() => this.#walked(inner, 'element', steps, below, keep))] as const)),
    };
  }

  /** A nested iterator for the XPath engine: its items are views. `viewOf` returns the view of what it is evaluated on. */
  #evaluated(request: NestedRequest, engine: Engine, viewOf: (node: unknown) => View): ItemsPlan {
    const { iterator, references, origin, nested = [] } = request;
    const select = engine.compileNodes(iterator, this.resolve, this.#placeOf(iterator, origin));
    return {
      find: (node) => select(viewOf(node)),
      references: mapped(references, (reference): ReadReference => {
        const place = this.#placeOf(reference, origin);
        const readerOf = (written: string): ReadReference => {
          const path = plainBelow(written, 0);
          if (path !== undefined) return orElse(compileWalk(path, this.bind(place)), engine, written, this.resolve, place);
          const evaluate = engine.compileXPath(written, this.resolve, place);
          return (item) => evaluate(item as View);
        };
        return withPaths(readerOf, reference);
      }),
      nested: new Map(
        nested.map((inner) => [inner.iterator, orFault(() => this.#evaluated(inner, engine, (item) => item as View))] as const),
      ),
    };
  }

  /** The states that fill slots, if records need nothing but children, their texts and attributes. */
  slots(iterations: readonly IterationRequest[], paths: readonly RecordPath[]): SlotStates | undefined {
    if (iterations.every(({ references }) => references.length === 0)) return undefined;
    const found: SlotPath[] = [];
    for (const [iteration, { references, origin, nested = [] }] of iterations.entries()) {
      const { kind, steps } = paths[iteration] as RecordPath;
      // The root element is kept with the limit of a document.
      if (kind !== 'element' || steps.length < 2 || nested.length > 0 || !steps.every(isPlainStep)) return undefined;
      const tests = this.#testsOf(steps, this.#placeOf('', origin));
      if (tests instanceof Fault) return undefined;
      found.push({ iteration, steps: tests, target: { kind: 'record' } });
      for (const [slot, reference] of references.entries()) {
        const path = this.#plain(reference, kind, steps);
        if (path === undefined || path.ups > 0 || !path.steps.every(isPlainStep)) return undefined;
        const place = this.#placeOf(reference, origin);
        const below = this.#testsOf(path.steps, place);
        const { target } = path;
        const test = target.kind === 'attribute' ? orFault(() => this.bind(place)(target.name)) : undefined;
        if (below instanceof Fault || test instanceof Fault) return undefined;
        found.push({
          iteration,
          steps: [...tests, ...below],
          target: test === undefined ? { kind: target.kind as 'element' | 'text', slot } : { kind: 'attribute', slot, test },
        });
      }
    }
    return new SlotStates(
      found,
      iterations.map(({ references }) => references.length),
    );
  }

  #testsOf(steps: readonly Step[], place: FaultPlace): readonly NameTest[] | Fault {
    return orFault(() => steps.map(({ name }) => this.bind(place)(name)));
  }

  #placeOf(expression: string, origin: string): FaultPlace {
    return { input: this.#options.name, mapping: origin, expression };
  }
}

/** `path`: plain paths within the record. The others need the XPath engine. */
type Reach = 'path' | Streamability;

/** An attribute without name: a path to it needs the presence of its elements. */
const PRESENCE: Path['target'] = { kind: 'attribute', name: { prefix: undefined, local: undefined } };

/** The reference as a path from an item, at least `depth` levels below the root element, that needs no XPath engine. */
function plainBelow(reference: string, depth: number): Path | undefined {
  const path = parsePath(reference);
  return path === undefined || path.absolute || !isWalkable(path, depth) ? undefined : path;
}

const isPlainStep = ({ descendant, predicates }: Step): boolean => !descendant && predicates.length === 0;

/** How to read records that are slots. */
const slotsOf = ({ references }: IterationRequest): RecordsPlan => ({
  references: new Map(references.map((reference, slot) => [reference, (record: unknown) => (record as Slots)[slot] as Slots[number]])),
  nested: new Map(),
});

const mapped = <T>(expressions: readonly string[], compile: (expression: string) => T): ReadonlyMap<string, T | Fault> =>
  new Map(expressions.map((expression) => [expression, orFault(() => compile(expression))]));

function orFault<T>(compile: () => T): T | Fault {
  try {
    return compile();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** What makes records wait, for messages. */
const reasonOf = (reference: string, iterator: string | undefined): string => `The reference ${reference} of the iterator ${iterator}`;

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

/** The reader of a reference, with those of the paths that its functions are given. */
function withPaths(readerOf: (written: string) => ReadReference, reference: string): ReadReference {
  const read = readerOf(reference);
  const paths = pathsInCall(reference);
  return paths.length === 0 ? read : Object.assign(read, { paths: new Map(paths.map((path) => [path, readerOf(path)])) });
}

/** XPath for records of a stream; the references of one record share its view. */
const viewed =
  (evaluate: (node: View) => null | string | string[], engine: Engine, kind: Kind): ReadReference =>
  (record) =>
    evaluate(enter(record as Element, engine, kind));

/** The view on which the expressions of a record are evaluated. */
function enter(record: Element, engine: Engine, kind: Kind): View {
  const view = engine.viewOf(record);
  return kind === 'document' ? (view.parentNode as View) : view;
}
