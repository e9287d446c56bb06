/**
 * A window of a JSON document: bytes, and their position in the document.
 *
 * The splitter extends it: `pos` moves forward, `extend` drops what is no longer needed.
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';

const WINDOW_BYTES = 128 * 1024;
/** A window doubles up to this size and then grows by it; one that is larger is given back when it is no longer needed. */
const GROWTH_BYTES = 32 * 1024 * 1024;

export abstract class JsonWindow {
  ended = false;
  /** Bytes of the document before the first that was fed. */
  skippedBytes = 0;

  protected window = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  protected pos = 0;
  protected end = 0;
  /** Byte offset in the document of the window's first byte. */
  private base = 0;
  protected line = 1;
  /** Where the piece, name or scalar in hand begins and (once whole) ends, in the window. */
  protected first = 0;
  protected last = 0;

  /** What else is known about where a fault happens. */
  protected abstract context(): FaultPlace;

  protected text(): string {
    return this.window.toString('latin1', this.first, this.last);
  }

  /** Copies `bytes` behind what is still needed of the earlier ones, from `keep` on. */
  protected extend(bytes: Uint8Array, keep: number): void {
    const kept = this.end - keep;
    const needed = kept + bytes.length;
    let target = this.window;
    if (needed > target.length) target = Buffer.allocUnsafeSlow(Math.max(needed, target.length + Math.min(target.length, GROWTH_BYTES)));
    else if (target.length > GROWTH_BYTES && needed <= WINDOW_BYTES) target = Buffer.allocUnsafeSlow(WINDOW_BYTES);
    if (target !== this.window || keep > 0) this.window.copy(target, 0, keep, this.end);
    target.set(bytes, kept);
    this.window = target;
    this.base += keep;
    this.pos -= keep;
    this.first -= keep;
    this.end = needed;
  }

  protected fail(message: string, pos: number, hint: string | undefined): never {
    throw new Fault('source/malformed', message, {
      place: this.placeOf(pos),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  protected placeOf(pos: number): FaultPlace {
    return { ...this.context(), line: this.line, byte: this.skippedBytes + this.base + pos };
  }
}
