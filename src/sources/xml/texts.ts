/**
 * XML documents within values. Each text is read as a separate document, by the same plans: a plan is made for the names and prefixes of a
 * root element, and kept for the texts that follow.
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { toBytes } from '../../core/text.ts';
import type { Accessor } from '../../core/value.ts';
import { parsePath } from '../../paths/xml/path.ts';
import { anyPrefix } from '../../paths/xml/syntax.ts';
import type { NestedRecords, NestedRequest, OpenTexts, XmlOptions } from '../source.ts';
import { textFault, textReader, unfitFault } from '../text-faults.ts';
import { type Name, NameTable, type Scope } from './names.ts';
import { XmlAccessors } from './nested.ts';
import { XmlScanner } from './parse/scanner.ts';
import { type Engine, planLoaded, type RecordsPlan, type Root, type XmlPlan } from './plan.ts';
import { type BuilderLimits, RecordBuilder, RootWaiter } from './records.ts';

/** Bounds of the plans that are kept, and of names of all texts. Beyond the first, plans are dropped; beyond the second, names too. */
const MAX_PLANS = 64;
const MAX_NAMES = 10_000;

/** Opens texts whose items are the records that a document with this iterator has. */
export const openXmlTexts: OpenTexts<XmlOptions> = async (options) => {
  const engine = await import('./path/xpath.ts');
  return {
    records: (iterator, expression) => {
      const texts = new XmlTexts(iterator, expression, options, engine);
      if (iterator !== undefined) texts.check(iterator);
      return texts.items;
    },
  };
};

/** A node of a text, and how expressions are evaluated on it. */
class Item {
  readonly node: unknown;
  readonly plan: RecordsPlan;

  constructor(node: unknown, plan: RecordsPlan) {
    this.node = node;
    this.plan = plan;
  }
}

class TextItems implements NestedRecords {
  readonly items: (node: unknown) => readonly Item[];
  readonly #texts: XmlTexts;
  readonly #accessors: XmlAccessors;
  readonly #references = new Set<string>();
  readonly #nested = new Map<string, TextItems>();

  constructor(texts: XmlTexts, find: (node: unknown) => readonly Item[]) {
    this.#texts = texts;
    this.#accessors = new XmlAccessors(texts.nulls);
    this.items = (node) => (node === null || node === undefined ? [] : find(node));
  }

  accessor(reference: string): Accessor {
    this.#texts.check(reference);
    this.#references.add(reference);
    return this.#accessors.of(reference, (record) => {
      const { node, plan } = record as Item;
      return planned(plan.references, reference)(node);
    });
  }

  nested(iterator: string): NestedRecords {
    let items = this.#nested.get(iterator);
    if (items === undefined) {
      this.#texts.check(iterator);
      items = new TextItems(this.#texts, (record) => {
        const { node, plan } = record as Item;
        const inner = planned(plan.nested, iterator);
        return inner.find(node).map((item) => new Item(item, inner));
      });
      this.#nested.set(iterator, items);
    }
    return items;
  }

  unmatched(): readonly string[] {
    return this.#accessors.unmatched();
  }

  /** What has been asked for so far. */
  get requested(): Pick<NestedRequest, 'references' | 'nested'> {
    const nested = [...this.#nested].map(([iterator, items]) => ({ iterator, origin: this.#texts.origin, ...items.requested }));
    return { references: [...this.#references], nested };
  }
}

/** @throws Fault record/term — the expression does not fit this text */
function planned<Plan>(plans: ReadonlyMap<string, Plan | Fault>, expression: string): Plan {
  const plan = plans.get(expression);
  if (plan === undefined) throw new Fault('internal/error', `The expression ${JSON.stringify(expression)} was requested too late`);
  if (plan instanceof Fault) throw unfitFault(plan);
  return plan;
}

class XmlTexts {
  readonly items: TextItems;
  readonly nulls: ReadonlySet<string>;
  readonly origin = '';
  readonly #iterator: string | undefined;
  readonly #options: XmlOptions;
  readonly #engine: Engine;
  readonly #place: FaultPlace;
  readonly #limits: BuilderLimits;
  /** By root element and its prefixes. */
  readonly #plans = new Map<string, XmlPlan>();
  #names = new NameTable();

  constructor(iterator: string | undefined, expression: string | undefined, options: XmlOptions, engine: Engine) {
    this.#iterator = iterator;
    this.#options = options;
    this.#engine = engine;
    this.#place = { input: options.name, ...(expression === undefined ? {} : { expression }) };
    // The length of the text is checked instead.
    this.#limits = { input: options.name, maxRecordBytes: Number.POSITIVE_INFINITY, maxDocumentBytes: Number.POSITIVE_INFINITY };
    this.nulls = new Set(options.nulls.map(toBytes));
    const textOf = textReader(options, this.#place);
    this.items = new TextItems(this, (value) => {
      const text = textOf(value);
      return text === undefined ? [] : this.#records(text);
    });
  }

  /** Checks an expression before there is a text. Its prefixes may be declared there. @throws Fault mapping/reference */
  check(expression: string): void {
    if (parsePath(expression) !== undefined) return;
    this.#engine.compileXPath(expression, anyPrefix(this.#options.namespaces), { input: this.#options.name, expression });
  }

  #records(text: string): readonly Item[] {
    try {
      const { plan, builder } = this.#read(text);
      const records = plan.records[0] as RecordsPlan;
      const { root } = builder;
      const nodes = plan.deferred.length > 0 && root !== undefined ? plan.deferredRecords(root)[0] : builder.waiting(0).take(1)?.records;
      return (nodes ?? []).map((node) => new Item(node, records));
    } catch (error) {
      throw error instanceof Fault ? textFault(error, 'XML', text, this.#place) : error;
    }
  }

  #read(text: string): { readonly plan: XmlPlan; readonly builder: RecordBuilder } {
    if (this.#names.seen.length > MAX_NAMES) {
      this.#names = new NameTable();
      this.#plans.clear();
    }
    const { maxRecordBytes, maxDepth } = this.#options;
    const waiter = new RootWaiter(() => {
      scanner.paused = true;
      return scanner;
    });
    const scanner: XmlScanner = new XmlScanner(waiter, this.#names, 'It', maxRecordBytes, maxDepth);
    scanner.push(Buffer.from(text, 'latin1'));
    scanner.end();
    scanner.scan();
    // Without a root the scanner has thrown.
    const plan = this.#planFor({ name: waiter.name as Name, scope: waiter.scope as Scope });
    const builder = new RecordBuilder(plan.matcher, 1, this.#limits);
    waiter.pass(builder);
    scanner.sink = builder;
    scanner.scan();
    return { plan, builder };
  }

  #planFor(root: Root): XmlPlan {
    const key = [root.name.uri, root.name.local, ...[...root.scope.prefixes].flat()].join('\n');
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    if (this.#plans.size >= MAX_PLANS) this.#plans.clear();
    const iteration = { iterator: this.#iterator, origin: this.origin, ...this.items.requested };
    const plan = planLoaded([iteration], this.#options, this.#names, root, this.#engine);
    this.#plans.set(key, plan);
    return plan;
  }
}
