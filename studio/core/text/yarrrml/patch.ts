/**
 * What a drawn change means for a text of YARRRML that the studio has not printed: edits of the values, items and keys that have changed, and of
 * nothing else. The edited text is read again, and says what is drawn and what was kept, or the change is refused.
 */

import { isScalar, isSeq, type Node, type Scalar, visit, type YAMLSeq } from 'yaml';
import { type SaidObject, type SaidPair, valueOfObject, valueOfPair, yamlOf } from '../../../../src/mapping/convert/yarrrml.ts';
import { fieldsOf, type Value } from '../../../../src/mapping/convert/yarrrml-terms.ts';
import { loadReading } from '../../../../src/mapping/parse/read.ts';
import { headOf, PREDEFINED } from '../../../../src/mapping/yarrrml/prefixes.ts';
import type { Anchor, Id, StudioDocument } from '../../document.ts';
import { baseOf, partId } from '../../elements/base.ts';
import { nameOf } from '../../elements/names.ts';
import { recordOf, recordsOf, sameModel } from '../../elements/records.ts';
import { edited, type TextEdit } from '../../history/edits.ts';
import type { Refusal } from '../../rules/verdict.ts';
import { stop, Unpatched } from '../unpatched.ts';
import { indented, keyOfValue, YamlEdits } from './edits.ts';
import { type SaidDocument, type SaidPart, type SaidText, saidByText, saidOf } from './said.ts';
import { type MappingNode, type PairNode, pairsOf, textOf, YarrrmlTree } from './tree.ts';

/** What a patch needs: commands do not wait. */
export const loadPatch = (): Promise<void> => loadReading();

/**
 * The edits that bring the text of `before` up to date with what `after` means. None: the text says it already.
 *
 * @throws Error — `loadPatch` has not ended
 */
export function patchYarrrml(before: StudioDocument, after: StudioDocument): readonly TextEdit[] | Refusal {
  if (sameModel(before, after)) return [];
  try {
    return new Patch(before, after, false).edits();
  } catch (error) {
    if (!(error instanceof Unpatched)) throw error;
    // What the text says in another way than it would be written is written anew.
    try {
      return new Patch(before, after, true).edits();
    } catch (second) {
      if (second instanceof Unpatched) return error.refusal;
      throw second;
    }
  }
}

/** What was found out for the last command: the document after it is the one before the next. */
interface Known {
  readonly prefixes: string;
  readonly said: SaidDocument;
  readonly text: string;
  readonly byText: SaidText;
}

const known = new WeakMap<StudioDocument['records'], Known>();

/** An edge in the text: its object, in its predicate object. */
interface Place {
  readonly pair: PairNode;
  readonly object: Node;
}

class Patch {
  readonly #before: StudioDocument;
  readonly #after: StudioDocument;
  /** Whether what has changed is written as a whole. */
  readonly #isWhole: boolean;
  readonly #tree: YarrrmlTree;
  readonly #edits: YamlEdits;
  readonly #declared: string;
  readonly #old: SaidDocument;
  readonly #new: SaidDocument;
  /** Items to be removed, by their list; of one that stands alone, the key that leads to it. */
  readonly #removed = new Map<MappingNode, Map<PairNode, Set<Node>>>();

  constructor(before: StudioDocument, after: StudioDocument, isWhole: boolean) {
    this.#before = before;
    this.#after = after;
    this.#isWhole = isWhole;
    if (before.language !== after.language || before.base !== after.base) stop('The language of a text is changed by converting it.');
    this.#tree = YarrrmlTree.of(before.text.text) ?? stop('The text has an error. Correct it there first.');
    this.#edits = new YamlEdits(this.#tree);
    const prefixes = this.#prefixes();
    const named = (id: string): string => this.#tree.nameOf(id);
    this.#declared = JSON.stringify([...prefixes]);
    const last = known.get(before.records);
    this.#old = last?.prefixes === this.#declared ? last.said : saidOf(before, prefixes, named);
    this.#new = saidOf(after, prefixes, named);
  }

  edits(): readonly TextEdit[] {
    const said = new Set(this.#old.errors);
    const error = this.#new.errors.find((one) => !said.has(one));
    if (error !== undefined) stop(`The language of the text cannot say this: ${error}.`);
    this.#changeSources();
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      if (next === undefined) this.#removePart(part);
      else if (!sameSaid(old, next)) this.#changePart(this.#mappingOf(part), old, next);
    }
    for (const [mapping, removed] of this.#removed) this.#removeFrom(mapping, removed);
    for (const [part, next] of this.#new.parts) if (!this.#old.parts.has(part)) this.#addPart(part, next);
    const { edits } = this.#edits;
    const ordered = [...edits].sort((a, b) => a.from - b.from || a.to - b.to);
    if (ordered.some((edit, i) => i > 0 && edit.from < (ordered[i - 1] as TextEdit).to))
      stop('These changes touch one place of the text. Make them one after the other.');
    this.#check(edits);
    return edits;
  }

  /** The edited text says what is drawn, and what was kept. */
  #check(edits: readonly TextEdit[]): void {
    const { text } = this.#before.text;
    const last = known.get(this.#before.records);
    const old = last?.text === text ? last.byText : saidByText(text);
    const after = edited(this.#before.text, edits).text;
    const now = saidByText(after);
    const said = new Set(old.errors);
    const error = now.errors.find((one) => !said.has(one));
    if (error !== undefined) stop(`The text would have an error: ${error}. Change it in the text.`);
    const drawn = new Set(this.#old.patterns);
    const wanted = new Set([...old.patterns.filter((one) => !drawn.has(one)), ...this.#new.patterns]);
    if (now.patterns.length !== wanted.size || now.patterns.some((one) => !wanted.has(one)))
      stop('The text says this together with something else, such as a value that is used twice. Change it in the text.');
    known.set(this.#after.records, { prefixes: this.#declared, said: this.#new, text: after, byText: now });
  }

  // ---------------------------------------------------------------- prefixes

  /** Of what the text declares after the edits; they are edited on the way. */
  #prefixes(): ReadonlyMap<string, string> {
    const [old, next] = [this.#before, this.#after].map((document) => new Map(recordsOf(document, 'prefix').map((one) => [one.id, one])));
    const node = this.#tree.keys.get('prefixes');
    const map = node?.value != null && 'items' in node.value ? (node.value as MappingNode['map']) : undefined;
    const written = new Map(
      (map === undefined ? [] : pairsOf(map)).flatMap((pair) => (isScalar(pair.key) ? [[textOf(pair.key), pair] as const] : [])),
    );
    const declared = new Map([...written].flatMap(([name, { value }]) => (isScalar(value) ? [[name, textOf(value)] as const] : [])));
    for (const [id, { name, iri }] of next as NonNullable<typeof next>) {
      const was = old?.get(id);
      if (was?.name === name && was.iri === iri) continue;
      if (was !== undefined && was.iri !== iri) stop(`The prefix ${was.name} is used in the text. Add another one instead.`);
      if (was === undefined) {
        if (map !== undefined) this.#edits.addKey(map, name, iri);
        else this.#edits.insert(this.#tree.root.range?.[0] ?? 0, `prefixes:\n  ${name}: ${yamlOf(iri, 'value')}\n`);
      } else this.#renamePrefix(was.name, name, written.get(was.name)?.key, declared);
      declared.delete(was?.name ?? '');
      declared.set(name, iri);
    }
    for (const [id, { name }] of old as NonNullable<typeof old>) {
      if (next?.has(id)) continue;
      const pair = written.get(name);
      if (this.#usesOf(name, declared).length > 0) stop(`The prefix ${name} is used in the text.`);
      if (pair !== undefined && map !== undefined) {
        if (written.size > 1) this.#edits.removeKey(map, pair);
        else this.#edits.removeKey(this.#tree.root, node as Exclude<typeof node, undefined>);
      }
      declared.delete(name);
    }
    return new Map([...Object.entries(PREDEFINED), ...declared]);
  }

  #renamePrefix(from: string, to: string, key: Node | undefined, declared: ReadonlyMap<string, string>): void {
    if (PREDEFINED[from] !== undefined || key === undefined) stop(`The prefix ${from} cannot get another name in YARRRML.`);
    else this.#edits.write(key, to);
    for (const at of this.#usesOf(from, declared)) this.#edits.edits.push({ from: at, to: at + from.length, text: to });
  }

  /** Where values begin with a prefix. */
  #usesOf(prefix: string, declared: ReadonlyMap<string, string>): readonly number[] {
    const mappings = this.#tree.keys.get('mappings')?.value;
    return scalarsIn(mappings ?? undefined).flatMap((node) => {
      const head = headOf(textOf(node), declared);
      if (head.kind !== 'prefix' || !textOf(node).startsWith(`${prefix}:`)) return [];
      const at = this.#before.text.text.indexOf(`${prefix}:`, node.range?.[0] ?? 0);
      return at < 0 ? [] : [at];
    });
  }

  // ---------------------------------------------------------------- mappings

  #idOf(part: string): string {
    return partId(part, baseOf(this.#before.language, this.#before.base));
  }

  #mappingOf(part: string): MappingNode {
    const id = this.#idOf(part);
    const name = this.#tree.nameOf(id);
    const found = this.#tree.mappings.get(name);
    if (found !== undefined && this.#tree.idOf(name) === id) {
      if (found.sources.items.length > 1 || found.subjects.items.length > 1)
        stop(`The mapping ${name} has several sources or subjects, and its rules are those of all of them. Change it in the text.`);
      return found;
    }
    return stop(`The mapping ${name} has several sources or subjects, or is none of its own. Change it in the text.`);
  }

  #changePart(mapping: MappingNode, old: SaidPart, next: SaidPart): void {
    this.#changeSubject(mapping, old, next);
    this.#changeGraphs(mapping, old, next);
    const classes = this.#changeClasses(mapping, old, next);
    this.#changePairs(mapping, old, next, classes);
  }

  #changeSubject(mapping: MappingNode, { subject: before }: SaidPart, { subject: after }: SaidPart): void {
    if (keyOfValue(before) === keyOfValue(after)) return;
    const [node] = mapping.subjects.items;
    const pair = mapping.keys.get('subjects');
    if (after === undefined) {
      if (pair !== undefined) this.#edits.removeKey(mapping.map, pair);
    } else if (node === undefined) {
      if (pair !== undefined) stop('The mapping has a subject without a value. Write it in the text.');
      this.#edits.addKey(mapping.map, this.#keyOf('subjects', 's'), after);
    } else if (before === undefined || this.#isWhole) this.#edits.write(node, after);
    else this.#edits.value(node, before, after);
  }

  /** As other mappings of the text call this key. */
  #keyOf(long: 'subjects' | 'predicateobjects' | 'graphs', otherwise: string): string {
    for (const { keys } of this.#tree.mappings.values()) {
      const key = keys.get(long)?.key;
      if (isScalar(key)) return textOf(key);
    }
    return otherwise;
  }

  #changeGraphs(mapping: MappingNode, { graphs: before }: SaidPart, { graphs: after }: SaidPart): void {
    if (keyOfValue(before) === keyOfValue(after)) return;
    const pair = mapping.keys.get('graphs');
    if (after.length === 0) {
      if (pair !== undefined) this.#edits.removeKey(mapping.map, pair);
    } else if (pair?.value == null) this.#edits.addKey(mapping.map, this.#keyOf('graphs', 'graphs'), oneOr(after));
    else this.#edits.value(pair.value, oneOr(before), oneOr(after));
  }

  /** @returns classes that get a predicate object of their own */
  #changeClasses(mapping: MappingNode, { classes: before }: SaidPart, { classes: after }: SaidPart): readonly string[] {
    const gone = before.filter((one) => !after.includes(one));
    const added = after.filter((one) => !before.includes(one));
    const places = gone.map((one) => this.#classIn(mapping, one) ?? stop(`The class ${one} is not found in the text.`));
    places.forEach((place, i) => {
      const put = added[i];
      if (put === undefined) this.#remove(mapping, place);
      else this.#edits.write(place.object, put);
    });
    const left = added.slice(places.length);
    if (left.length === 0) return [];
    const last = mapping.pairs.findLast(
      (pair) => this.#isType(pair) && pair.objects.items.length > 0 && pair.objects.items.every(isScalar),
    );
    const object = last?.objects.items.at(-1);
    if (last === undefined || object === undefined || this.#isWhole || places.length > 0) return left;
    if (last.objects.list !== undefined) for (const one of left) this.#edits.addItem(last.objects.list, one);
    else this.#edits.write(object, [textOf(object as Scalar), ...left]);
    return [];
  }

  /** A predicate object that states classes alone. */
  #isType({ predicates, keys }: PairNode): boolean {
    const [only, ...others] = predicates.items;
    const isPlain = keys === undefined || [...keys.keys()].every((key) => key === 'predicates' || key === 'objects');
    return others.length === 0 && isScalar(only) && /^(?:a|rdf:type)(?:~iri)?$/.test(textOf(only)) && isPlain;
  }

  #classIn(mapping: MappingNode, value: string): Place | undefined {
    const full = this.#expanded(value);
    for (const pair of mapping.pairs.filter((one) => this.#isType(one)))
      for (const object of pair.objects.items)
        if (isScalar(object) && this.#expanded(textOf(object).replace(/~iri$/, '')) === full) return { pair, object };
    return undefined;
  }

  #expanded(value: string): string {
    const declared = new Map([
      ...Object.entries(PREDEFINED),
      ...recordsOf(this.#before, 'prefix').map(({ name, iri }) => [name, iri] as const),
    ]);
    const head = headOf(value, declared);
    return head.kind === 'prefix' ? head.namespace + head.rest : value;
  }

  // ---------------------------------------------------------------- predicates and objects

  #changePairs(mapping: MappingNode, old: SaidPart, next: SaidPart, classes: readonly string[]): void {
    const added: [Id | undefined, SaidPair][] = [...next.pairs].filter(([edge]) => !old.pairs.has(edge));
    if (classes.length > 0) added.unshift([undefined, classPair(classes)]);
    const groups = new Map<Node, { readonly place: Place; readonly edges: Id[] }>();
    for (const edge of old.pairs.keys()) {
      const place = this.#placeOf(edge, mapping) ?? stop(`${nameOf(this.#before, edge)} is not found in the text.`);
      const group = groups.get(place.object) ?? { place, edges: [] };
      group.edges.push(edge);
      groups.set(place.object, group);
    }
    for (const { place, edges } of groups.values()) {
      const changed = edges.filter((edge) => keyOfPair(old.pairs.get(edge)) !== keyOfPair(next.pairs.get(edge)));
      const [edge] = changed;
      if (edge === undefined) continue;
      if (edges.length > 1) stop('Several edges are one object in the text. Change them there.');
      const [before, after] = [old.pairs.get(edge) as SaidPair, next.pairs.get(edge)];
      if (after === undefined) this.#remove(mapping, place);
      else if (place.pair.objects.items.length === 1) this.#changePair(mapping, place, edge, before, after);
      else if (!this.#changeObject(place, before, after)) {
        // It leaves the others, and gets a predicate object of its own.
        this.#remove(mapping, place);
        added.push([edge, after]);
      }
    }
    if (added.length > 0) this.#addPairs(mapping, added);
  }

  /** Where an edge stands that was drawn of the text. */
  #placeOf(edge: Id, { pairs }: MappingNode): Place | undefined {
    const ranges = this.#before.text.anchors.get(edge) ?? [];
    const begins = (node: Node): boolean => {
      const { from, to } = this.#tree.rangeOf(node);
      return ranges.some((range) => range.from >= from && range.from < to);
    };
    for (const pair of pairs.filter(({ node }) => begins(node))) {
      const object = pair.objects.items.length === 1 ? pair.objects.items[0] : pair.objects.items.find(begins);
      if (object !== undefined) return { pair, object };
    }
    return undefined;
  }

  #changePair(mapping: MappingNode, place: Place, edge: Id, before: SaidPair, after: SaidPair): void {
    const { pair } = place;
    const isSameGraph = keyOfValue(before.graphs) === keyOfValue(after.graphs);
    const canStay = !this.#isWhole && (isSameGraph || pair.keys !== undefined);
    const objects = canStay ? this.#objectEdits(place, before, after) : undefined;
    const { node, list, items } = pair.predicates;
    if (objects === undefined || node === undefined) {
      this.#writePair(mapping, pair, edge, after);
      return;
    }
    if (keyOfValue(before.predicates) !== keyOfValue(after.predicates)) {
      if (items.length === before.predicates.length && items.length === after.predicates.length && list === undefined)
        this.#edits.value(node, before.predicates[0] as Value, after.predicates[0] as Value);
      else this.#edits.value(node, before.predicates, oneOr(after.predicates));
    }
    for (const edit of objects) edit();
    if (isSameGraph || pair.keys === undefined) return;
    const graphs = pair.keys.get('graphs');
    const map = pair.node as MappingNode['map'];
    if (after.graphs.length === 0) {
      if (graphs !== undefined) this.#edits.removeKey(map, graphs);
    } else if (graphs?.value == null) this.#edits.addKey(map, 'graphs', oneOr(after.graphs));
    else this.#edits.value(graphs.value, oneOr(before.graphs), oneOr(after.graphs));
  }

  /** Changes an object among others. @returns whether it could be */
  #changeObject(place: Place, before: SaidPair, after: SaidPair): boolean {
    if (this.#isWhole) return false;
    const isSame = keyOfValue([before.predicates, before.graphs]) === keyOfValue([after.predicates, after.graphs]);
    const edits = isSame ? this.#objectEdits(place, before, after) : undefined;
    for (const edit of edits ?? []) edit();
    return edits !== undefined;
  }

  /** What changes an object where it stands; undefined: it cannot be said there. */
  #objectEdits({ pair, object }: Place, before: SaidPair, after: SaidPair): readonly (() => void)[] | undefined {
    const [was, next] = [before.objects[0] as SaidObject, after.objects[0] as SaidObject];
    if (keyOfValue(valueOfObject(was)) === keyOfValue(valueOfObject(next))) return [];
    const isShared = pair.mark !== undefined || (pair.keys !== undefined && OF_ALL.some((key) => pair.keys?.has(key)));
    if (typeof was.value !== 'string' || typeof next.value !== 'string') {
      if (isShared) return undefined;
      return [() => this.#edits.value(object, valueOfObject(was), valueOfObject(next))];
    }
    const edits: (() => void)[] = [];
    const value = isSequence(object) ? object.items[0] : object;
    if (!isScalar(value)) return undefined;
    if (was.value !== next.value) {
      const wasIri = was.value.endsWith('~iri');
      // Where the type is said elsewhere, the value has none.
      if (wasIri !== next.value.endsWith('~iri') || wasIri !== textOf(value).endsWith('~iri')) {
        if (isShared || wasIri !== textOf(value).endsWith('~iri')) return undefined;
      }
      edits.push(() => this.#edits.write(value, next.value));
    }
    if (was.mark === next.mark) return edits;
    if (isSequence(object)) {
      const [, mark] = object.items;
      if (mark === undefined) return undefined;
      return [
        ...edits,
        next.mark === undefined
          ? () => this.#edits.removeItems(object, new Set([mark]))
          : () => this.#edits.write(mark, next.mark as string),
      ];
    }
    // The third of a short list is for all its objects.
    const list = pair.keys === undefined && isSequence(pair.node) && pair.objects.items.length === 1 ? pair.node : undefined;
    if (list === undefined || pair.objects.list !== undefined) return undefined;
    if (next.mark === undefined)
      return pair.mark === undefined ? undefined : [...edits, () => this.#edits.removeItems(list, new Set([pair.mark as Node]))];
    const mark = next.mark;
    return [...edits, pair.mark === undefined ? () => this.#edits.addItem(list, mark) : () => this.#edits.write(pair.mark as Node, mark)];
  }

  /** Writes a predicate object of one object anew. */
  #writePair(mapping: MappingNode, { node, list }: PairNode, edge: Id, after: SaidPair): void {
    this.#guard(this.#tree.rangeOf(node));
    const value = valueOfPair(after);
    if (list !== undefined) this.#edits.writeItem(list, node, value, edge);
    else if (mapping.map.flow === true || this.#tree.isInLine(node)) this.#edits.write(node, value, edge);
    else this.#edits.write(node, [value], edge);
  }

  #addPairs(mapping: MappingNode, added: readonly (readonly [Id | undefined, SaidPair])[]): void {
    const pair = mapping.keys.get('predicateobjects');
    const [only] = mapping.pairs;
    const list = only?.list;
    const values = added.map(([, one]) => valueOfPair(one));
    if (pair?.value == null || only === undefined) {
      if (pair !== undefined) stop('The mapping has a key for its rules, and none that is found in the text. Write them there.');
      this.#edits.addKey(
        mapping.map,
        this.#keyOf('predicateobjects', 'po'),
        values,
        added.map(([edge]) => edge),
      );
    } else if (list !== undefined) for (const [edge, one] of added) this.#edits.addItem(list, valueOfPair(one), edge);
    else this.#addToOne(only, added);
  }

  /** A predicate object that stands alone becomes the first of a list. */
  #addToOne({ node }: PairNode, added: readonly (readonly [Id | undefined, SaidPair])[]): void {
    const { from, to } = this.#tree.rangeOf(node);
    if (isSequence(node) && node.flow !== true) stop('The mapping has one rule, which is no item of a list. Make it one in the text.');
    if ('flow' in node && node.flow === true) {
      this.#edits.insert(from, '[');
      for (const [edge, one] of added) {
        this.#edits.insert(to, ', ');
        this.#edits.edits.push({ from: to, to, text: yamlOf(valueOfPair(one), 'item'), ...(edge !== undefined && { of: edge }) });
      }
      this.#edits.insert(to, ']');
      return;
    }
    const text = this.#before.text.text;
    const start = text.lastIndexOf('\n', from - 1) + 1;
    const indent = text.slice(start, from);
    if (indent.trim() !== '') stop('The mapping has one rule, which does not stand on lines of its own. Make it a list in the text.');
    this.#edits.insert(from, '- ');
    for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) this.#edits.insert(at + 1, '  ');
    for (const [edge, one] of added)
      this.#edits.addBlock(to, `${indent}- ${indented(yamlOf(valueOfPair(one), 'item'), `${indent}  `)}`, false, edge);
  }

  /** Removed together, when all is known that goes. */
  #remove(mapping: MappingNode, { pair, object }: Place): void {
    this.#guard(this.#tree.rangeOf(object));
    const removed = this.#removed.get(mapping) ?? new Map<PairNode, Set<Node>>();
    removed.set(pair, (removed.get(pair) ?? new Set()).add(object));
    this.#removed.set(mapping, removed);
  }

  #removeFrom(mapping: MappingNode, removed: ReadonlyMap<PairNode, ReadonlySet<Node>>): void {
    const whole = new Set<PairNode>();
    for (const [pair, objects] of removed) {
      const { list, items } = pair.objects;
      if (items.every((one) => objects.has(one))) whole.add(pair);
      else if (list !== undefined) this.#edits.removeItems(list, objects);
    }
    if (whole.size === 0) return;
    const key = mapping.keys.get('predicateobjects');
    if (whole.size === mapping.pairs.length) {
      // What is added below would have no list.
      const range = key && this.#tree.rangeOfPair(key);
      const isAdded =
        range !== undefined &&
        this.#edits.edits.some(({ from, to }) => from === to && from >= range.from && from <= this.#edits.afterLine(range.to));
      if (key !== undefined && !isAdded) {
        this.#edits.removeKey(mapping.map, key);
        return;
      }
    }
    const list = [...whole][0]?.list;
    if (list === undefined) stop('The mapping has one rule, which is no item of a list. Change it in the text.');
    else this.#edits.removeItems(list, new Set([...whole].map(({ node }) => node)));
  }

  // ---------------------------------------------------------------- whole mappings

  #removePart(part: string): void {
    const mapping = this.#mappingOf(part);
    const range = this.#tree.rangeOfPair(mapping.pair);
    const entity = recordsOf(this.#before, 'entity').find(({ parts }) => parts.includes(part));
    const isKept = this.#keptIn(range) !== undefined;
    if (isKept) stop(`${nameOf(this.#before, entity?.id ?? part)} has parts that are kept as text. Remove it in the text.`);
    const map = this.#tree.keys.get('mappings')?.value as MappingNode['map'];
    this.#edits.removeKey(map, mapping.pair);
  }

  #addPart(part: string, { source, subject, graphs, classes, pairs }: SaidPart): void {
    const name = this.#tree.nameOf(this.#idOf(part));
    const map = this.#tree.keys.get('mappings')?.value as MappingNode['map'] | null | undefined;
    const last = map == null ? undefined : pairsOf(map).at(-1);
    const first = map == null ? undefined : pairsOf(map)[0];
    if (map == null || last === undefined || first === undefined)
      throw new Unpatched('The text has no mappings that another one could stand beside. Write it in the text.');
    const own = [...(classes.length > 0 ? [valueOfPair(classPair(classes))] : []), ...[...pairs.values()].map(valueOfPair)];
    const value = fieldsOf({
      [this.#keyOfSources()]: source === undefined ? undefined : [this.#knownSource(source) ?? source],
      [this.#keyOf('subjects', 's')]: subject,
      graphs: graphs.length === 0 ? undefined : oneOr(graphs),
      [this.#keyOf('predicateobjects', 'po')]: own.length === 0 ? undefined : own,
    });
    const entity = recordsOf(this.#after, 'entity').find(({ parts }) => parts.includes(part))?.id;
    if (map.flow === true) {
      this.#edits.addKey(map, name, value);
      return;
    }
    const text = this.#before.text.text;
    const start = text.lastIndexOf('\n', (first.key.range?.[0] ?? 0) - 1) + 1;
    const indent = ' '.repeat((first.key.range?.[0] ?? 0) - start);
    const { to } = this.#tree.rangeOfPair(last);
    const all = pairsOf(map);
    const isApart =
      all.length === 1 || /\n\s*\n/.test(text.slice(this.#tree.rangeOfPair(all.at(-2) as (typeof all)[number]).to, last.key.range?.[0]));
    const block = yamlOf(value).replaceAll(/^(?=.)/gm, `${indent}  `);
    this.#edits.addBlock(to, `${indent}${yamlOf(name, 'value')}:\n${block}`, isApart, entity);
  }

  #keyOfSources(): string {
    for (const { keys } of this.#tree.mappings.values()) {
      const key = keys.get('sources')?.key;
      if (isScalar(key)) return textOf(key);
    }
    return 'sources';
  }

  // ---------------------------------------------------------------- sources

  #changeSources(): void {
    const done = new Set<Node>();
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      if (next === undefined || keyOfValue(old.source) === keyOfValue(next.source)) continue;
      if (old.source === undefined || next.source === undefined)
        throw new Unpatched('The source of a mapping is not found in the text. Change it there.');
      const [node] = this.#mappingOf(part).sources.items;
      if (node === undefined) throw new Unpatched('The source of a mapping is not found in the text. Change it there.');
      const shared = this.#sharedSource(node);
      if (shared !== undefined && this.#changesAlike(node, next.source)) {
        if (!done.has(shared)) this.#edits.value(shared, old.source, next.source);
        done.add(shared);
      } else if (shared !== undefined) this.#edits.write(node, this.#knownSource(next.source) ?? next.source);
      else this.#edits.value(node, old.source, next.source);
    }
  }

  /** What a name of a source stands for. */
  #sharedSource(node: Node): Node | undefined {
    const sources = this.#tree.keys.get('sources')?.value;
    if (!isScalar(node) || sources == null || !('items' in sources)) return undefined;
    const found = pairsOf(sources as MappingNode['map']).find(({ key }) => isScalar(key) && textOf(key) === textOf(node));
    return found?.value ?? undefined;
  }

  /** Whether all mappings that name a source get the same one. */
  #changesAlike(node: Node, source: Value): boolean {
    const name = isScalar(node) ? textOf(node) : undefined;
    const users = [...this.#tree.mappings.values()].filter(({ sources }) =>
      sources.items.some((one) => isScalar(one) && textOf(one) === name),
    );
    const parts = new Map([...this.#old.parts.keys()].map((part) => [this.#idOf(part), part]));
    return users.every((one) => {
      const part = parts.get(this.#tree.idOf(one.name));
      const next = part === undefined ? undefined : this.#new.parts.get(part);
      return next !== undefined && keyOfValue(next.source) === keyOfValue(source);
    });
  }

  /** The name under which the text has a source that is read as it was. */
  #knownSource(source: Value): string | undefined {
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      if (keyOfValue(old.source) !== keyOfValue(source) || (next !== undefined && keyOfValue(next.source) !== keyOfValue(source))) continue;
      const name = this.#tree.nameOf(this.#idOf(part));
      const [node] = this.#tree.mappings.get(name)?.sources.items ?? [];
      if (node !== undefined && isScalar(node) && this.#sharedSource(node) !== undefined) return textOf(node);
    }
    return undefined;
  }

  // ---------------------------------------------------------------- what is kept

  /** What is kept as text is not written over. */
  #guard(range: Anchor): void {
    const kept = this.#keptIn(range);
    if (kept !== undefined)
      stop(`This stands in the text together with what the canvas does not draw (${kept.reason}). Change it in the text.`);
  }

  #keptIn(range: Anchor) {
    return recordsOf(this.#before, 'text').find(
      ({ id }) =>
        recordOf(this.#after, 'text', id) !== undefined &&
        (this.#before.text.anchors.get(id) ?? []).some(({ from }) => from >= range.from && from < range.to),
    );
  }
}

const OF_ALL = ['type', 'datatype', 'language', 'conditions', 'inversepredicates'] as const;

const classPair = (classes: readonly string[]): SaidPair => ({
  predicates: ['a'],
  objects: classes.map((value) => ({ value, mark: undefined })),
  graphs: [],
});

const oneOr = (values: readonly Value[]): Value => (values.length === 1 ? (values[0] as Value) : values);

const keyOfPair = (pair: SaidPair | undefined): string =>
  pair === undefined ? '' : keyOfValue([pair.predicates, pair.objects.map(valueOfObject), pair.graphs]);

const sameSaid = (a: SaidPart, b: SaidPart): boolean =>
  keyOfValue([a.subject ?? '', a.graphs, a.classes]) === keyOfValue([b.subject ?? '', b.graphs, b.classes]) &&
  a.pairs.size === b.pairs.size &&
  [...a.pairs].every(([edge, pair]) => keyOfPair(pair) === keyOfPair(b.pairs.get(edge)));

const isSequence = (node: Node | undefined): node is YAMLSeq<Node> => isSeq(node);

function scalarsIn(node: Node | undefined): readonly Scalar[] {
  const found: Scalar[] = [];
  if (node !== undefined) visit(node, { Scalar: (_, one) => void found.push(one) });
  return found;
}
