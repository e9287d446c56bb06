/** The beginning of a JSON document as a value, for advice about expressions that find nothing. */
import { parseJson } from './text.ts';

/** Bytes from which advice is given. */
const MOST_BYTES = 64 * 1024;

const OPENING = /[[{]/;

export class JsonBeginning {
  /** One-byte text. */
  #text = '';
  #isWhole = true;
  #value: { readonly value: unknown } | undefined;

  /** Called with each chunk of the document. */
  add(chunk: Uint8Array): void {
    const wanted = MOST_BYTES - this.#text.length;
    if (wanted > 0) this.#text += Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(wanted, chunk.length)).toString('latin1');
    if (chunk.length > wanted) this.#isWhole = false;
  }

  /** Whether this is all of the document. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get text(): string {
    return this.#text;
  }

  /** The value, or of a sequence the array of its values, without what is cut off. undefined: it cannot be read. */
  value(isSequence: boolean): unknown {
    this.#value ??= { value: this.#read(isSequence) };
    return this.#value.value;
  }

  #read(isSequence: boolean): unknown {
    if (!isSequence) return parsed(this.#isWhole ? this.#text : completed(this.#text));
    const lines = this.#text.split(/[\n\x1e]/).filter((line) => line.trim() !== '');
    if (!this.#isWhole) lines.pop();
    const values = lines.map(parsed);
    return values.includes(undefined) ? undefined : values;
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text, false);
  } catch {
    // A fault of the document was reported by its reader.
    return undefined;
  }
}

/** The text up to the last value that is complete, with the brackets that are open there closed. */
function completed(text: string): string {
  const closing: string[] = [];
  let end = 0;
  let open = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === '"') {
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i++;
      continue;
    }
    if (OPENING.test(c)) closing.push(c === '{' ? '}' : ']');
    else if (c === ']' || c === '}') closing.pop();
    else if (c !== ',') continue;
    end = c === ',' ? i : i + 1;
    open = closing.length;
  }
  return text.slice(0, end) + closing.slice(0, open).reverse().join('');
}
