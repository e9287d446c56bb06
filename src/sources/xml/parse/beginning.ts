/** The beginning of an XML document as a tree, for advice about expressions that find nothing. */
import { Fault } from '../../../core/fault.ts';
import type { XmlOptions } from '../../source.ts';
import type { Name, NameTable } from '../names.ts';
import { type Attributes, Element, NO_ATTRIBUTES, type XmlSink } from '../tree.ts';
import { XmlScanner } from './scanner.ts';

/** Bytes from which advice is given. */
const MOST_BYTES = 64 * 1024;

export class XmlBeginning {
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  isWhole = true;

  /** Called with each piece of the document, as UTF-8. */
  add(part: Uint8Array): void {
    const wanted = MOST_BYTES - this.#bytes;
    if (part.length > wanted) this.isWhole = false;
    if (wanted <= 0) return;
    this.#parts.push(Uint8Array.prototype.slice.call(part, 0, wanted));
    this.#bytes += Math.min(wanted, part.length);
  }

  /** An element whose child is the root element, with all that is complete. undefined: there is no root element. */
  document(names: NameTable, { name, maxRecordBytes }: Pick<XmlOptions, 'name' | 'maxRecordBytes'>): Element | undefined {
    const tree = new TreeSink();
    const scanner = new XmlScanner(tree, names, name, maxRecordBytes);
    scanner.push(Buffer.concat(this.#parts));
    try {
      scanner.scan();
    } catch (error) {
      // The reader of the document has reported it.
      if (!(error instanceof Fault)) throw error;
    }
    return tree.document;
  }
}

class TreeSink implements XmlSink {
  readonly wantsText = true;
  document: Element | undefined;
  #open: Element | undefined;

  open(name: Name, attributes: Attributes): void {
    this.document ??= new Element(name, NO_ATTRIBUTES, null);
    const parent = this.#open ?? this.document;
    const element = new Element(name, attributes, parent);
    parent.addNode(element);
    this.#open = element;
  }

  text(text: string): void {
    this.#open?.addText(text);
  }

  commentOrInstruction(): void {}

  close(): void {
    this.#open = this.#open?.parent ?? undefined;
  }

  recordAt(): number | undefined {
    return undefined;
  }
}
