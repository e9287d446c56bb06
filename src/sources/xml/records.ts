/**
 * Builds the records of all iterations while the scanner reads the document.
 *
 * An element is added to a tree only below a record, and only if some reference needs it; a nested record is part of the outer record's
 * tree. Open elements outside of records are kept without content, for references to ancestors' attributes.
 */
import { Fault } from '../../core/fault.ts';
import { type Counts, type Matcher, type State, TEXT, WHOLE } from './matcher.ts';
import type { Name, Scope } from './names.ts';
import { type Attributes, CommentOrInstruction, commentBytes, Element, tagBytes, type XmlSink } from './tree.ts';
import { type RecordPlaces, Waiting } from './waiting.ts';

const NOTHING: readonly Waiting[] = [];

/** Adds an iteration if its records wait for an ancestor. */
function withKeeper(keepers: readonly Waiting[], waiting: Waiting): readonly Waiting[] {
  if (waiting.anchors === 0 || keepers.includes(waiting)) return keepers;
  return keepers.length === 0 ? waiting.alone : [...keepers, waiting];
}

export interface BuilderLimits {
  readonly maxRecordBytes: number;
  readonly maxDocumentBytes: number;
  /** Name of the document for messages. */
  readonly input: string;
}

export class RecordBuilder implements XmlSink {
  wantsText = false;
  /** The document element, if the whole document is kept. */
  root: Element | undefined;

  readonly #matcher: Matcher;
  readonly #waiting: readonly Waiting[];
  /** By holder: how many are open. */
  readonly #holders: number[];
  readonly #states: State[];
  readonly #counts: (Counts | undefined)[] = [undefined];
  readonly #wholes: boolean[] = [false];
  /** By open element: the iterations for whose ancestors it is kept. */
  readonly #keepers: (readonly Waiting[])[] = [NOTHING];
  #element: Element | null = null;
  /** Open records of all iterations. */
  #records = 0;
  /** Open elements below the last one that matters. */
  #skipped = 0;

  readonly #limits: BuilderLimits;
  readonly #at: RecordPlaces | undefined;
  /** Bytes kept for the open records, or for the whole document if it is kept. */
  #kept = 0;
  #keptOfRoot = 0;

  /** @param at undefined: nothing asks where records are */
  constructor(matcher: Matcher, iterations: number, limits: BuilderLimits, at?: RecordPlaces) {
    this.#at = at;
    this.#matcher = matcher;
    this.#limits = limits;
    this.#states = [matcher.root];
    this.#waiting = Array.from({ length: iterations }, () => new Waiting());
    this.#holders = new Array<number>(matcher.holders).fill(0);
  }

  /** The records of an iteration. */
  waiting(iteration: number): Waiting {
    return this.#waiting[iteration] as Waiting;
  }

  /** The elements that have not ended, as far as they matter. */
  get openElements(): ReadonlySet<Element> {
    const open = new Set<Element>();
    for (let element = this.#element; element !== null; element = element.parent) open.add(element);
    return open;
  }

  open(name: Name, attributes: Attributes): void {
    if (this.#skipped > 0) {
      this.#skipped++;
      return;
    }
    const depth = this.#states.length - 1;
    const state = this.#matcher.next(this.#states[depth] as State, name, attributes, () => (this.#counts[depth] ??= new Map()));
    const within = this.#wholes[depth] as boolean;
    const whole = within || state.keep === WHOLE;
    if (!whole && !state.alive) {
      this.#separate();
      this.#skipped = 1;
      this.wantsText = false;
      return;
    }
    const element = new Element(name, attributes, this.#element);
    let attached = within;
    let keepers = within ? (this.#keepers[depth] as readonly Waiting[]) : NOTHING;
    for (const { index, iteration } of state.keptIn) {
      if (this.#holders[index] === 0) continue;
      attached = true;
      keepers = withKeeper(keepers, this.#waiting[iteration] as Waiting);
    }
    if (this.#element === null) this.root = whole ? element : undefined;
    else if (attached) this.#element.addNode(element);
    else this.#separate();
    for (const holder of state.opens) {
      const waiting = this.#waiting[holder.iteration] as Waiting;
      (this.#holders[holder.index] as number)++;
      waiting.open(holder);
      if (holder.rise > 0) continue;
      waiting.add(element, this.#at, holder.iteration);
      this.#records++;
      if (waiting.anchors === 0) continue;
      // Kept by an ancestor, or by another record.
      if (keepers.includes(waiting)) waiting.packable = false;
      keepers = withKeeper(keepers, waiting);
      this.#keepParents(element, waiting);
    }
    this.#element = element;
    this.#states.push(state);
    this.#counts.push(undefined);
    this.#wholes.push(whole);
    this.#keepers.push(keepers);
    this.#grow(tagBytes(name, attributes));
    this.wantsText = whole || state.keep === TEXT;
  }

  /** Counts the elements around a record that waits, unless the record before it has counted them. */
  #keepParents(record: Element, waiting: Waiting): void {
    let counted = waiting.parent;
    for (let up = record.parent; up !== null && up !== counted; up = up.parent) {
      waiting.kept += tagBytes(up.name, up.attributes);
      counted = counted?.parent ?? null;
    }
    waiting.parent = record.parent;
  }

  /** An element that is not kept still separates the text nodes around it. */
  #separate(): void {
    if (this.wantsText) (this.#element as Element).addNode(new CommentOrInstruction(undefined, ''));
  }

  text(text: string): void {
    (this.#element as Element).addText(text);
    this.#grow(text.length);
  }

  commentOrInstruction(target: string | undefined, text: string): void {
    (this.#element as Element).addNode(new CommentOrInstruction(target, text));
    this.#grow(commentBytes(text));
  }

  #grow(bytes: number): void {
    if (this.#wholes[1] === true && this.#states.length > 1) {
      this.#keptOfRoot += bytes;
      if (this.#keptOfRoot > this.#limits.maxDocumentBytes) throw documentTooLarge(this.#limits);
    }
    for (const waiting of this.#keepers[this.#keepers.length - 1] as readonly Waiting[]) {
      waiting.kept += bytes;
      if (waiting.kept > this.#limits.maxDocumentBytes) throw this.#ancestorTooLarge(waiting);
    }
    if (this.#records === 0) return;
    this.#kept += bytes;
    if (this.#kept > this.#limits.maxRecordBytes) throw recordTooLarge(this.#limits, this.recordAt());
  }

  close(): void {
    if (this.#skipped > 0) {
      if (--this.#skipped > 0) return;
    } else {
      const state = this.#states.pop() as State;
      this.#counts.pop();
      this.#wholes.pop();
      this.#keepers.pop();
      this.#element = (this.#element as Element).parent;
      for (const holder of state.opens) {
        (this.#holders[holder.index] as number)--;
        (this.#waiting[holder.iteration] as Waiting).close(holder);
        if (holder.rise > 0) continue;
        this.#records--;
        if (this.#records === 0) this.#kept = 0;
      }
    }
    const depth = this.#states.length - 1;
    this.wantsText = (this.#wholes[depth] as boolean) || (this.#states[depth] as State).keep === TEXT;
  }

  /** Number of the current record of the innermost iteration; without an open record, of the next one. */
  recordAt(): number | undefined {
    for (let depth = this.#states.length - 1; depth > 0; depth--) {
      const record = (this.#states[depth] as State).opens.find(({ rise }) => rise === 0);
      if (record === undefined) continue;
      return this.waiting(record.iteration).positionOf(this.#elementAt(depth));
    }
    return undefined;
  }

  #ancestorTooLarge(waiting: Waiting): Fault {
    const iteration = this.#waiting.indexOf(waiting);
    const anchors = this.#states.flatMap(({ opens }) => opens.filter((holder) => holder.iteration === iteration && holder.rise > 0));
    return new Fault(
      'limit/exceeded',
      `${anchors[0]?.reason} keeps more than ${this.#limits.maxDocumentBytes} bytes in memory: records wait until the element that it leads to has ended`,
      {
        place: { input: this.#limits.input },
        hint: 'Refer to attributes of ancestors (../@id), or to an ancestor with less content: its records are read as a stream',
      },
    );
  }

  #elementAt(depth: number): Element {
    let element = this.#element as Element;
    for (let d = this.#states.length - 1; d > depth; d--) element = element.parent as Element;
    return element;
  }
}

/** Holds the root's start tag until the mapping's names are bound to its namespaces. */
export class RootWaiter implements XmlSink {
  readonly wantsText = false;
  name: Name | undefined;
  scope: Scope | undefined;
  /** On which it begins. */
  line = 1;

  #attributes: Attributes = [];
  #closed = false;

  readonly #pause: () => { readonly scope: Scope; readonly line: number };

  /** @param pause stops the scanner after this token, and gives the scope and line of the opened element */
  constructor(pause: () => { readonly scope: Scope; readonly line: number }) {
    this.#pause = pause;
  }

  /** Gives the root's start tag, and its end if it is empty, to the sink that takes all that follows. */
  pass(sink: XmlSink): void {
    sink.open(this.name as Name, this.#attributes);
    if (this.#closed) sink.close();
  }

  open(name: Name, attributes: Attributes): void {
    if (this.name !== undefined) throw new Fault('internal/error', 'The XML scanner went on before the records were planned');
    this.name = name;
    this.#attributes = attributes;
    const { scope, line } = this.#pause();
    this.scope = scope;
    this.line = line;
  }

  close(): void {
    this.#closed = true;
  }

  text(): void {}

  commentOrInstruction(): void {}

  recordAt(): number | undefined {
    return undefined;
  }
}

export const recordTooLarge = (limits: BuilderLimits, record: number | undefined): Fault =>
  new Fault('limit/exceeded', `A record keeps more than the ${limits.maxRecordBytes} bytes that are allowed`, {
    place: { input: limits.input, ...(record === undefined ? {} : { record }) },
    limit: 'MAX_RECORD_BYTES',
    hint: 'Let the iterator select smaller elements, refer to less than the whole element, or raise MAX_RECORD_BYTES (--max-record-mb)',
  });

const documentTooLarge = (limits: BuilderLimits): Fault =>
  new Fault('limit/exceeded', `The mapping needs the whole document in memory, and it has more than ${limits.maxDocumentBytes} bytes`, {
    place: { input: limits.input },
    hint:
      'Write the iterator as a path of names such as /orders/order, and references that stay within the record (of its ancestors ' +
      'only attributes, ../@id): then it is read as a stream, whatever its size',
  });
