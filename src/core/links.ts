/** What belongs together, directly or by way of others: sets that grow by pairs. */
export class Links<T> {
  readonly #above = new Map<T, T>();

  /** The same for all that belong together. */
  leaderOf(one: T): T {
    let leader = one;
    for (let next = this.#above.get(leader); next !== undefined; next = this.#above.get(leader)) leader = next;
    // The next look is a short one.
    if (leader !== one) this.#above.set(one, leader);
    return leader;
  }

  areLinked(a: T, b: T): boolean {
    return this.leaderOf(a) === this.leaderOf(b);
  }

  /** False where they were linked already. */
  link(a: T, b: T): boolean {
    const [from, to] = [this.leaderOf(a), this.leaderOf(b)];
    if (from !== to) this.#above.set(from, to);
    return from !== to;
  }
}
