/**
 * A window of a JSON document: bytes, and their position in the document.
 *
 * The splitter extends it: `pos` moves forward, `extend` drops the bytes before a position.
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';

const WINDOW_BYTES = 128 * 1024;
/** Stands behind the last byte, so that a reader of values stops there. */
const NO_JSON = 0;
/** A window doubles up to this size and then grows by it. A larger one is released after its use. */
const GROWTH_BYTES = 32 * 1024 * 1024;

export abstract class JsonWindow {
  /** No more bytes will come. */
  ended = false;
  /** Bytes of the document before the first that is fed, such as a byte order mark. */
  skippedBytes = 0;

  protected window = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  /** Position of the next byte to look at, and of the end of the bytes. Positions are in the window. */
  protected pos = 0;
  protected end = 0;
  /** Byte offset in the document of the window's first byte. */
  private base = 0;
  /** 1-based. */
  protected line = 1;
  /** Where the current piece, name or scalar begins and, once it is complete, ends. */
  protected first = 0;
  protected last = 0;

  /** Input and record for the place of a fault. */
  protected abstract context(): FaultPlace;

  /** The current piece, name or scalar as one-byte text. */
  protected text(): string {
    return this.window.toString('latin1', this.first, this.last);
  }

  /** Drops the bytes before `keep` and appends `bytes`. All positions move with them. */
  protected extend(bytes: Uint8Array, keep: number): void {
    const kept = this.end - keep;
    const needed = kept + bytes.length;
    let target = this.window;
    if (needed >= target.length)
      target = Buffer.allocUnsafeSlow(Math.max(needed + 1, target.length + Math.min(target.length, GROWTH_BYTES)));
    else if (target.length > GROWTH_BYTES && needed < WINDOW_BYTES) target = Buffer.allocUnsafeSlow(WINDOW_BYTES);
    if (target !== this.window || keep > 0) this.window.copy(target, 0, keep, this.end);
    target.set(bytes, kept);
    target[needed] = NO_JSON;
    this.window = target;
    this.base += keep;
    this.pos -= keep;
    this.first -= keep;
    this.end = needed;
  }

  /** @throws Fault source/malformed at a position of the window */
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
