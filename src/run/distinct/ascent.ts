/**
 * Whether texts ascend: each is greater than the one before it, by its characters, or by its length and then its characters, as numbers do.
 *
 * Both are strict total orders. So if texts ascend, each of them is greater than all before it, and none comes twice.
 */
export class Ascent {
  /** Number of texts, while they ascend. */
  count = 0;
  #last: string | undefined;
  #byCharacters = true;
  #byLength = true;

  get holds(): boolean {
    return this.#byCharacters || this.#byLength;
  }

  /** Returns whether the texts still ascend. */
  add(text: string): boolean {
    if (!this.#byCharacters && !this.#byLength) return false;
    const last = this.#last;
    this.#last = text;
    this.count++;
    if (last === undefined) return true;
    const isGreater = text > last;
    this.#byCharacters &&= isGreater;
    this.#byLength &&= text.length > last.length || (text.length === last.length && isGreater);
    return this.#byCharacters || this.#byLength;
  }

  copy(): Ascent {
    const copy = new Ascent();
    copy.count = this.count;
    copy.#last = this.#last;
    copy.#byCharacters = this.#byCharacters;
    copy.#byLength = this.#byLength;
    return copy;
  }
}
