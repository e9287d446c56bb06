/** The beginning of an XML document as a tree. */
import { fromBytes } from '../core/text.ts';
import type { DocumentSample, Members, Tree } from '../infer/sample.ts';
import { toUtf8 } from '../sources/encoding.ts';
import type { TextOptions } from '../sources/source.ts';
import { declaredEncoding } from '../sources/xml/declared-encoding.ts';
import { type Name, NameTable } from '../sources/xml/names.ts';
import { XmlScanner } from '../sources/xml/parse/scanner.ts';
import type { Attributes, XmlSink } from '../sources/xml/tree.ts';
import { beginningOf, type Ending, faultBehind } from './beginning.ts';
import type { SampleOptions } from './options.ts';

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
/** Its attributes are for validators. */
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';
/** A text of which only its kind matters. */
const MAX_TEXT = 4096;
const MAX_DEPTH = 200;

interface Open {
  readonly name: string;
  readonly attributes: readonly (readonly [string, string])[];
  readonly children: Map<string, Tree[]>;
  /** All text within, as XPath's string value; its beginning. */
  text: string;
  /** Text that is not white space stands beside its elements. */
  hasText: boolean;
}

/** @throws Fault source/malformed, source/encoding, limit/exceeded */
export async function sampleXml(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  options: Pick<SampleOptions, 'records' | 'bytes' | 'maxRecordBytes' | 'encoding' | 'dialect'> & Ending & Pick<TextOptions, 'served'>,
): Promise<Pick<DocumentSample, 'root' | 'isWhole' | 'fault'> & { readonly namespaces: ReadonlyMap<string, string> }> {
  const { records, bytes, maxRecordBytes, encoding, served, dialect } = options;
  const beginning = await beginningOf(toUtf8(chunks, encoding, declaredEncoding, name, 'XML', served), bytes);
  const sink = new TreeSink(records, dialect === 'rml');
  const scanner = new XmlScanner(sink, new NameTable(), name, maxRecordBytes, MAX_DEPTH);
  scanner.push(beginning.bytes);
  if (beginning.isWhole) scanner.end();
  const { namespaces } = sink;
  try {
    scanner.scan();
    return { root: sink.root(), isWhole: beginning.isWhole && sink.isAll, namespaces };
  } catch (error) {
    const root = sink.root();
    return { root, isWhole: false, namespaces, fault: faultBehind(error, options, root.members.size > 0) };
  }
}

class TreeSink implements XmlSink {
  readonly wantsText = true;
  /** Prefix → IRI of the namespaces that names have. */
  readonly namespaces = new Map<string, string>();
  /** No element was left out. */
  isAll = true;
  readonly #records: number;
  /** Whether the mapping can declare prefixes. */
  readonly #declares: boolean;
  readonly #prefixes = new Map<string, string>();
  readonly #document: Open = { name: '', attributes: [], children: new Map(), text: '', hasText: false };
  readonly #open: Open[] = [this.#document];

  constructor(records: number, declares: boolean) {
    this.#records = records;
    this.#declares = declares;
  }

  open(name: Name, attributes: Attributes): void {
    const all: [string, string][] = [];
    for (let i = 0; i < attributes.length; i += 2) {
      const attribute = attributes[i] as Name;
      if (attribute.uri !== SCHEMA_INSTANCE) all.push([`@${this.#nameOf(attribute)}`, fromBytes(attributes[i + 1] as string)]);
    }
    this.#open.push({ name: this.#nameOf(name), attributes: all, children: new Map(), text: '', hasText: false });
  }

  text(text: string): void {
    const top = this.#open.at(-1) as Open;
    if (/[^ \t\n\r]/.test(text)) top.hasText = true;
    if (top.text.length < MAX_TEXT) top.text += fromBytes(text);
  }

  commentOrInstruction(): void {}

  close(): void {
    const element = this.#open.pop() as Open;
    const parent = this.#open.at(-1) as Open;
    const siblings = parent.children.get(element.name) ?? [];
    if (siblings.length < this.#records) siblings.push(treeOf(element));
    else this.isAll = false;
    parent.children.set(element.name, siblings);
    if (parent.text.length < MAX_TEXT) parent.text += element.text;
  }

  recordAt(): undefined {
    return undefined;
  }

  /**
   * The document as an object with the root element. An element that is still open counts where it is the first of its name, since it leads
   * to what is complete; another one would look as if it lacked members.
   */
  root(): Members {
    while (this.#open.length > 1) {
      const parent = this.#open.at(-2) as Open;
      if (parent.children.has((this.#open.at(-1) as Open).name)) this.#open.pop();
      else this.close();
    }
    return { members: membersOf(this.#document.children) };
  }

  /** With a prefix that stands for one namespace in the whole document, or for any namespace where the mapping can declare none. */
  #nameOf({ uri, prefix, local }: Name): string {
    const name = fromBytes(local);
    if (uri === '') return name;
    if (uri === XML_NAMESPACE) return `xml:${name}`;
    if (!this.#declares) return `*:${name}`;
    const known = this.#prefixes.get(uri);
    if (known !== undefined) return `${known}:${name}`;
    const wanted = prefix === '' ? 'd' : fromBytes(prefix);
    let free = wanted;
    for (let i = 2; this.namespaces.has(free); i++) free = `${wanted}${i}`;
    this.#prefixes.set(uri, free);
    this.namespaces.set(free, fromBytes(uri));
    return `${free}:${name}`;
  }
}

/** Text among elements is prose: the text of all counts, and no element within it. */
function treeOf({ attributes, children, text, hasText }: Open): Tree {
  if (children.size > 0 && !hasText) return { members: new Map([...attributes, ...membersOf(children)]) };
  if (attributes.length === 0) return text;
  return { members: new Map<string, Tree>([...(text === '' && children.size === 0 ? [] : [['.', text] as const]), ...attributes]) };
}

const membersOf = (children: ReadonlyMap<string, readonly Tree[]>): ReadonlyMap<string, Tree> =>
  new Map([...children].map(([name, trees]) => [name, trees.length === 1 ? (trees[0] as Tree) : trees]));
