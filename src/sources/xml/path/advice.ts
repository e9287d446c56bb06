/**
 * What to write in the place of a path that finds nothing in XML: another case, another namespace, an attribute, an element that stands deeper.
 * Proposals are tried on the beginning of the document, and given only where they find something.
 */
import { nearest } from '../../../core/nearest.ts';
import { fromBytes } from '../../../core/text.ts';
import type { NamePattern, Path, Predicate, Step, Target } from '../../../paths/xml/path.ts';
import type { Name } from '../names.ts';
import { Element, visitBelow } from '../tree.ts';
import { type Bind, compileSelect } from './walk.ts';

/** Elements of each step that are looked at. */
const MOST_NODES = 200;
const MOST_NAMES = 8;
/** Corrections of one path, besides namespaces. */
const MOST_MENDS = 2;

/** Any two shorter names are similar. */
const LEAST_SIMILAR = 3;

type Elements = readonly Element[];
type Rest = Pick<Path, 'steps' | 'target'>;

/** A path that finds something, and why the one that was written does not. */
interface Mended extends Rest {
  /** Of the first correction. undefined: there is none. */
  readonly reason: string | undefined;
  /** The first name that is in another namespace than the path says. */
  readonly namespaced: Name | undefined;
}

export interface Advice {
  readonly text: string;
  /** The text is a path, which names this one in another namespace. */
  readonly namespaced: Name | undefined;
}

/**
 * @param path relative to `elements`, or absolute with the document as the only element
 * @param isWhole whether the elements are complete
 */
export function adviceOn(path: Path, elements: Elements, bind: Bind, isWhole: boolean): Advice | undefined {
  if (elements.length === 0) return undefined;
  const mended = mend(elements, path, bind, MOST_MENDS);
  if (mended === undefined) return { text: ending(path, elements, bind, isWhole), namespaced: undefined };
  const written = pathText({ ...path, ...mended });
  if (mended.reason !== undefined) return { text: `${mended.reason}: write ${written}`, namespaced: undefined };
  return mended.namespaced === undefined ? undefined : { text: written, namespaced: mended.namespaced };
}

/** Whether the path finds a node as it is written. */
export function hasNode(path: Path, elements: Elements, bind: Bind): boolean {
  const found = path.steps.reduce((here, step) => find(here, step, bind), elements);
  const same = found.length === 0 ? undefined : mendTarget(found, path.target, bind, 0);
  return same !== undefined;
}

// ---------------------------------------------------------------- corrections

function mend(elements: Elements, path: Rest, bind: Bind, mends: number): Mended | undefined {
  const [step, ...steps] = path.steps;
  if (step === undefined) return mendTarget(elements, path.target, bind, mends);
  const rest = { ...path, steps };
  const found = find(elements, step, bind);
  if (found.length > 0) {
    const further = mend(found, rest, bind, mends);
    return further && behind([step], further);
  }
  return (
    byName(elements, step, rest, bind, mends, alike) ??
    (mends === 0
      ? undefined
      : (asAttribute(elements, step, rest) ??
        ofRecord(elements, [step, ...steps], rest, bind, mends) ??
        deeper(elements, step, rest, bind) ??
        byName(elements, step, rest, bind, mends, similar)))
  );
}

const behind = (steps: readonly Step[], further: Mended, own: Partial<Pick<Mended, 'reason' | 'namespaced'>> = {}): Mended => ({
  steps: [...steps, ...further.steps],
  target: further.target,
  reason: own.reason ?? further.reason,
  namespaced: own.namespaced ?? further.namespaced,
});

/** @param among which of the names are tried */
function byName(elements: Elements, step: Step, rest: Rest, bind: Bind, mends: number, among: Candidates): Mended | undefined {
  const { local } = step.name;
  if (local === undefined) return undefined;
  const names = namesOf(elements, step.descendant);
  for (const name of among(local, names)) {
    const isNamespace = fromBytes(name.local) === local;
    if (!isNamespace && mends === 0) continue;
    const other = { ...step, name: patternOf(name, step.name, bind) };
    const found = find(elements, other, bind);
    const further = found.length === 0 ? undefined : mend(found, rest, bind, isNamespace ? mends : mends - 1);
    if (further === undefined) continue;
    return behind([other], further, isNamespace ? { namespaced: name } : { reason: reasonFor(local, name, '<>') });
  }
  return undefined;
}

/** `id` for `@id`. */
function asAttribute(elements: Elements, { name, predicates, descendant }: Step, { steps, target }: Rest): Mended | undefined {
  if (steps.length > 0 || target.kind === 'attribute' || predicates.length > 0 || descendant) return undefined;
  const attribute = attributesOf(elements).find((one) => fromBytes(one.local) === name.local);
  if (attribute === undefined) return undefined;
  const reason = `${fromBytes(attribute.raw)} is an attribute`;
  return { steps: [], target: { kind: 'attribute', name: attributePattern(attribute) }, reason, namespaced: undefined };
}

/** A path that begins with the record itself, or with an element around it. */
function ofRecord(elements: Elements, steps: readonly Step[], rest: Rest, bind: Bind, mends: number): Mended | undefined {
  for (let count = 1; count <= steps.length; count++) {
    if (!elements.every((element) => leadTo(element, steps.slice(0, count), bind))) continue;
    const further = mend(elements, { ...rest, steps: steps.slice(count) }, bind, mends - 1);
    if (further !== undefined) return behind([], further, { reason: 'A reference begins within the record' });
  }
  return undefined;
}

/** Whether the steps name the element and those around it, in any namespace. */
function leadTo(element: Element, steps: readonly Step[], bind: Bind): boolean {
  let up = element;
  for (const { descendant, name } of steps.toReversed()) {
    if (descendant || up.parent === null) return false;
    if (fromBytes(up.name.local) !== name.local && !bind(name)(up.name)) return false;
    up = up.parent;
  }
  return true;
}

/** An element of that name further down. */
function deeper(elements: Elements, step: Step, rest: Rest, bind: Bind): Mended | undefined {
  if (step.descendant || step.name.local === undefined) return undefined;
  const below = { ...step, descendant: true };
  for (const found of find(elements, below, bind).slice(0, MOST_NODES)) {
    const between: Step[] = [];
    for (let up = found.parent; up !== null && !elements.includes(up); up = up.parent)
      between.unshift({ descendant: false, name: patternOf(up.name, { prefix: '', local: '' }, bind), predicates: [] });
    const further = mend([found], rest, bind, 0);
    if (further !== undefined) return behind([...between, step], further, { reason: `<${fromBytes(found.name.raw)}> stands deeper` });
  }
  return undefined;
}

function mendTarget(elements: Elements, target: Target, bind: Bind, mends: number): Mended | undefined {
  const same = { steps: [], target, reason: undefined, namespaced: undefined };
  if (target.kind === 'element') return same;
  if (target.kind === 'text') return elements.some(hasText) ? same : undefined;
  const test = bind(target.name);
  const names = attributesOf(elements);
  if (names.some(test)) return same;
  const { local } = target.name;
  if (local === undefined || mends === 0) return undefined;
  const [attribute] = [...alike(local, names), ...similar(local, names)];
  if (attribute !== undefined) {
    const isNamespace = fromBytes(attribute.local) === local;
    const reason = isNamespace ? `The attribute is ${fromBytes(attribute.raw)}` : reasonFor(local, attribute, '');
    return { steps: [], target: { kind: 'attribute', name: attributePattern(attribute) }, reason, namespaced: undefined };
  }
  const child = namesOf(elements, false).find((name) => fromBytes(name.local) === local);
  if (child === undefined) return undefined;
  const step = { descendant: false, name: patternOf(child, { prefix: '', local }, bind), predicates: [] };
  return { steps: [step], target: { kind: 'element' }, reason: `<${fromBytes(child.raw)}> is an element`, namespaced: undefined };
}

type Candidates = (local: string, names: readonly Name[]) => readonly Name[];

/** Names in another namespace, then those in other letters. */
const alike: Candidates = (local, names) => {
  const isSame = (name: Name): boolean => fromBytes(name.local) === local;
  return [...names.filter(isSame), ...names.filter((name) => !isSame(name) && fold(fromBytes(name.local)) === fold(local))];
};

const similar: Candidates = (local, names) => {
  const texts = names.map((name) => fromBytes(name.local));
  const near = local.length < LEAST_SIMILAR ? [] : nearest(local, texts, 2);
  return names.filter((_, i) => near.includes(texts[i] as string));
};

/** Without case and signs. */
const fold = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

function reasonFor(local: string, name: Name, brackets: '<>' | ''): string {
  const raw = fromBytes(name.raw);
  if (fromBytes(name.local).toLowerCase() === local.toLowerCase()) return 'Upper and lower case count';
  return `There is ${brackets === '' ? `an attribute ${raw}` : `<${raw}>`}`;
}

/** As the path writes names, if that means this one; else in any namespace. */
function patternOf(name: Name, like: NamePattern, bind: Bind): NamePattern {
  const local = fromBytes(name.local);
  const same = { ...like, local };
  const isKnown = like.prefix === undefined || like.prefix === '' || bind(like)(name) || bind(same)(name);
  if (isKnown && bind(same)(name)) return same;
  return { prefix: undefined, local };
}

const attributePattern = (name: Name): NamePattern => {
  const local = fromBytes(name.local);
  if (name.uri === '') return { prefix: '', local, ofAttribute: true };
  return { prefix: name.prefix === 'xml' ? 'xml' : undefined, local };
};

// ---------------------------------------------------------------- where a path ends

function ending(path: Path, elements: Elements, bind: Bind, isWhole: boolean): string {
  let here = elements;
  const passed: Step[] = [];
  for (const step of path.steps) {
    const found = find(here, step, bind);
    if (found.length === 0) {
      if (here.every(({ parent }) => parent === null)) {
        const root = rawOf(here[0] as Element);
        const page = root.endsWith('html') ? ': it is an HTML page, perhaps of a login or an error' : '';
        return `The root element of the document is <${root}>${page}`;
      }
      const unfiltered = step.predicates.length > 0 && find(here, { ...step, predicates: [] }, bind).length > 0;
      if (unfiltered) return `${endsAt(path, passed)}: nothing passes ${predicatesText(step.predicates)}`;
      const other = namesOf(here, step.descendant).find(({ local }) => fromBytes(local) === step.name.local);
      if (other !== undefined) {
        const namespace = other.uri === '' ? 'no namespace' : `the namespace ${fromBytes(other.uri)}`;
        const written = nameText(patternOf(other, step.name, bind));
        return `${endsAt(path, passed)}, where <${fromBytes(other.raw)}> is in ${namespace}: write ${written} for it`;
      }
      return `${endsAt(path, passed)}, ${contentOf(here, isWhole)}`;
    }
    here = found;
    passed.push(step);
  }
  if (path.target.kind === 'text') return `${endsAt(path, passed)}, which has no text outside of its elements`;
  return `${endsAt(path, passed)}, ${listOf('attribute', attributesOf(here), isWhole, (name) => name)}`;
}

const rawOf = ({ name }: Element): string => fromBytes(name.raw);

const endsAt = (path: Path, steps: readonly Step[]): string =>
  steps.length === 0 && path.ups === 0
    ? 'The path ends at the record'
    : `The path ends at ${pathText({ ...path, steps, target: { kind: 'element' } })}`;

const contentOf = (elements: Elements, isWhole: boolean): string =>
  listOf('child', namesOf(elements, false), isWhole, (name) => `<${name}>`);

function listOf(what: 'child' | 'attribute', names: readonly Name[], isWhole: boolean, shown: (name: string) => string): string {
  const [one, several] = what === 'child' ? ['child', 'children'] : ['attribute', 'attributes'];
  if (names.length === 0) return what === 'child' ? 'which has no child elements' : 'which has no attributes';
  const texts = [...new Set(names.map((name) => shown(fromBytes(name.raw))))];
  const more = texts.length > MOST_NAMES || !isWhole ? ', …' : '';
  return `which has the ${texts.length === 1 ? one : several} ${texts.slice(0, MOST_NAMES).join(', ')}${more}`;
}

// ---------------------------------------------------------------- elements, names and text

const TO_ELEMENTS = { absolute: false, ups: 0, target: { kind: 'element' } } as const;

export function find(elements: Elements, step: Step, bind: Bind): Elements {
  const select = compileSelect({ ...TO_ELEMENTS, steps: [step] }, bind);
  const found: Element[] = [];
  for (const element of elements) {
    for (const one of select(element)) found.push(one);
    if (found.length >= MOST_NODES) break;
  }
  return found.slice(0, MOST_NODES);
}

function namesOf(elements: Elements, deep: boolean): readonly Name[] {
  const names = new Set<Name>();
  const add = (node: unknown): void => {
    if (node instanceof Element) names.add(node.name);
  };
  for (const element of elements) {
    if (deep) visitBelow(element, add);
    else for (let child = element.first; child !== null; child = child.next) add(child);
  }
  return [...names].slice(0, MOST_NODES);
}

const attributesOf = (elements: Elements): readonly Name[] => [
  ...new Set(elements.flatMap(({ attributes }) => attributes.filter((one): one is Name => typeof one !== 'string'))),
];

const hasText = (element: Element): boolean => element.text !== '' || element.first !== null;

function pathText({ absolute, ups, steps, target }: Path): string {
  const parts = steps.map(({ descendant, name, predicates }, i) => {
    const joint = i === 0 ? (absolute ? (descendant ? '//' : '/') : descendant ? './/' : '') : descendant ? '//' : '/';
    return `${joint}${nameText(name)}${predicatesText(predicates)}`;
  });
  const up = Array.from({ length: ups }, () => '..').join('/');
  const path = `${up}${up !== '' && parts.length > 0 ? '/' : ''}${parts.join('')}`;
  if (target.kind === 'element') return path === '' ? (absolute ? '/' : '.') : path;
  return `${path}${path === '' ? '' : '/'}${target.kind === 'text' ? 'text()' : `@${nameText(target.name)}`}`;
}

function nameText({ prefix, local }: NamePattern): string {
  if (prefix === undefined) return local === undefined ? '*' : `*:${local}`;
  return prefix === '' ? (local ?? '*') : `${prefix}:${local ?? '*'}`;
}

const predicatesText = (predicates: readonly Predicate[]): string => predicates.map(predicateText).join('');

function predicateText(predicate: Predicate): string {
  if (predicate.kind === 'position') return `[${predicate.position}]`;
  const { name, value } = predicate;
  if (value === undefined) return `[@${nameText(name)}]`;
  const text = fromBytes(value);
  const quote = text.includes("'") ? '"' : "'";
  return `[@${nameText(name)}=${quote}${text}${quote}]`;
}
