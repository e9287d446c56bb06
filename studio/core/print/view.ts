/**
 * The logical view of a triples map that reads fields of several levels together: its fields by names, those of a list within a field that iterates.
 *
 * Fields of one list are read in one row, where plain references would give every combination of their values. Fields above the iterator have
 * names as all others.
 *
 * @see https://kg-construct.github.io/rml-lv/spec/docs/
 */
import type { RdfTerm } from '../../../src/mapping/model/model.ts';
import type { FieldRef, Format, Path } from '../document.ts';
import { pathKey, samePath, sharedSteps } from '../levels.ts';
import { type GraphWriter, literal, type Properties } from './graph.ts';
import { iteratorText, referenceText } from './paths.ts';

/** What the records of a view have, or the items of one of its lists. */
interface Items {
  /** The list, from the records around it; of the view: its iterator. */
  readonly steps: Path;
  /** Before the names of its fields: `lines.`. */
  readonly prefix: string;
  /** Path or text of what a field reads → its name and reference. */
  readonly fields: Map<string, { readonly name: string; readonly reference: string }>;
  /** Path of a list → its name and fields. */
  readonly lists: Map<string, { readonly name: string; readonly items: Items }>;
}

export class View {
  /** The nearest list at or above the iterator of the triples map in which all that is read stands. XPath leads out of the records itself. */
  readonly iterator: Path;
  readonly #format: Format;
  /** Where the subject stands: paths that are written out begin there. */
  readonly #own: Path;
  readonly #root: Items;

  /** @param own the iterator of the triples map, if it had no view */
  constructor(format: Format, own: Path, reads: readonly (FieldRef | string)[]) {
    this.#format = format;
    this.#own = own;
    const shared = reads.map((read) => (typeof read === 'string' ? own.length : sharedSteps(own, read.path)));
    const least = format === 'xml' ? own.length : Math.min(own.length, ...shared);
    this.iterator = least === own.length ? own : own.slice(0, own.slice(0, least).findLastIndex((step) => 'each' in step) + 1);
    this.#root = itemsOf(this.iterator, '');
    for (const read of reads) this.nameOf(read);
  }

  /** The name by which a triples map refers to a field. undefined: a reference cannot lead there. */
  nameOf(read: FieldRef | string): string | undefined {
    const path = typeof read === 'string' ? this.#own : read.path;
    let items = this.#root;
    const isWithin = samePath(path.slice(0, this.iterator.length), this.iterator);
    let start = isWithin ? this.iterator.length : path.length;
    for (let end = start + 1; end <= path.length; end++) {
      const isItem = 'each' in (path[end - 1] as Path[number]);
      if (!isItem && !(end === this.#own.length && samePath(path.slice(0, end), this.#own))) continue;
      items = this.#list(items, path.slice(start, end));
      start = end;
    }
    const around = isWithin ? path.slice(0, start) : this.iterator;
    const reference = typeof read === 'string' ? read : referenceText(this.#format, around, path);
    if (reference === undefined) return undefined;
    const key = typeof read === 'string' ? `written ${read}` : pathKey(path);
    const wanted = typeof read === 'string' ? 'written' : wordsOf(path.slice(isWithin ? start : sharedSteps(this.iterator, path)));
    const name = items.fields.get(key)?.name ?? freeName(items, wanted);
    items.fields.set(key, { name, reference });
    return `${items.prefix}${name}`;
  }

  properties(writer: GraphWriter, on: RdfTerm): Properties {
    return [['viewOn', on], ...this.#fields(writer, this.#root)];
  }

  #list(items: Items, steps: Path): Items {
    const key = pathKey(steps);
    const known = items.lists.get(key);
    if (known !== undefined) return known.items;
    const name = freeName(items, wordsOf(steps));
    const made = itemsOf(steps, `${items.prefix}${name}.`);
    items.lists.set(key, { name, items: made });
    return made;
  }

  #fields(writer: GraphWriter, { fields, lists }: Items): Properties {
    const read = [...fields.values()].map(({ name, reference }) =>
      writer.blank(
        [
          ['fieldName', literal(name)],
          ['reference', literal(reference)],
        ],
        'ExpressionField',
      ),
    );
    const listed = [...lists.values()].map(({ name, items }) => {
      const iterator = this.#format === 'xml' ? referenceText('xml', [], items.steps) : iteratorText(this.#format, items.steps);
      return writer.blank(
        [['fieldName', literal(name)], ['iterator', literal(iterator as string)], ...this.#fields(writer, items)],
        'IterableField',
      );
    });
    return [...read, ...listed].map((field) => ['field', field] as const);
  }
}

const itemsOf = (steps: Path, prefix: string): Items => ({ steps, prefix, fields: new Map(), lists: new Map() });

/** `customer_name` of `$.customer.name`; dots and braces have a meaning in references. */
function wordsOf(steps: Path): string {
  const names = steps.flatMap((step) =>
    'name' in step ? [step.name] : 'attribute' in step ? [step.attribute] : 'text' in step ? ['text'] : [],
  );
  return names.join('_').replace(/[^\p{L}\p{N}_-]+/gu, '_') || 'item';
}

function freeName({ fields, lists }: Items, wanted: string): string {
  const taken = new Set([...fields.values(), ...lists.values()].map(({ name }) => name));
  let name = wanted;
  for (let i = 2; taken.has(name); i++) name = `${wanted}_${i}`;
  return name;
}
