/**
 * JSON documents as records.
 *
 * One pass serves every iterator. The splitter cuts the document where the iterators' automaton says, each piece is parsed separately, and
 * the rest of each iterator is evaluated on it. An iterator that cannot be followed on bytes (`$..x`, unions, positions from the end,
 * filters that refer to the root) needs the value on which it is evaluated as a whole: up to 512 MB.
 *
 * If an object has a member twice, both occurrences count on the path to the records; within a record, the last one counts.
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import type { Accessor } from '../../core/value.ts';
import type { Query } from '../../paths/json/model.ts';
import { toUtf8 } from '../encoding.ts';
import type { Batch, Identity, IterationRequest, JsonOptions, NeedsWhole, NestedRecords, OpenScan, Scan, Unseen } from '../source.ts';
import { adviceOn } from './advice.ts';
import { JsonBeginning } from './beginning.ts';
import { parseExpression, parseRecordReference, stepsOf, upsOf } from './expression.ts';
import { compileItems, itemsOf, type JsonItems, linkedReaderOf, ofLinked, readerOf, slotReaderOf, unmatchedOf } from './nested.ts';
import { arrayAround, buildAutomaton, needsAround, type PathAutomaton, type Subscriber, type TrackedIterator } from './path/automaton.ts';
import { ancestorOf, compileLinked, type Linked } from './path/parents.ts';
import { compileSegments } from './path/query.ts';
import type { TrackedReader } from './references.ts';
import { planSlots, type SlotPlan, type Slots } from './slots/plan.ts';
import { SlotReader } from './slots/reader.ts';
import { JsonSplitter, RECORD_SEPARATOR } from './split.ts';

/** Records of all iterations that are handed over at once, and bytes of the document from which they may come. */
const BATCH_RECORDS = 512;
const BATCH_BYTES = 1024 * 1024;

/** An ancestor of records that is read as a whole is worth a warning from this size on. */
const WARNED_BYTES = 1024 * 1024;

/** Records at the beginning of the document that hints are made of. */
const MOST_SAMPLES = 20;

/** Chunks are passed to the splitter in slices, so that its window stays small. */
const SLICE_BYTES = 64 * 1024;

/**
 * Reads a JSON document (RFC 8259; up to 1000 nesting levels), or a sequence of values with the format `jsonl`: JSON Lines, values one after
 * the other, or a text sequence (RFC 7464), which begins with a record separator. A record is a parsed value.
 *
 * Memory: a batch, and twice the longest piece. An iteration without iterator has the whole document as its record; in JSON Lines, each
 * line. If the document is in another encoding, byte offsets in faults refer to its UTF-8 form.
 *
 * @throws Fault mapping/reference — an iterator is not valid JSONPath
 */
export const openJson: OpenScan<JsonOptions> = async (bytes, iterations, options) => {
  const iterators = iterations.map((iteration) => trackedOf(iteration, options));
  const root = buildAutomaton(iterators, options.maxRecordBytes);
  const gathers = options.format === 'jsonl' && root.cuts;
  const names = iterations.map(({ namesRows }, i): Naming | undefined => {
    if (namesRows !== true || gathers) return undefined;
    const array = options.format === 'jsonl' ? 'lines' : arrayAround(root, (iterators[i] as TrackedIterator).query);
    return array && { array, last: -1, repeated: 0, identities: [] };
  });
  return new JsonScan(bytes, iterators, options, root, gathers ? undefined : planSlots(iterators, iterations, options), names);
};

function trackedOf({ iterator, references, origin }: IterationRequest, options: JsonOptions): TrackedIterator {
  const text = iterator ?? (options.format === 'jsonl' ? '$[*]' : '$');
  const ups = upsOf(references, options);
  const parent = ups === 0 ? undefined : references.find((reference) => upsOf([reference], options) === ups);
  return { text, query: parseExpression(text, options, { mapping: origin }), ups, parent };
}

export const needsWhole: NeedsWhole<JsonOptions> = (iteration, options) => {
  const tracked = trackedOf(iteration, options);
  const { text, query, parent } = tracked;
  if (needsAround(tracked))
    return `keeps values around its records: ${parent === undefined ? '' : `the reference ${parent} of `}the iterator ${text} needs them`;
  return query.segments.length === 0 && options.format === 'json' ? 'has one record, which is the document' : undefined;
};

/** Identities of records: the line or element in which they are, and their number among the records there. */
interface Naming {
  readonly array: PathAutomaton | 'lines';
  last: number;
  repeated: number;
  /** Of the records that were not handed over yet. */
  identities: Identity[];
}

class JsonScan implements Scan {
  private readonly bytes: AsyncIterable<Uint8Array>;
  private readonly options: JsonOptions;
  private readonly root: PathAutomaton;
  private readonly iterations: readonly TrackedIterator[];
  /** By what needs a value as a whole because of a parent: the bytes of the largest one. */
  private readonly wholes = new Map<string, number>();
  private readonly readers: readonly Map<string, TrackedReader>[];
  private readonly iterators: readonly Map<string, JsonItems>[];
  /** undefined: records are values. */
  private readonly plan: SlotPlan | undefined;

  /** By iteration: number of records that were handed over, and the records that were not yet. */
  private readonly handedOver: number[];
  private readonly pending: unknown[][];
  /** By iteration: the lines of these records; 0: not known. */
  private readonly lines: number[][];
  /** By iteration; undefined: the identity of a record is its position, or nothing asks for it. */
  private readonly names: readonly (Naming | undefined)[];
  private pendingBytes = 0;
  private readBytes = 0;
  /** For hints. */
  private readonly beginning = new JsonBeginning();

  constructor(
    bytes: AsyncIterable<Uint8Array>,
    iterations: readonly TrackedIterator[],
    options: JsonOptions,
    root: PathAutomaton,
    plan: SlotPlan | undefined,
    names: readonly (Naming | undefined)[],
  ) {
    this.names = names;
    this.lines = iterations.map(() => []);
    this.plan = plan;
    this.iterations = iterations;
    this.bytes = bytes;
    this.options = options;
    this.root = root;
    this.readers = iterations.map(() => new Map());
    this.iterators = iterations.map(() => new Map());
    this.handedOver = iterations.map(() => 0);
    this.pending = iterations.map(() => []);
  }

  accessor(iteration: number, reference: string): Accessor {
    const { ups, query } = this.iterations[iteration] as TrackedIterator;
    const readers = this.readers[iteration] as Map<string, TrackedReader>;
    if (this.plan !== undefined) return slotReaderOf(reference, this.plan.slots[iteration] as Slots, readers, this.options).read;
    return ups === 0 ? readerOf(reference, readers, this.options).read : linkedReaderOf(reference, query, readers, this.options).read;
  }

  nested(iteration: number, iterator: string): NestedRecords {
    const items = itemsOf(iterator, this.iterators[iteration] as Map<string, JsonItems>, this.options);
    return (this.iterations[iteration] as TrackedIterator).ups === 0 ? items : ofLinked(items);
  }

  unmatched(iteration: number): readonly string[] {
    return this.countOf(iteration) === 0 ? [] : unmatchedOf(this.readers[iteration] as Map<string, TrackedReader>);
  }

  unseen(iteration: number): Unseen {
    const readers = this.readers[iteration] as Map<string, TrackedReader>;
    const unasked = [...readers].flatMap(([reference, { asked }]) => (asked() ? [] : [reference]));
    const records = unasked.length === 0 ? [] : this.firstRecords(iteration);
    const references = unasked.filter((reference) => {
      const { ups, query } = parseRecordReference(reference, this.options);
      return nodesOf(records, ups, query).length === 0;
    });
    return { records: records.length, references: records.length === 0 ? [] : references };
  }

  /** Why an iterator or a reference found nothing, and what to write, by the beginning of the document. */
  hint(iteration: number, reference?: string, within: readonly string[] = []): string | undefined {
    const { beginning, options } = this;
    if (reference === undefined) {
      if (this.countOf(iteration) > 0) return undefined;
      const { text } = this.iterations[iteration] as TrackedIterator;
      const value = beginning.value(options.format === 'jsonl');
      return value === undefined
        ? undefined
        : adviceOn(startOf(text), stepsOf(text, options), { nodes: [value], what: 'document', isWhole: beginning.isWhole });
    }
    const ofRoot = within.length === 0 ? this.hintOfRoot(iteration) : undefined;
    if (ofRoot !== undefined) return ofRoot;
    const { ups } = parseRecordReference(reference, options);
    const records = this.firstRecords(iteration);
    const nodes = within.reduce(
      (found: readonly unknown[], iterator) => found.flatMap(compileItems(parseExpression(iterator, options, {}))).slice(0, MOST_SAMPLES),
      ups > 0 ? records.flatMap((record) => ancestorOf(record, ups)?.value ?? []) : records.map(({ value }) => value),
    );
    const isOfRecord = ups === 0 && within.length === 0;
    const from = isOfRecord ? stepsOf((this.iterations[iteration] as TrackedIterator).text, options) : [];
    const what = isOfRecord ? 'record' : ups > 0 ? 'parent' : 'item';
    return adviceOn(startOf(reference), stepsOf(reference, options), { nodes, what, from, isWhole: beginning.isWhole });
  }

  private firstRecords(iteration: number): readonly Linked[] {
    const value = this.beginning.value(this.options.format === 'jsonl');
    const records: unknown[] = [];
    if (value !== undefined) compileLinked((this.iterations[iteration] as TrackedIterator).query.segments)(value, value, records);
    return records.slice(0, MOST_SAMPLES) as readonly Linked[];
  }

  private hintOfRoot(iteration: number): string | undefined {
    if (this.iterations[iteration]?.query.segments.length !== 0) return undefined;
    if (this.options.format === 'jsonl') return 'JSON Lines are read as one array: with the iterator $[*] each line is a record';
    return /^\s*\[/.test(this.beginning.text) ? 'The document is an array: with the iterator $[*] each member is a record' : undefined;
  }

  async *batches(signal: AbortSignal): AsyncGenerator<Batch> {
    const { options } = this;
    const lines = options.format === 'jsonl';
    const gathered = lines && this.root.cuts ? new Gathered(this.root) : undefined;
    const slots = this.plan === undefined ? undefined : new SlotReader(this.plan, this.pending);
    const splitter = new JsonSplitter(
      gathered ?? this.root,
      lines,
      options.maxRecordBytes,
      (automaton) => this.place(automaton),
      options.maxDepth,
      slots,
    );
    for await (const chunk of toUtf8(this.counted(splitter), options.encoding, undefined, options.name, 'JSON', options.served)) {
      if (this.beginning.text === '') splitter.sequence = lines && chunk[0] === RECORD_SEPARATOR;
      this.beginning.add(chunk);
      for (let at = 0; at < chunk.length; ) {
        stopIf(signal);
        const separator = splitter.sequence ? chunk.indexOf(RECORD_SEPARATOR, at) : -1;
        const to = Math.min(at + SLICE_BYTES, separator < 0 ? chunk.length : separator);
        splitter.feed(chunk.subarray(at, to));
        yield* this.drain(splitter, gathered ?? slots, signal);
        if (options.promptly === true) yield* this.flush(signal);
        if (to === separator) splitter.separate();
        at = to === separator ? to + 1 : to;
      }
    }
    stopIf(signal);
    splitter.ended = true;
    yield* this.drain(splitter, gathered ?? slots, signal);
    if (gathered !== undefined) {
      if (this.root.whole !== undefined) this.noteWhole(this.root.whole, gathered.sizeBytes);
      this.take(this.root.subscribers, gathered.values);
    }
    yield* this.flush(signal);
  }

  /** Takes the pieces from the splitter, and hands over full batches. */
  private *drain(splitter: JsonSplitter, to: Gathered | SlotReader | undefined, signal: AbortSignal): Generator<Batch> {
    while (splitter.next()) {
      if (to instanceof Gathered) {
        to.add(splitter.value(), splitter.pieceBytes, this.options.name);
        continue;
      }
      const { subscribers, whole } = splitter.automaton as PathAutomaton;
      if (whole !== undefined) this.noteWhole(whole, splitter.pieceBytes);
      if (to === undefined) this.take(subscribers, splitter.value());
      else if (!splitter.isRead && !splitter.read()) this.take(subscribers, splitter.value(), to);
      for (let i = 0; i < subscribers.length; i++) this.note(subscribers[i] as Subscriber, splitter);
      this.pendingBytes += splitter.pieceBytes;
      let records = 0;
      for (let i = 0; i < this.pending.length; i++) records += (this.pending[i] as unknown[]).length;
      if (records >= BATCH_RECORDS || this.pendingBytes >= BATCH_BYTES) yield* this.flush(signal);
    }
  }

  /** Notes where the records of a piece are. */
  private note({ iteration, isRecord }: Subscriber, splitter: JsonSplitter): void {
    const { length } = this.pending[iteration] as unknown[];
    const lines = this.lines[iteration] as number[];
    const line = isRecord || splitter.isOnOneLine ? splitter.pieceLine : 0;
    const naming = this.names[iteration];
    while (lines.length < length) {
      lines.push(line);
      if (naming === undefined) continue;
      const at = naming.array === 'lines' ? splitter.pieceLine - 1 : Math.max(0, naming.array.begun - 1);
      naming.repeated = at === naming.last ? naming.repeated + 1 : 0;
      naming.last = at;
      naming.identities.push(naming.repeated === 0 ? at : [at, naming.repeated]);
    }
  }

  private noteWhole(whole: string, sizeBytes: number): void {
    this.wholes.set(whole, Math.max(sizeBytes, this.wholes.get(whole) ?? 0));
  }

  /** Ancestors that took much memory. */
  warnings(): readonly string[] {
    return [...this.wholes].flatMap(([whole, sizeBytes]) =>
      sizeBytes < WARNED_BYTES
        ? []
        : [
            `The iterator ${whole} took ${Math.ceil(sizeBytes / 2 ** 20)} MB of ${this.options.name} into memory at once, since the parent may have more members behind the records (docs/jsonpath.md)`,
          ],
    );
  }

  private take(subscribers: readonly Subscriber[], value: unknown, slots?: SlotReader): void {
    for (const { iteration, find } of subscribers) {
      const records = slots === undefined ? (this.pending[iteration] as unknown[]) : [];
      if (find === undefined) records.push(value);
      else find(value, value, records);
      slots?.add(iteration, records);
    }
  }

  /** Records of an iteration that were found so far. */
  private countOf(iteration: number): number {
    return (this.handedOver[iteration] as number) + (this.pending[iteration] as unknown[]).length;
  }

  private *flush(signal: AbortSignal): Generator<Batch> {
    for (const [iteration, all] of this.pending.entries()) {
      if (all.length === 0) continue;
      this.pending[iteration] = [];
      const first = this.handedOver[iteration] as number;
      this.handedOver[iteration] = first + all.length;
      const lines = this.lines[iteration] as number[];
      this.lines[iteration] = [];
      const naming = this.names[iteration];
      const identities = naming?.identities;
      if (naming !== undefined) naming.identities = [];
      for (let at = 0; at < all.length; at += BATCH_RECORDS) {
        stopIf(signal);
        const records = all.length <= BATCH_RECORDS ? all : all.slice(at, at + BATCH_RECORDS);
        yield {
          iteration,
          records,
          first: first + at,
          bytes: this.readBytes,
          lineOf: (index) => lines[at + index] || undefined,
          ...(identities === undefined ? {} : { identityOf: (position) => identities[position - first] as Identity }),
        };
      }
    }
    this.pendingBytes = 0;
  }

  /** The document's bytes, counted; gives the splitter the length of a UTF-8 byte order mark that was removed. */
  private async *counted(splitter: JsonSplitter): AsyncGenerator<Uint8Array> {
    let head: number[] | undefined = [];
    for await (const chunk of this.bytes) {
      this.readBytes += chunk.length;
      if (head !== undefined) {
        head = [...head, ...chunk.subarray(0, 3 - head.length)];
        if (head.length === 3) {
          if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) splitter.skippedBytes = 3;
          head = undefined;
        }
      }
      yield chunk;
    }
  }

  private place(automaton: PathAutomaton | undefined): FaultPlace {
    const iteration = automaton?.subscribers[0]?.iteration ?? 0;
    return { input: this.options.name, record: this.countOf(iteration) };
  }
}

/** `$`, `$^^`; empty: a short expression. */
const startOf = (expression: string): string => (/^\s*@/.test(expression) ? '$' : (/^\s*(\$\^*)/.exec(expression)?.[1] ?? ''));

const nodesOf = (records: readonly Linked[], ups: number, { segments }: Query): readonly unknown[] => {
  const find = compileSegments(segments);
  const found: unknown[] = [];
  for (const record of records) {
    const ancestor = ancestorOf(record, ups);
    if (ancestor !== undefined) find(ancestor.value, ancestor.value, found);
  }
  return found;
};

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled while its JSON input was read', { cause: signal.reason });
}

/** JSON Lines for iterators that need all lines at once: every line is a piece, and together they are the root. */
class Gathered implements PathAutomaton {
  readonly cuts = false;
  readonly subscribers: readonly Subscriber[] = [];
  readonly named = false;
  readonly limitBytes: number;
  readonly advice: string;
  readonly whole = undefined;
  readonly values: unknown[] = [];
  sizeBytes = 0;
  begun = 0;
  private readonly line: PathAutomaton;

  constructor(root: PathAutomaton) {
    this.limitBytes = root.limitBytes;
    this.advice = root.advice;
    const { limitBytes, advice, subscribers } = root;
    this.line = {
      cuts: true,
      subscribers: subscribers,
      named: false,
      limitBytes,
      advice,
      whole: undefined,
      begun: 0,
      member: () => undefined,
      element: () => undefined,
    };
  }

  member(): undefined {
    return undefined;
  }

  element(): PathAutomaton {
    return this.line;
  }

  add(value: unknown, sizeBytes: number, input: string): void {
    this.sizeBytes += sizeBytes;
    if (this.sizeBytes > this.limitBytes) {
      throw new Fault('limit/exceeded', `The JSON Lines are larger than ${this.limitBytes} bytes together`, {
        place: { input },
        hint: this.advice,
      });
    }
    this.values.push(value);
  }
}
