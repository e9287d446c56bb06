/** Union-find: groups of items that are linked directly or through other items. */
export class Links<T> {
  readonly #above = new Map<T, T>();

  /** The representative of an item's group: equal for all linked items. */
  leaderOf(one: T): T {
    let leader = one;
    for (let next = this.#above.get(leader); next !== undefined; next = this.#above.get(leader)) leader = next;
    // Path compression: the next lookup is short.
    if (leader !== one) this.#above.set(one, leader);
    return leader;
  }

  areLinked(a: T, b: T): boolean {
    return this.leaderOf(a) === this.leaderOf(b);
  }

  /** Returns false if the two were linked already. */
  link(a: T, b: T): boolean {
    const [from, to] = [this.leaderOf(a), this.leaderOf(b)];
    if (from !== to) this.#above.set(from, to);
    return from !== to;
  }
}
