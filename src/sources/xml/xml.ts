/**
 * Reads XML as records: the elements that an iterator selects, in document order, for all iterators of a document in one pass.
 *
 * Where all paths lead to children, without predicates, a record is what its references read (`parse/slots.ts`). Else it is the light tree of
 * its element, as far as the references need it; nothing else is kept. Plain paths are compiled to functions;
 * other references go to an XPath engine, record by record. References to the content of an ancestor make records wait until that ends, in a
 * temporary file if they are many. Iterators and references that are not streamable make their iteration wait for the whole document, which
 * is limited to `MAX_DOCUMENT_BYTES`. Memory: one window of text, a batch of records per iteration, the open records, and what such
 * references name.
 *
 * How each expression is evaluated: `docs/xpath.md`.
 *
 * @see https://www.w3.org/TR/xpath-31/ and https://www.w3.org/TR/xml/
 */
import { getHeapStatistics } from 'node:v8';
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import type { Accessor } from '../../core/value.ts';
import { type Path, parsePath } from '../../paths/xml/path.ts';
import { toUtf8 } from '../encoding.ts';
import { isPage, pageFault } from '../no-text.ts';
import type { Batch, IterationRequest, NestedRecords, OpenScan, Scan, Spill, SpilledText, Unseen, XmlOptions } from '../source.ts';
import { declaredEncoding } from './declared-encoding.ts';
import { type Name, NameTable, type Scope } from './names.ts';
import { announced, nestedIn, XmlAccessors } from './nested.ts';
import { PackedRecords } from './packed-records.ts';
import { XmlBeginning } from './parse/beginning.ts';
import { XmlScanner } from './parse/scanner.ts';
import { SlotBuilder } from './parse/slots.ts';
import { type Advice, adviceOn, find as findStep, hasNode } from './path/advice.ts';
import { planIterations, type RecordsPlan, type XmlPlan } from './plan.ts';
import { RecordBuilder, RootWaiter } from './records.ts';
import { Element, pathOf } from './tree.ts';
import type { Located, RecordPlaces } from './waiting.ts';

/**
 * Largest document that is kept as a whole, because an iterator or a reference needs it. A tree with its views takes ten to twelve times
 * the document's bytes, so a process with a small heap accepts less: a fault is better than running out of memory.
 */
const MAX_DOCUMENT_BYTES = Math.min(256 * 2 ** 20, Math.floor(getHeapStatistics().heap_size_limit / 16));
/** Records that wait for the end of an ancestor are moved to a temporary file from this size on. */
const MAX_WAITING_BYTES = Math.min(8 * 2 ** 20, MAX_DOCUMENT_BYTES / 4);
const BATCH_RECORDS = 256;
/** Records at the beginning of the document that hints are made of. */
const MOST_SAMPLES = 20;
/** An incomplete batch is handed over after this many bytes. */
const BATCH_BYTES = 2 ** 20;
/** A document that is kept as a whole is worth a warning from this size on. */
const WARNED_BYTES = 2 ** 20;
/** Enough to recognise an HTML page. */
const HEAD_BYTES = 256;
/** Number of bytes that are tokenised at a time. */
const WINDOW_BYTES = 2 ** 16;

export const openXml: OpenScan<XmlOptions> = async (bytes, iterations, options) => {
  const text = new XmlText(bytes, options);
  try {
    return await text.open(iterations);
  } catch (error) {
    await text.close();
    throw text.named(error);
  }
};

/** The document as windows of text for the scanner. */
class XmlText {
  bytesRead = 0;
  /** For hints. */
  readonly beginning = new XmlBeginning();
  readonly #options: XmlOptions;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #ended = false;
  #isPage = false;

  constructor(bytes: AsyncIterable<Uint8Array>, options: XmlOptions) {
    this.#options = options;
    const utf8 = toUtf8(this.#counted(bytes), options.encoding, declaredEncoding, options.name, 'XML', options.served);
    this.#chunks = utf8[Symbol.asyncIterator]();
  }

  /** Reads the root's start tag and plans the iterations by it. */
  async open(iterations: readonly IterationRequest[]): Promise<Scan> {
    const options = this.#options;
    const names = new NameTable();
    const waiter = new RootWaiter(() => {
      scanner.paused = true;
      return scanner;
    });
    const scanner: XmlScanner = new XmlScanner(waiter, names, options.name, options.maxRecordBytes, options.maxDepth);
    while (!scanner.scan() && (await this.fill(scanner)));
    // Without a root the scanner has thrown.
    const root = { name: waiter.name as Name, scope: waiter.scope as Scope };
    const plan = await planIterations(iterations, options, names, root);
    const limits = { input: options.name, maxRecordBytes: options.maxRecordBytes, maxDocumentBytes: MAX_DOCUMENT_BYTES };
    const named = iterations.map(({ namesRows }) => namesRows === true);
    let isRoot = true;
    const at: RecordPlaces = {
      get line() {
        return isRoot ? waiter.line : scanner.line;
      },
      get path() {
        return scanner.path;
      },
      named,
    };
    const builder =
      plan.slots === undefined ? new RecordBuilder(plan.matcher, iterations.length, limits, at) : new SlotBuilder(plan.slots, limits, at);
    waiter.pass(builder);
    isRoot = false;
    scanner.sink = builder;
    return new XmlScan(this, scanner, builder, plan, iterations, options, names);
  }

  /** Pushes at least as many bytes as are pending. False: the document has ended. */
  async fill(scanner: XmlScanner): Promise<boolean> {
    if (this.#ended) return false;
    const parts: Uint8Array[] = [];
    let bytes = 0;
    while (bytes === 0 || bytes < scanner.waiting) {
      if (this.#chunk.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) {
          this.#ended = true;
          break;
        }
        this.#chunk = next.value;
      }
      const part = this.#chunk.subarray(0, Math.max(WINDOW_BYTES, scanner.waiting - bytes));
      this.#chunk = this.#chunk.subarray(part.length);
      this.beginning.add(part);
      parts.push(part);
      bytes += part.length;
    }
    if (bytes > 0) scanner.push(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts));
    if (this.#ended) scanner.end();
    return true;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** The fault of a document that is not well-formed, because it is an HTML page. */
  named(error: unknown): unknown {
    if (!this.#isPage || !(error instanceof Fault) || error.code !== 'source/malformed') return error;
    return pageFault('XML', this.#options.name, this.#options.served, error);
  }

  async *#counted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      if (this.bytesRead === 0) this.#isPage = isPage(chunk.subarray(0, HEAD_BYTES), this.#options.served);
      this.bytesRead += chunk.length;
      yield chunk;
    }
  }
}

interface Packed {
  readonly records: PackedRecords;
  /** Position of the first of them within the iteration. */
  readonly first: number;
  /** The number of the ancestor, as `Waiting.anchorsSeen` counts. */
  readonly anchor: number;
}

class XmlScan implements Scan {
  readonly #text: XmlText;
  readonly #scanner: XmlScanner;
  readonly #builder: RecordBuilder | SlotBuilder;
  readonly #plan: XmlPlan;
  readonly #iterations: readonly IterationRequest[];
  readonly #options: XmlOptions;
  readonly #names: NameTable;
  readonly #nulls: ReadonlySet<string>;
  /** By iteration. */
  readonly #accessors: readonly XmlAccessors[];
  readonly #records: number[];
  /** By iteration: records that wait in a temporary file for the end of an ancestor. */
  readonly #packed: (Packed | undefined)[] = [];
  readonly #packedBytes: number[] = [];
  readonly #files: SpilledText[] = [];
  #tree: { readonly document: Element | undefined } | undefined;

  constructor(
    text: XmlText,
    scanner: XmlScanner,
    builder: RecordBuilder | SlotBuilder,
    plan: XmlPlan,
    iterations: readonly IterationRequest[],
    options: XmlOptions,
    names: NameTable,
  ) {
    this.#text = text;
    this.#scanner = scanner;
    this.#builder = builder;
    this.#plan = plan;
    this.#iterations = iterations;
    this.#options = options;
    this.#names = names;
    this.#nulls = new Set(options.nulls.map(toBytes));
    this.#accessors = iterations.map(() => new XmlAccessors(this.#nulls));
    this.#records = iterations.map(() => 0);
  }

  accessor(iteration: number, reference: string): Accessor {
    const { references } = this.#plan.records[iteration] as RecordsPlan;
    return (this.#accessors[iteration] as XmlAccessors).of(reference, announced(references, 'reference', reference));
  }

  nested(iteration: number, iterator: string): NestedRecords {
    return nestedIn(this.#plan.records[iteration] as RecordsPlan, iterator, this.#nulls);
  }

  async *batches(signal: AbortSignal): AsyncGenerator<Batch> {
    const text = this.#text;
    let flushedAt = 0;
    try {
      while (true) {
        if (signal.aborted) throw cancelled(this.#options.name);
        this.#scanner.scan();
        const flush = this.#scanner.position - flushedAt > BATCH_BYTES;
        if (flush) flushedAt = this.#scanner.position;
        yield* this.#ready(flush || this.#options.promptly === true ? 1 : BATCH_RECORDS);
        yield* this.#pack();
        if (!(await text.fill(this.#scanner))) break;
      }
      yield* this.#ready(1);
      yield* this.#fromDocument(signal);
    } catch (error) {
      throw text.named(error);
    } finally {
      await text.close();
    }
  }

  async *#ready(least: number): AsyncGenerator<Batch> {
    for (let iteration = 0; iteration < this.#iterations.length; iteration++) {
      const waiting = this.#builder.waiting(iteration);
      const packed = this.#packed[iteration];
      if (packed !== undefined && (waiting.anchors === 0 || waiting.anchorsSeen !== packed.anchor)) {
        this.#packed[iteration] = undefined;
        let { first } = packed;
        for await (const located of packed.records.take()) {
          yield* this.#cut(iteration, located, first);
          first += located.records.length;
        }
      }
      const ready = waiting.take(least);
      if (ready !== undefined) yield* this.#cut(iteration, ready, ready.first);
    }
  }

  /** Moves records that wait for the end of an ancestor out of memory, if they are many. Hands over complete ones before. */
  async *#pack(): AsyncGenerator<Batch> {
    const { spill } = this.#options;
    const builder = this.#builder;
    if (spill === undefined || builder instanceof SlotBuilder) return;
    for (let iteration = 0; iteration < this.#iterations.length; iteration++) {
      const waiting = builder.waiting(iteration);
      if (!waiting.packable || waiting.kept <= Math.min(spill.afterBytes, MAX_WAITING_BYTES)) continue;
      const ready = waiting.take(1);
      if (ready !== undefined) yield* this.#cut(iteration, ready, ready.first);
      const taken = waiting.takeWaiting();
      if (taken === undefined) continue;
      this.#packed[iteration] ??= {
        records: new PackedRecords(this.#file(iteration, spill)),
        first: taken.first,
        anchor: waiting.anchorsSeen,
      };
      const bytes = await (this.#packed[iteration] as Packed).records.add(taken, builder.openElements);
      waiting.kept = Math.max(0, waiting.kept - bytes);
      this.#packedBytes[iteration] = (this.#packedBytes[iteration] ?? 0) + bytes;
    }
  }

  /** The temporary file of an iteration. */
  #file(iteration: number, spill: Spill): SpilledText {
    this.#files[iteration] ??= spill.open();
    return this.#files[iteration] as SpilledText;
  }

  *#cut(iteration: number, { records, lines, paths }: Located<unknown>, first: number): Generator<Batch> {
    this.#records[iteration] = first + records.length;
    const identityOf = (position: number): readonly number[] => paths[position - first] as readonly number[];
    for (let at = 0; at < records.length; at += BATCH_RECORDS * 2) {
      const some = records.length <= BATCH_RECORDS * 2 ? records : records.slice(at, at + BATCH_RECORDS * 2);
      const lineOf = (index: number): number | undefined => lines[at + index];
      const bytes = this.#text.bytesRead;
      yield { iteration, records: some, first: first + at, bytes, lineOf, ...(paths.length === 0 ? {} : { identityOf }) };
    }
  }

  /** Records of deferred iterations. */
  *#fromDocument(signal: AbortSignal): Generator<Batch> {
    const root = this.#builder instanceof SlotBuilder ? undefined : this.#builder.root;
    if (root === undefined || this.#plan.deferred.length === 0) return;
    const { deferred } = this.#plan;
    const records = this.#plan.deferredRecords(root);
    const numbers = new Map<Element, number>();
    for (let i = 0; i < deferred.length; i++) {
      const iteration = deferred[i] as number;
      const all = records[i] as (typeof records)[number];
      // What is no element has its position alone.
      const elements = this.#iterations[iteration]?.namesRows === true ? all.map(elementOf) : [];
      const paths = elements.every((element) => element !== undefined) ? elements.map((element) => pathOf(element, numbers)) : [];
      for (const batch of this.#cut(iteration, { records: all, lines: [], paths }, 0)) {
        if (signal.aborted) throw cancelled(this.#options.name);
        yield batch;
      }
    }
  }

  unmatched(iteration: number): readonly string[] {
    return (this.#accessors[iteration] as XmlAccessors).unmatched();
  }

  /** Expressions that took much of the document into memory. */
  warnings(): readonly string[] {
    const { name } = this.#options;
    const { bytesRead } = this.#text;
    const streams = 'docs/xpath.md says which are read as a stream';
    const ancestors = this.#plan.ancestors.flatMap((reason, iteration) => {
      const packed = this.#packedBytes[iteration] ?? 0;
      const bytes = Math.max(packed, this.#builder.waiting(iteration).mostKept);
      if (reason === undefined || bytes < WARNED_BYTES) return [];
      const where = packed > 0 ? 'in a temporary file' : 'in memory';
      return [`${reason} lets records wait ${where}, ${megabytes(bytes)} of ${name}, since its value may stand behind them: ${streams}`];
    });
    const documents = bytesRead < WARNED_BYTES ? [] : this.#plan.reasons;
    return [
      ...ancestors,
      ...documents.map((reason) => `${reason} needs the whole document in memory, ${megabytes(bytesRead)} of ${name}: ${streams}`),
    ].filter((warning, i, all) => all.indexOf(warning) === i);
  }

  unseen(iteration: number): Unseen {
    const unasked = (this.#accessors[iteration] as XmlAccessors).unasked();
    const records = unasked.length === 0 ? [] : (this.#firstRecords(iteration, []) ?? []);
    const references = unasked.filter((reference) => {
      const from = this.#startOf(reference, records, iteration);
      return from !== undefined && !hasNode(from.path, from.elements, this.#plan.bind);
    });
    return { records: records.length, references: records.length === 0 ? [] : references };
  }

  /** Why an iterator or a reference found nothing, and what to write, by the beginning of the document. */
  hint(iteration: number, reference?: string, within: readonly string[] = []): string | undefined {
    if (reference === undefined && (this.#records[iteration] as number) > 0) return undefined;
    const expression = reference ?? this.#iterations[iteration]?.iterator ?? '';
    const advice = this.#advice(iteration, reference, within);
    if (advice !== undefined && advice.namespaced === undefined) return advice.text;
    return this.#namespaceHint(expression, advice);
  }

  #advice(iteration: number, reference: string | undefined, within: readonly string[]): Advice | undefined {
    const { isWhole } = this.#text.beginning;
    if (reference !== undefined) {
      const records = this.#firstRecords(iteration, within) ?? [];
      const from = this.#startOf(reference, records, within.length > 0 ? undefined : iteration);
      return from && adviceOn(from.path, from.elements, this.#plan.bind, isWhole);
    }
    const path = parsePath(this.#iterations[iteration]?.iterator ?? '');
    if (path === undefined || this.#document === undefined || path.ups > 0) return undefined;
    return adviceOn({ ...path, absolute: true }, [this.#document], this.#plan.bind, isWhole);
  }

  /** Where a path of records begins. undefined: the expression is no path, or leads out of the beginning. */
  #startOf(reference: string, records: readonly Element[], iteration: number | undefined): Start | undefined {
    const path = parsePath(reference);
    if (path === undefined || this.#document === undefined) return undefined;
    const iterator = iteration === undefined ? '' : this.#iterations[iteration]?.iterator?.trim();
    const [first] = path.steps;
    // Where the document is the record, the first step may name the root element.
    const isOfDocument = iterator === undefined || iterator === '/';
    const namesRoot = isOfDocument && first !== undefined && records.some(({ name }) => this.#plan.bind(first.name)(name));
    if (path.absolute || namesRoot) return { path, elements: [this.#document] };
    let elements = records;
    for (let i = 0; i < path.ups; i++) elements = [...new Set(elements.flatMap(({ parent }) => parent ?? []))];
    return { path, elements };
  }

  /** The first records, or items within them. undefined: they are found by no path. */
  #firstRecords(iteration: number, within: readonly string[]): readonly Element[] | undefined {
    const iterator = this.#iterations[iteration]?.iterator;
    const document = this.#document;
    if (document === undefined) return undefined;
    let elements: readonly Element[] = iterator === undefined || iterator.trim() === '/' ? [document.first as Element] : [document];
    const iterators = iterator === undefined || iterator.trim() === '/' ? within : [iterator, ...within];
    for (const one of iterators) {
      const path = parsePath(one);
      if (path === undefined || path.ups > 0 || path.target.kind !== 'element') return undefined;
      elements = path.steps.reduce((found, step) => findStep(found, step, this.#plan.bind), elements);
    }
    return elements.slice(0, MOST_SAMPLES);
  }

  /** The beginning of the document, above its root element. */
  get #document(): Element | undefined {
    this.#tree ??= { document: this.#text.beginning.document(this.#names, this.#options) };
    return this.#tree.document;
  }

  /** A namespace that the expression omits. @param advice a path that finds something */
  #namespaceHint(expression: string, advice: Advice | undefined): string | undefined {
    const words = new Set(expression.match(UNPREFIXED) ?? []);
    const found = advice?.namespaced ?? this.#names.seen.find((name) => name.uri !== '' && words.has(fromBytes(name.local)));
    if (found === undefined) return undefined;
    const local = fromBytes(found.local);
    const uri = fromBytes(found.uri);
    if (advice !== undefined && !words.has(local)) return this.#prefixHint(expression, found, advice.text);
    const seen = new Set(this.#names.seen.flatMap((name) => (name.uri === '' ? [] : [fromBytes(name.local)])));
    const anywhere = advice?.text ?? expression.replace(UNPREFIXED, (word) => (seen.has(word) ? `*:${word}` : word));
    const declared = Object.entries(this.#options.namespaces).find(([, iri]) => iri === uri)?.[0];
    const prefix = declared ?? (found.prefix === '' ? 'ns' : fromBytes(found.prefix));
    const declare = declared === undefined && found.prefix === '' ? ` and declare the prefix ${prefix} (rml:namespace)` : '';
    const isDefault = this.#options.xmlDefaultNamespace === 'document';
    const all =
      found.prefix === '' && !isDefault
        ? ", or let such names mean the document's default namespace (--xml-default-namespace document, option XML_DEFAULT_NAMESPACE)"
        : '';
    const means = isDefault ? "the default namespace of the document's root element" : 'no namespace';
    return `The document has ${JSON.stringify(local)} in the namespace ${uri}, and a name without prefix means ${means}: write ${anywhere}, or ${prefix}:${local}${declare}${all}`;
  }

  /** A name that has a prefix of another namespace. @param written the path that finds it */
  #prefixHint(expression: string, { local, uri, prefix }: Pick<Name, 'local' | 'uri' | 'prefix'>, written: string): string {
    const name = `<${fromBytes(prefix === '' ? local : `${prefix}:${local}`)}>`;
    const where = uri === '' ? 'in no namespace' : `in the namespace ${fromBytes(uri)}`;
    const used = (expression.match(PREFIXED) ?? []).find((one) => one.endsWith(`:${fromBytes(local)}`))?.split(':')[0] ?? '';
    const why =
      this.#plan.resolve(used) === undefined ? `the prefix ${used} is declared nowhere` : `the prefix ${used} is that of another one`;
    return `The document has ${name} ${where}, and ${why}: write ${written}`;
  }
}

/** The element of which a record is a view. */
const elementOf = (record: object): Element | undefined =>
  'element' in record && record.element instanceof Element ? record.element : undefined;

/** Elements from which a path begins. */
interface Start {
  readonly path: Path;
  readonly elements: readonly Element[];
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MB`;

/** Element names without prefix in an expression; no functions, axes or attributes. */
const UNPREFIXED = /(?<![:@\p{L}\p{N}_.-])[\p{L}_][\p{L}\p{M}\p{N}_.-]*(?!\s*[(:\p{L}])/gu;

/** Names with a prefix. */
const PREFIXED = /[\p{L}_][\p{L}\p{M}\p{N}_.-]*:[\p{L}_][\p{L}\p{M}\p{N}_.-]*/gu;

const cancelled = (name: string): Fault => {
  const place: FaultPlace = { input: name };
  return new Fault('run/cancelled', 'The run was cancelled while it read its input', { place });
};
