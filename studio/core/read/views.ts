/** Logical views → the paths that their names stand for. Views that are drawn give names to fields of one source, and iterate over its lists. */
import type { Field, FileSource, LogicalSource, LogicalView, SqlSource } from '../../../src/mapping/model/model.ts';
import type { Path } from '../document.ts';
import { listsBelow, pathKey } from '../levels.ts';
import type { ReadPath } from './paths.ts';
import { Undrawn } from './undrawn.ts';

/** What the names of a view mean. */
export interface ViewNames {
  readonly paths: ReadonlyMap<string, Path>;
  /** Fields whose reference is not taken apart, with the records that it begins at. */
  readonly written: ReadonlyMap<string, { readonly text: string; readonly within: Path }>;
  /** Iterators: of the source, and of the lists within. */
  readonly iterators: readonly Path[];
}

/** The source of a view that reads one. */
export const sourceOf = (source: LogicalSource | LogicalView): FileSource | SqlSource | undefined =>
  source.kind !== 'view' ? source : source.on.kind === 'view' ? undefined : source.on;

/** The iterators of a source and of the lists of its view, as one text each. */
export function iteratorTexts(source: LogicalSource | LogicalView): readonly string[] {
  const base = sourceOf(source);
  if (base?.kind !== 'file' || base.iterator === undefined) return [];
  const within = (fields: readonly Field[], before: string): readonly string[] =>
    fields.flatMap((field) => {
      const own = field.kind === 'iterable' && field.iterator !== undefined ? `${before}/${field.iterator}` : undefined;
      return own === undefined ? [] : [own, ...within(field.fields, own)];
    });
  return [base.iterator, ...(source.kind === 'view' ? within(source.fields, base.iterator) : [])];
}

/** @param reader of references of records */
export function readView(view: LogicalView, iterator: Path, reader: (iterator: Path) => ReadPath): ViewNames | Undrawn {
  const reading = new ViewReading(iterator, reader);
  if (view.on.kind === 'view') return new Undrawn('a view on a logical view');
  if (view.joins.length > 0) return new Undrawn('a logical view with joins');
  return reading.read(view.fields, '', iterator) ?? reading;
}

class ViewReading implements ViewNames {
  readonly paths = new Map<string, Path>();
  readonly written = new Map<string, { readonly text: string; readonly within: Path }>();
  readonly iterators: Path[];
  readonly #reader: (iterator: Path) => ReadPath;

  constructor(iterator: Path, reader: (iterator: Path) => ReadPath) {
    this.iterators = [iterator];
    this.#reader = reader;
  }

  read(fields: readonly Field[], prefix: string, within: Path): Undrawn | undefined {
    for (const field of fields) {
      const refused = field.kind === 'iterable' ? this.#list(field, prefix, within) : this.#field(field, prefix, within);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  #field({ name, expression, fields }: Extract<Field, { kind: 'expression' }>, prefix: string, within: Path): Undrawn | undefined {
    if (fields.length > 0) return new Undrawn('a logical view that reads documents within values');
    if (expression.kind !== 'reference') return new Undrawn('a logical view with a field that is no reference');
    const path = this.#reader(within)(expression.reference);
    if (path === undefined) this.written.set(prefix + name, { text: expression.reference, within });
    else if (listsBelow(within, path) > 0) return new Undrawn('a logical view with a field that reads a list');
    else this.paths.set(prefix + name, path);
    return undefined;
  }

  #list({ name, formulation, iterator, fields }: Extract<Field, { kind: 'iterable' }>, prefix: string, within: Path): Undrawn | undefined {
    if (formulation !== undefined || iterator === undefined) return new Undrawn('a logical view that reads documents within values');
    const path = this.#reader(within)(iterator);
    const last = path?.at(-1);
    const isBelow = path !== undefined && last !== undefined && ('each' in last || 'index' in last);
    if (!isBelow || listsBelow(within, path) > 1 || path.length <= within.length)
      return new Undrawn('a logical view with an iterator that is not drawn');
    // Two lists of one path would give every combination of their items.
    if (this.iterators.some((one) => pathKey(one) === pathKey(path))) return new Undrawn('a logical view that reads a list twice');
    this.iterators.push(path);
    return this.read(fields, `${prefix}${name}.`, path);
  }
}
