/**
 * Full XPath 3.1, for expressions that `path/path.ts` does not cover. It evaluates with the library fontoxpath.
 *
 * The library walks over views of the light tree that are created on demand, so the cost of a record depends on what the expression visits.
 * Views hold characters; results are bytes again.
 */
import fontoxpath from 'fontoxpath';
import { excerpt, Fault, type FaultPlace } from '../../../core/fault.ts';
import { fromBytes, toBytes } from '../../../core/text.ts';
import { reasonOf } from '../../../paths/problem.ts';
import { withAnyNamespace } from '../../../paths/xml/path.ts';
import { findXPathProblem, libraryMessage, type ResolvePrefix } from '../../../paths/xml/syntax.ts';
import type { Name } from '../names.ts';
import { type Child, Element, Text } from '../tree.ts';

/** The string values of the items that an expression returns for a node: null for none. */
export type Evaluate = (node: View) => null | string | string[];

/** The library's regular expressions and `parse-json` work on code units, not characters. */
const HALF_A_CHARACTER = /\p{Surrogate}/u;

const { evaluateXPath, ReturnType } = fontoxpath;

/**
 * Compiles an expression whose items are returned as strings.
 *
 * @throws Fault mapping/reference — not valid XPath, or an unknown prefix or function. The function itself throws Fault record/term if the
 * expression fails on a record
 */
export function compileXPath(expression: string, resolve: ResolvePrefix, place: FaultPlace): Evaluate {
  const selector = `(${checked(expression, resolve, place)}\n) ! string(.)`;
  const options = { namespaceResolver: resolver(resolve) };
  return (node) => {
    let values: string[];
    try {
      values = evaluateXPath(selector, node, null, null, ReturnType.STRINGS, options) as string[];
    } catch (error) {
      throw failed(error, place);
    }
    if (values.length === 0) return null;
    const halved = values.find((value) => HALF_A_CHARACTER.test(value));
    if (halved !== undefined) {
      throw new Fault('record/term', 'The XPath expression gives half of a surrogate pair, which is no character', {
        place: { ...place, value: excerpt(halved) },
        hint: 'In regular expressions a character beyond U+FFFF counts as two: match it by a range or by itself, not by a point',
      });
    }
    return values.length === 1 ? toBytes(values[0] as string) : values.map(toBytes);
  };
}

/**
 * The nodes that an iterator selects, in its order.
 *
 * @throws Fault mapping/reference — not XPath, or its items are not nodes
 */
export function selectNodes(expression: string, document: View, resolve: ResolvePrefix, place: FaultPlace): View[] {
  const iterator = checked(expression, resolve, place);
  try {
    return evaluateXPath(iterator, document, null, null, ReturnType.NODES, { namespaceResolver: resolver(resolve) }) as unknown as View[];
  } catch (error) {
    if (error instanceof RangeError) throw failed(error, place);
    throw new Fault('mapping/reference', `The iterator does not give nodes: ${libraryMessage(error)}`, { place, cause: error });
  }
}

/** The nodes that an expression returns for a node, in its order. */
export type EvaluateNodes = (node: View) => View[];

/**
 * Compiles an iterator that is evaluated on records.
 *
 * @throws Fault mapping/reference — not valid XPath, or an unknown prefix or function. The function itself throws it if the items are not
 * nodes, and Fault record/term if the expression fails on a record
 */
export function compileNodes(expression: string, resolve: ResolvePrefix, place: FaultPlace): EvaluateNodes {
  const iterator = checked(expression, resolve, place);
  const options = { namespaceResolver: resolver(resolve) };
  return (node) => {
    try {
      return evaluateXPath(iterator, node, null, null, ReturnType.NODES, options) as unknown as View[];
    } catch (error) {
      if (!NOT_NODES.test(String(error))) throw failed(error, place);
      throw new Fault('mapping/reference', `The iterator does not give nodes: ${libraryMessage(error)}`, { place, cause: error });
    }
  };
}

/** The library's message for a result that has other items than nodes. */
const NOT_NODES = /to resolve to a sequence of Nodes/i;

/** The expression as the library takes it, checked before there is a record. */
function checked(written: string, resolve: ResolvePrefix, place: FaultPlace): string {
  const expression = withAnyNamespace(written);
  const problem = findXPathProblem(expression, resolve);
  if (problem === undefined) return expression;
  const { hint } = problem;
  throw new Fault('mapping/reference', `The XPath expression is not valid: ${reasonOf(problem)}`, {
    place,
    ...(hint === undefined ? {} : { hint }),
  });
}

const resolver = (resolve: ResolvePrefix) => (prefix: string) => resolve(prefix) ?? null;

function failed(error: unknown, place: FaultPlace): Fault {
  if (error instanceof RangeError) {
    return new Fault('limit/exceeded', 'The record is nested too deeply for this XPath expression', { place, cause: error });
  }
  return new Fault('record/term', `The XPath expression fails for a record: ${libraryMessage(error)}`, { place, cause: error });
}

// ---- views: the part of the DOM that the library uses

export type View = DocumentView | ElementView | AttributeView | CharacterView;

/** The last view is cached: the references of one record are evaluated one after the other. */
let latest: ElementView | undefined;

/** A record of a streaming iteration as a node: its subtree, and its ancestors with attributes but without other content. */
export function viewOf(record: Element): ElementView {
  if (latest?.element === record) return latest;
  const view = new ElementView(record);
  latest = view;
  let child = view;
  for (let up = record.parent; up !== null; up = up.parent) {
    const parent = new ElementView(up, [child]);
    child.parentNode = parent;
    child = parent;
  }
  child.parentNode = new DocumentView(child);
  return view;
}

abstract class ParentView {
  abstract readonly childNodes: readonly (ElementView | CharacterView)[];

  get firstChild(): ElementView | CharacterView | null {
    return this.childNodes[0] ?? null;
  }

  get lastChild(): ElementView | CharacterView | null {
    return this.childNodes[this.childNodes.length - 1] ?? null;
  }
}

export class DocumentView extends ParentView {
  readonly nodeType = 9;
  readonly nodeName = '#document';
  readonly parentNode = null;
  readonly nextSibling = null;
  readonly previousSibling = null;
  readonly childNodes: readonly ElementView[];

  constructor(root: ElementView | null) {
    super();
    this.childNodes = root === null ? [] : [root];
    if (root !== null) root.parentNode = this;
  }

  get documentElement(): ElementView | null {
    return this.childNodes[0] ?? null;
  }
}

/** A node with a qualified name. */
abstract class NamedView extends ParentView {
  readonly #names: CharacterName;

  constructor(name: Name) {
    super();
    this.#names = characterName(name);
  }

  get nodeName(): string {
    return this.#names.raw;
  }
  get localName(): string {
    return this.#names.local;
  }
  get prefix(): string | null {
    return this.#names.prefix;
  }
  get namespaceURI(): string | null {
    return this.#names.uri;
  }
}

export class ElementView extends NamedView {
  readonly nodeType = 1;
  readonly element: Element;
  parentNode: ElementView | DocumentView | null = null;
  /** Position among the parent's children. */
  index = 0;
  #attributes: readonly AttributeView[] | undefined;
  #children: readonly (ElementView | CharacterView)[] | undefined;

  constructor(element: Element, children?: readonly ElementView[]) {
    super(element.name);
    this.element = element;
    this.#children = children;
  }

  get attributes(): readonly AttributeView[] {
    if (this.#attributes !== undefined) return this.#attributes;
    const views: AttributeView[] = [];
    const { attributes } = this.element;
    for (let i = 0; i < attributes.length; i += 2) views.push(new AttributeView(this, attributes[i] as Name, attributes[i + 1] as string));
    this.#attributes = views;
    return views;
  }

  getAttribute(name: string): string | null {
    return this.attributes.find((attribute) => attribute.name === name)?.value ?? null;
  }

  get childNodes(): readonly (ElementView | CharacterView)[] {
    if (this.#children !== undefined) return this.#children;
    const { first, text } = this.element;
    const children: (ElementView | CharacterView)[] = [];
    if (first === null && text !== '') children.push(new CharacterView(3, this, 0, text, '#text'));
    for (let child = first; child !== null; child = child.next) children.push(childView(this, child, children.length));
    this.#children = children;
    return this.#children;
  }

  get nextSibling(): ElementView | CharacterView | null {
    return this.parentNode?.childNodes[this.index + 1] ?? null;
  }
  get previousSibling(): ElementView | CharacterView | null {
    return this.parentNode?.childNodes[this.index - 1] ?? null;
  }
}

function childView(parent: ElementView, child: Child, index: number): ElementView | CharacterView {
  if (child instanceof Element) {
    const view = new ElementView(child);
    view.parentNode = parent;
    view.index = index;
    return view;
  }
  if (child instanceof Text) return new CharacterView(3, parent, index, child.text, '#text');
  return new CharacterView(child.target === undefined ? 8 : 7, parent, index, child.text, child.target ?? '#comment');
}

class AttributeView extends NamedView {
  readonly nodeType = 2;
  readonly ownerElement: ElementView;
  readonly parentNode = null;
  readonly nextSibling = null;
  readonly previousSibling = null;
  readonly childNodes = [];
  readonly value: string;

  constructor(owner: ElementView, name: Name, value: string) {
    super(name);
    this.ownerElement = owner;
    this.value = fromBytes(value);
  }

  get name(): string {
    return this.nodeName;
  }
}

/** Text, comment or processing instruction. */
class CharacterView {
  readonly nodeType: 3 | 7 | 8;
  readonly nodeName: string;
  readonly parentNode: ElementView;
  readonly childNodes = [];
  readonly firstChild = null;
  readonly lastChild = null;
  readonly #index: number;
  readonly #bytes: string;

  constructor(nodeType: 3 | 7 | 8, parent: ElementView, index: number, bytes: string, nodeName: string) {
    this.nodeType = nodeType;
    this.nodeName = nodeName;
    this.parentNode = parent;
    this.#index = index;
    this.#bytes = bytes;
  }

  get data(): string {
    return fromBytes(this.#bytes);
  }
  get target(): string {
    return fromBytes(this.nodeName);
  }
  get nextSibling(): ElementView | CharacterView | null {
    return this.parentNode.childNodes[this.#index + 1] ?? null;
  }
  get previousSibling(): ElementView | CharacterView | null {
    return this.parentNode.childNodes[this.#index - 1] ?? null;
  }
}

interface CharacterName {
  readonly raw: string;
  readonly local: string;
  readonly prefix: string | null;
  readonly uri: string | null;
}

const characterNames = new WeakMap<Name, CharacterName>();

function characterName(name: Name): CharacterName {
  let known = characterNames.get(name);
  if (known === undefined) {
    const prefix = name.prefix === '' ? null : fromBytes(name.prefix);
    known = { raw: fromBytes(name.raw), local: fromBytes(name.local), prefix, uri: name.uri === '' ? null : fromBytes(name.uri) };
    characterNames.set(name, known);
  }
  return known;
}
