/** Sources of a text of YARRRML: changed where they are named, or in their mappings. */
import { isScalar, type Node } from 'yaml';
import type { Value } from '../../../../src/mapping/convert/yarrrml-terms.ts';
import { Unpatched } from '../unpatched.ts';
import { keyOfValue } from './edits.ts';
import type { Patching } from './patching.ts';
import type { SaidDocument } from './said.ts';
import { type Cell, type MappingNode, pairsOf, scalarText } from './tree.ts';

/** Where the parts of the document stand in the text. */
export interface Cells {
  idOf(part: string): string;
  cellOf(part: string): Cell;
}

export class SourceEdits {
  readonly #patching: Patching;
  readonly #cells: Cells;
  readonly #old: SaidDocument;
  readonly #new: SaidDocument;

  constructor(patching: Patching, cells: Cells, before: SaidDocument, after: SaidDocument) {
    this.#patching = patching;
    this.#cells = cells;
    this.#old = before;
    this.#new = after;
  }

  change(): void {
    const done = new Set<Node>();
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      if (next === undefined || keyOfValue(old.source) === keyOfValue(next.source)) continue;
      if (old.source === undefined || next.source === undefined)
        throw new Unpatched('The source of a mapping is not found in the text. Change it there.');
      const { source: node } = this.#cells.cellOf(part);
      if (node !== undefined && done.has(node)) continue;
      if (node === undefined) throw new Unpatched('The source of a mapping is not found in the text. Change it there.');
      done.add(node);
      const shared = this.#sharedSource(node);
      if (shared !== undefined && this.#changesAlike(node, next.source)) {
        if (!done.has(shared)) this.#patching.edits.value(shared, old.source, next.source);
        done.add(shared);
      } else if (shared !== undefined) this.#patching.edits.write(node, this.known(next.source) ?? next.source);
      else this.#patching.edits.value(node, old.source, next.source);
    }
  }

  /** What a name of a source stands for. */
  #sharedSource(node: Node): Node | undefined {
    const sources = this.#patching.tree.keys.get('sources')?.value;
    if (!isScalar(node) || sources == null || !('items' in sources)) return undefined;
    const found = pairsOf(sources as MappingNode['map']).find(({ key }) => isScalar(key) && scalarText(key) === scalarText(node));
    return found?.value ?? undefined;
  }

  /** Whether all mappings that name a source get the same one. */
  #changesAlike(node: Node, source: Value): boolean {
    const name = isScalar(node) ? scalarText(node) : undefined;
    const users = [...this.#patching.tree.mappings.values()].filter(({ sources }) =>
      sources.items.some((one) => isScalar(one) && scalarText(one) === name),
    );
    const parts = new Map([...this.#old.parts.keys()].map((part) => [this.#cells.idOf(part), part]));
    return users.every((one) => {
      const part = parts.get(this.#patching.tree.idOf(one.name));
      const next = part === undefined ? undefined : this.#new.parts.get(part);
      return next !== undefined && keyOfValue(next.source) === keyOfValue(source);
    });
  }

  /** The name under which the text has a source that is read as it was. */
  known(source: Value): string | undefined {
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      if (keyOfValue(old.source) !== keyOfValue(source) || (next !== undefined && keyOfValue(next.source) !== keyOfValue(source))) continue;
      const name = this.#patching.tree.nameOf(this.#cells.idOf(part));
      const [node] = this.#patching.tree.mappings.get(name)?.sources.items ?? [];
      if (node !== undefined && isScalar(node) && this.#sharedSource(node) !== undefined) return scalarText(node);
    }
    return undefined;
  }
}
