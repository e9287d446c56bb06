/**
 * A join is an index filled by a scan: subjects of the parent by key, distinct. A child that is read after its parent asks the
 * index record by record; one that is read before or with it (or in a cycle) leaves its distinct subjects by key, and the pairs
 * are made when both sides are complete. Never a nested loop.
 */

import type { Text } from '../terms/generate.ts';
import { detach } from '../text.ts';

/** Texts by key, distinct: a single text stands alone, a few in an array, many in a set. */
export class KeyedTexts {
  readonly #texts = new Map<string, string | string[] | Set<string>>();
  /** Rough size of what is held, in bytes. */
  bytes = 0;

  /** Both strings may be slices of a batch: what is kept is detached. */
  add(key: string, text: string): void {
    const held = this.#texts.get(key);
    if (held === undefined) {
      this.#texts.set(detach(key), this.#keep(text));
      this.bytes += key.length + 64;
    } else if (typeof held === 'string') {
      if (held !== text) this.#texts.set(key, [held, this.#keep(text)]);
    } else if (Array.isArray(held)) {
      if (held.includes(text)) return;
      held.push(this.#keep(text));
      if (held.length > 8) this.#texts.set(key, new Set(held));
    } else if (!held.has(text)) held.add(this.#keep(text));
  }

  get(key: string): Text {
    const held = this.#texts.get(key);
    if (held === undefined) return null;
    if (!(held instanceof Set)) return held;
    // Asked for: keep the array, later asks are free. Adding goes on with a set only while the index is filled.
    const list = [...held];
    this.#texts.set(key, list);
    return list;
  }

  *entries(): Iterable<readonly [key: string, texts: Iterable<string>]> {
    for (const [key, held] of this.#texts) yield [key, typeof held === 'string' ? [held] : held];
  }

  clear(): void {
    this.#texts.clear();
    this.bytes = 0;
  }

  #keep(text: string): string {
    this.bytes += text.length + 32;
    return detach(text);
  }
}

/** One key from the texts of a join's expressions: unambiguous for any texts. */
export function joinKey(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : parts.map((part) => `${part.length}:${part}`).join('');
}
