/** The *layouts* of rows: the sorted names of their columns, each list kept once. */
import type { Row } from '../../events.ts';

/** A layout as some rows have it. */
export interface Layout {
  /** The names in the order of the rows. */
  readonly own: readonly string[];
  readonly layout: number;
  /** Sorted. */
  readonly names: readonly string[];
}

export class Layouts {
  readonly #layouts: (readonly string[])[];
  readonly #write: (layouts: readonly (readonly string[])[]) => void;
  /** By the names of a row in their order. */
  readonly #layoutOf = new Map<string, Layout>();
  /** By table: that of its newest row. */
  readonly #recent = new Map<string, Layout>();

  /** @param write called with all of them, when there is another one */
  constructor(layouts: readonly (readonly string[])[], write: (layouts: readonly (readonly string[])[]) => void) {
    this.#layouts = [...layouts];
    this.#write = write;
  }

  get size(): number {
    return this.#layouts.length;
  }

  names(layout: number): readonly string[] {
    return this.#layouts[layout] as readonly string[];
  }

  of(tableName: string, row: Row): Layout {
    let found = this.#recent.get(tableName);
    if (found === undefined || !hasNames(row, found.own)) {
      const own = Object.keys(row);
      const text = JSON.stringify(own);
      found = this.#layoutOf.get(text) ?? this.#newLayout(own);
      this.#layoutOf.set(text, found);
      this.#recent.set(tableName, found);
    }
    return found;
  }

  #newLayout(own: readonly string[]): Layout {
    const names = own.toSorted();
    const sorted = JSON.stringify(names);
    let layout = this.#layouts.findIndex((one) => JSON.stringify(one) === sorted);
    if (layout === -1) {
      layout = this.#layouts.push(names) - 1;
      this.#write(this.#layouts);
    }
    return { own, layout, names };
  }
}

/** Whether the row has these columns, in this order. */
function hasNames(row: Row, names: readonly string[]): boolean {
  let at = 0;
  for (const name in row) if (name !== names[at++]) return false;
  return at === names.length;
}
