/**
 * The pages of a Web API as one document: their records, in their order.
 *
 * One page is read at a time, as it arrives; the address of the next one is known when it has ended. Each page has its own reader, so
 * accessors lead to those of the page that is being read. Memory: that of one page, and a hash for each address.
 */
import { createHash } from 'node:crypto';
import { Fault, type FaultPlace } from '../../../../core/fault.ts';
import { FORMULATIONS, type Formulation } from '../../../../core/input/formats.ts';
import { inputBytesFault } from '../../../../core/limits.ts';
import { redact } from '../../../../core/redact.ts';
import { fromBytes } from '../../../../core/text.ts';
import { type Accessor, TypedValue } from '../../../../core/value.ts';
import { formatOrigin, type Paging } from '../../../../mapping/model/model.ts';
import type { Batch, IterationRequest, NestedRecords, Scan } from '../../../../sources/source.ts';
import type { WebAnswer } from '../../../../storage/storage.ts';
import { isListOfItems, reasonForMore, type Signs, signsOf } from './last-page.ts';
import { firstPage, nextPage } from './next-page.ts';

/** A page that is being read. */
export interface OpenedPage {
  readonly scan: Scan;
  /** What the server has answered, once the page was read. */
  readonly web: WebAnswer | undefined;
  /** SHA-256 of the bytes, once the page was read. */
  readonly digest: () => string;
  close(): Promise<void>;
}

/** @param iterations those of the plan, and then those of the paging */
export type OpenPage = (address: string, iterations: readonly IterationRequest[]) => Promise<OpenedPage>;

export interface PageLimits {
  /** 0: none. */
  readonly pages: number;
  /** Of all pages together; 0: none. */
  readonly inputBytes: number;
}

/** @throws Fault those of opening the first page */
export async function openPages(
  paging: Paging,
  address: string,
  iterations: readonly IterationRequest[],
  formulation: Formulation,
  open: OpenPage,
  limits: PageLimits,
): Promise<Scan> {
  const asked = new AskedOfPages(paging, iterations, formulation);
  const first = firstPage(paging, address);
  const page = await open(first, asked.iterations).catch((error) => {
    throw placed(error, first, 1);
  });
  return new PagedScan(paging, first, iterations.length, asked, open, page, limits);
}

/** An expression of the paging: its iteration, and the reference that gives its value. */
interface Expression {
  readonly iteration: number;
  readonly reference: string;
}

/** What is read of a page besides the records. */
class AskedOfPages {
  readonly iterations: readonly IterationRequest[];
  /** By expression as the mapping writes it. */
  readonly expressions = new Map<string, Expression>();
  /** The iteration whose records are the items. undefined: there is none. */
  readonly items: number | undefined = undefined;
  /** They reveal a misspelt reference to the next page. undefined: there is none. */
  readonly signs: Signs | undefined = undefined;
  /** Path of a sign → its iteration. */
  readonly pathsOfSigns = new Map<string, number>();

  constructor(paging: Paging, iterations: readonly IterationRequest[], formulation: Formulation) {
    const all = [...iterations];
    const origin = formatOrigin(paging.origin);
    for (const expression of [paging.reference, paging.pageCount, paging.recordCount]) {
      if (expression === undefined || this.expressions.has(expression)) continue;
      const [iterator, reference] = formulation === 'xml' ? splitXPath(expression) : [expression, '$'];
      this.expressions.set(expression, { iteration: all.length, reference });
      all.push({ iterator, references: [reference], origin });
    }
    if (paging.items !== undefined) {
      const same = all.findIndex(({ iterator }) => iterator === paging.items);
      this.items = same < 0 ? all.length : same;
      if (same < 0) all.push({ iterator: paging.items, references: [], origin });
    } else if (FORMULATIONS[formulation].hasRows && isNumbered(paging)) this.items = 0;
    if (paging.reference !== undefined) {
      const iterators = [paging.items, ...iterations.map(({ iterator }) => iterator)];
      this.signs = signsOf(paging.reference, formulation, iterators);
      for (const path of this.signs.totals) {
        if (this.expressions.has(path)) continue;
        this.expressions.set(path, { iteration: all.length, reference: '$' });
        all.push({ iterator: path, references: ['$'], origin });
      }
      for (const path of [...(this.signs.around === undefined ? [] : [this.signs.around]), ...this.signs.others]) {
        this.pathsOfSigns.set(path, all.length);
        all.push({ iterator: path, references: [], origin });
      }
    }
    this.iterations = all;
  }
}

/** An element, and what of it is the value: attributes and texts are no records. */
function splitXPath(expression: string): readonly [iterator: string, reference: string] {
  const [, element, step] = /^(.+)\/(@[^/\]'"]+|text\(\))$/s.exec(expression.trim()) ?? [];
  return element === undefined || step === undefined ? [expression, '.'] : [element, step];
}

const isNumbered = ({ kind }: Paging): boolean => kind === 'page-number' || kind === 'offset';

/** Something of a reader that has to be asked for again from the reader of the next page. */
interface Bound {
  bind(scan: Scan): void;
  /** After a page was read. */
  end?(): void;
}

class PagedScan implements Scan {
  readonly #paging: Paging;
  readonly #first: string;
  readonly #own: number;
  readonly #asked: AskedOfPages;
  readonly #open: OpenPage;
  readonly #limits: PageLimits;
  readonly #bound: Bound[] = [];
  #page: OpenedPage;
  #number = 1;
  /** By iteration: records of the pages before. */
  readonly #before: number[];
  /** By iteration: references without a node on any page that had records. */
  readonly #missing: (Set<string> | undefined)[];
  /** Those of the first page that could give one, by iteration and reference. */
  readonly #hints = new Map<string, string>();
  readonly #warnings = new Set<string>();
  /** Expressions of the paging that had a value, if only an empty text. */
  readonly #told = new Set<string>();

  constructor(paging: Paging, first: string, own: number, asked: AskedOfPages, open: OpenPage, page: OpenedPage, limits: PageLimits) {
    this.#paging = paging;
    this.#first = first;
    this.#own = own;
    this.#asked = asked;
    this.#open = open;
    this.#page = page;
    this.#limits = limits;
    this.#before = asked.iterations.map(() => 0);
    this.#missing = asked.iterations.map(() => undefined);
    if (page.scan.cellOf !== undefined) this.cellOf = (record, reference) => this.#page.scan.cellOf?.(record, reference);
  }

  cellOf?: (record: unknown, reference: string) => string | undefined;

  accessor(iteration: number, reference: string): Accessor {
    return this.#bindAccessor((scan) => scan.accessor(iteration, reference));
  }

  nested(iteration: number, iterator: string): NestedRecords {
    const records = new PagedItems((scan) => {
      const found = scan.nested?.(iteration, iterator);
      if (found === undefined) throw new Error('a page has no nested records');
      return found;
    });
    this.#bind(records);
    return records;
  }

  datatype(iteration: number, reference: string): string | undefined {
    // Values of the next page may have datatypes where those of this one have none.
    return this.#page.scan.datatype?.(iteration, reference) ?? undefined;
  }

  unmatched(iteration: number): readonly string[] {
    return [...(this.#missing[iteration] ?? [])];
  }

  hint(iteration: number, reference?: string): string | undefined {
    return (this.#before[iteration] as number) > 0 && reference === undefined ? undefined : this.#hints.get(hintKey(iteration, reference));
  }

  warnings(): readonly string[] {
    return [...this.#warnings];
  }

  close(): Promise<void> {
    return this.#page.close();
  }

  /** @throws Fault those of readers and servers, with the page; source/malformed — the pages go in a circle; limit/exceeded */
  async *batches(signal: AbortSignal): AsyncGenerator<Batch> {
    const read = [...this.#asked.expressions].map(([expression, { iteration, reference }]) => {
      const values = this.accessor(iteration, reference);
      return { expression, iteration, values: this.#asked.signs?.totals.includes(expression) === true ? numberOf(values) : values };
    });
    const { items } = this.#asked;
    const numbered = isNumbered(this.#paging);
    const seen = new Set<string>();
    let address = this.#first;
    let bytesBefore = 0;
    let lastDigest: string | undefined;
    for (;;) {
      // Numbers only grow.
      if (!numbered) seen.add(hashOf(address));
      const counts = this.#asked.iterations.map(() => 0);
      const values = new Map<string, string>();
      let bytes = 0;
      try {
        for await (const batch of this.#page.scan.batches(signal)) {
          const { iteration, records } = batch;
          bytes = batch.bytes;
          if (this.#limits.inputBytes > 0 && bytesBefore + bytes > this.#limits.inputBytes)
            throw inputBytesFault(this.#limits.inputBytes, {});
          counts[iteration] = (counts[iteration] as number) + records.length;
          for (const one of read) {
            if (one.iteration !== iteration || values.has(one.expression)) continue;
            const found = records.map(one.values);
            if (found.some((value) => value !== null)) this.#told.add(one.expression);
            const text = textOf(found.find((value) => textOf(value) !== undefined) ?? null);
            if (text !== undefined) values.set(one.expression, text);
          }
          if (iteration >= this.#own) continue;
          const first = this.#before[iteration] as number;
          yield { ...batch, first: first + batch.first, bytes: bytesBefore + bytes, page: { number: this.#number, first } };
        }
      } catch (error) {
        throw placed(error, address, this.#number);
      }
      this.#endPage(counts);
      bytesBefore += bytes;
      const next = this.#nextAddress(address, values, items === undefined ? undefined : (counts[items] as number));
      const digest = this.#page.digest();
      if (next !== undefined && numbered && digest === lastDigest) throw this.#samePage(address);
      lastDigest = digest;
      await this.#page.close();
      if (next === undefined) {
        this.#warnOfMore(address, values);
        return;
      }
      if (seen.has(hashOf(next))) throw this.#circle(address, next);
      const { pages } = this.#limits;
      if (pages > 0 && this.#number >= pages) {
        throw new Fault('limit/exceeded', `The source has more than the ${pages} pages that SOURCE_PAGES allows`, {
          place: { input: redact(address), page: this.#number },
          hint: 'Raise SOURCE_PAGES, or let the server give more records on each page',
        });
      }
      address = next;
      this.#number++;
      await this.#turn(address);
    }
  }

  /** Opens the next page, and leads all accessors to it. */
  async #turn(address: string): Promise<void> {
    try {
      this.#page = await this.#open(address, this.#asked.iterations);
      for (const bound of this.#bound) bound.bind(this.#page.scan);
    } catch (error) {
      throw placed(error, address, this.#number);
    }
  }

  #endPage(counts: readonly number[]): void {
    const { scan } = this.#page;
    for (const bound of this.#bound) bound.end?.();
    for (const [iteration, count] of counts.entries()) {
      this.#before[iteration] = (this.#before[iteration] as number) + count;
      if (iteration >= this.#own) continue;
      const missing = scan.unmatched(iteration);
      for (const reference of [...(count === 0 ? [undefined] : []), ...missing]) {
        const hint = scan.hint?.(iteration, reference);
        const key = hintKey(iteration, reference);
        if (hint !== undefined && !this.#hints.has(key)) this.#hints.set(key, hint);
      }
      if (count > 0) this.#missing[iteration] = intersected(this.#missing[iteration], missing);
    }
    for (const warning of scan.warnings?.() ?? []) this.#warnings.add(warning);
  }

  /** Of a reference that is misspelt, the first page looks like the last one. */
  #warnOfMore(address: string, values: ReadonlyMap<string, string>): void {
    const { signs, expressions, pathsOfSigns, items } = this.#asked;
    const { reference = '', origin } = this.#paging;
    const isFound = (iteration: number | undefined): boolean => iteration !== undefined && (this.#before[iteration] as number) > 0;
    // An element may be there without the attribute or the text that is the value.
    const { iteration, reference: step = '' } = expressions.get(reference) ?? {};
    const isThere = this.#told.has(reference) || ((step === '$' || step === '.') && isFound(iteration));
    if (signs === undefined || this.#number > 1 || isThere) return;
    const counts = items === undefined ? this.#before.slice(0, this.#own) : [this.#before[items] as number];
    const found = new Set([...pathsOfSigns].flatMap(([path, iteration]) => (isFound(iteration) ? [path] : [])));
    const total = signs.totals.flatMap((path) =>
      /^\d{1,15}$/.test(values.get(path) ?? '') ? [[path, Number(values.get(path))] as const] : [],
    )[0];
    const isPart = items === undefined && !this.#asked.iterations.slice(0, this.#own).every(({ iterator }) => isListOfItems(iterator));
    const why = reasonForMore(signs, { items: Math.max(0, ...counts), address, link: this.#page.web?.link, found, total, isPart });
    if (why === undefined) return;
    this.#warnings.add(
      `The only page that was read has nothing at ${reference}, ${why}. If there are more pages, correct qw:reference (input ${redact(address)}, mapping ${formatOrigin(origin)})`,
    );
  }

  #nextAddress(asked: string, values: ReadonlyMap<string, string>, items: number | undefined): string | undefined {
    const { address = asked, link } = this.#page.web ?? {};
    const { items: counted } = this.#asked;
    const total = counted === undefined ? 0 : (this.#before[counted] as number);
    return nextPage(this.#paging, this.#first, { number: this.#number, address, link, values, items, total });
  }

  #bindAccessor(find: (scan: Scan) => Accessor): Accessor {
    const bound = new PagedAccessor(find);
    this.#bind(bound);
    return (record) => bound.read(record);
  }

  #bind(bound: Bound): void {
    bound.bind(this.#page.scan);
    this.#bound.push(bound);
  }

  #circle(address: string, next: string): Fault {
    return new Fault('source/malformed', `Page ${this.#number} leads back to a page that was read before: ${redact(next)}`, {
      place: { input: redact(address), page: this.#number, mapping: formatOrigin(this.#paging.origin) },
      hint: 'A server whose last page leads to itself has no items on it: qw:items says what an item is, and a page without ends the source',
    });
  }

  #samePage(address: string): Fault {
    const { parameter } = this.#paging;
    return new Fault('source/malformed', `Page ${this.#number} is the same as the page before it`, {
      place: { input: redact(address), page: this.#number, mapping: formatOrigin(this.#paging.origin) },
      hint: `Check the name of the parameter ${JSON.stringify(parameter)}: a server gives the same page for each value of one that it does not know`,
    });
  }
}

class PagedAccessor implements Bound {
  read: Accessor = () => null;
  readonly #find: (scan: Scan) => Accessor;

  constructor(find: (scan: Scan) => Accessor) {
    this.#find = find;
  }

  bind(scan: Scan): void {
    this.read = this.#find(scan);
  }
}

/** Items within records, whatever page these are of. */
class PagedItems implements NestedRecords, Bound {
  readonly #find: (scan: Scan) => NestedRecords;
  readonly #bound: Bound[] = [];
  #scan: Scan | undefined;
  #current: NestedRecords | undefined;
  #hasItems = false;
  #missing: Set<string> | undefined;

  constructor(find: (scan: Scan) => NestedRecords) {
    this.#find = find;
  }

  get #items(): NestedRecords {
    return this.#current as NestedRecords;
  }

  bind(scan: Scan): void {
    this.#scan = scan;
    this.#current = this.#find(scan);
    this.#hasItems = false;
    for (const bound of this.#bound) bound.bind(scan);
  }

  end(): void {
    if (this.#hasItems) this.#missing = intersected(this.#missing, this.#items.unmatched());
    for (const bound of this.#bound) bound.end?.();
  }

  readonly items = (node: unknown): readonly unknown[] => {
    const found = this.#items.items(node);
    if (found.length > 0) this.#hasItems = true;
    return found;
  };

  accessor(reference: string): Accessor {
    const bound = new PagedAccessor(() => this.#items.accessor(reference));
    this.#add(bound);
    return (record) => bound.read(record);
  }

  nested(iterator: string): NestedRecords {
    const bound = new PagedItems(() => {
      const found = this.#items.nested?.(iterator);
      if (found === undefined) throw new Error('a page has no nested records');
      return found;
    });
    this.#add(bound);
    return bound;
  }

  unmatched(): readonly string[] {
    return [...(this.#missing ?? [])];
  }

  #add(bound: Bound): void {
    bound.bind(this.#scan as Scan);
    this.#bound.push(bound);
  }
}

const hintKey = (iteration: number, reference: string | undefined): string => `${iteration} ${reference ?? ''}`;

/** 128 bits, in 22 characters. */
const hashOf = (address: string): string => createHash('sha256').update(address).digest('base64').slice(0, 22);

const intersected = (known: ReadonlySet<string> | undefined, more: readonly string[]): Set<string> =>
  new Set(known === undefined ? more : more.filter((one) => known.has(one)));

/** The text of an expression of the paging; undefined: no value. A boolean `false` means that there is no next page. */
function textOf(values: ReturnType<Accessor>): string | undefined {
  const value = values === null || typeof values === 'string' || values instanceof TypedValue ? values : (values[0] ?? null);
  if (value === null) return undefined;
  const text = typeof value === 'string' ? value : value.datatype.endsWith('#boolean') ? '' : value.written;
  return text.trim() === '' ? undefined : fromBytes(text);
}

/** What has a usual name for a number may be something else. */
const numberOf =
  (read: Accessor): Accessor =>
  (record) => {
    try {
      const value = read(record);
      return Array.isArray(value) ? null : value;
    } catch (error) {
      if (error instanceof Fault && error.code === 'record/term') return null;
      throw error;
    }
  };

function placed(error: unknown, address: string, page: number): unknown {
  if (!(error instanceof Fault) || error.code === 'run/cancelled') return error;
  const place: FaultPlace = { ...error.place, input: redact(address), page };
  return error.with({ place });
}
