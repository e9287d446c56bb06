/**
 * What a drawn change means for a text of YARRRML that the studio has not printed: edits of the values, items and keys that have changed, and of
 * nothing else. The edited text is read again, and says what is drawn and what was kept, or the change is refused.
 */

import { isScalar, type Scalar } from 'yaml';
import { valueOfPair } from '../../../../src/mapping/convert/yarrrml.ts';
import { yamlOf } from '../../../../src/mapping/convert/yarrrml-layout.ts';
import { fieldsOf } from '../../../../src/mapping/convert/yarrrml-terms.ts';
import { loadReading } from '../../../../src/mapping/parse/read.ts';
import { headOf, PREDEFINED } from '../../../../src/mapping/yarrrml/prefixes.ts';
import type { StudioDocument } from '../../document.ts';
import { baseOf, partId } from '../../elements/base.ts';
import { nameOf } from '../../elements/names.ts';
import { recordsOf, sameModel } from '../../elements/records.ts';
import { edited, type TextEdit } from '../../history/edits.ts';
import type { Refusal } from '../../rules/verdict.ts';
import { stop, stopForGood, Unpatched, WRITE_OUT } from '../unpatched.ts';
import { keyOfValue, YamlEdits } from './edits.ts';
import { classPair, keyOfPair, type ObjectPlace, oneOr, PairEdits } from './pairs.ts';
import { keptIn, type Patching } from './patching.ts';
import { editedPrefixes } from './prefixes.ts';
import { type SaidDocument, type SaidPart, type SaidText, saidByText, saidOf } from './said.ts';
import { SourceEdits } from './sources.ts';
import { type Cell, type MappingNode, type PairNode, pairsOf, scalarText, YarrrmlTree } from './tree.ts';

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
    // What the text says in another way than it would be written is rewritten.
    try {
      return new Patch(before, after, true).edits();
    } catch (second) {
      if (second instanceof Unpatched) return error.isOfForm ? { ...error.refusal, instead: WRITE_OUT } : error.refusal;
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

class Patch {
  readonly #before: StudioDocument;
  readonly #after: StudioDocument;
  /** Whether what has changed is written as a whole. */
  readonly #isWhole: boolean;
  readonly #tree: YarrrmlTree;
  readonly #edits: YamlEdits;
  readonly #patching: Patching;
  readonly #pairs: PairEdits;
  readonly #sources: SourceEdits;
  readonly #declared: string;
  readonly #old: SaidDocument;
  readonly #new: SaidDocument;
  /** What parts share, and has been changed for one of them. */
  readonly #changed = new Set<object>();

  constructor(before: StudioDocument, after: StudioDocument, isWhole: boolean) {
    this.#before = before;
    this.#after = after;
    this.#isWhole = isWhole;
    if (before.language !== after.language || before.base !== after.base)
      stopForGood('The language of a text is changed by converting it.');
    this.#tree = YarrrmlTree.of(before.text.text) ?? stopForGood('The text has an error. Correct it there first.');
    this.#edits = new YamlEdits(this.#tree);
    this.#patching = { before, after, tree: this.#tree, edits: this.#edits, isWhole };
    this.#pairs = new PairEdits(this.#patching);
    const prefixes = editedPrefixes(this.#patching);
    const named = (id: string): string => this.#tree.nameOf(id);
    this.#declared = JSON.stringify([...prefixes]);
    const last = known.get(before.records);
    this.#old = last?.prefixes === this.#declared ? last.said : saidOf(before, prefixes, named);
    this.#new = saidOf(after, prefixes, named);
    const cells = { idOf: (part: string) => this.#idOf(part), cellOf: (part: string) => this.#cellOf(part) };
    this.#sources = new SourceEdits(this.#patching, cells, this.#old, this.#new);
  }

  edits(): readonly TextEdit[] {
    const said = new Set(this.#old.errors);
    const error = this.#new.errors.find((one) => !said.has(one));
    if (error !== undefined) stopForGood(`The language of the text cannot say this: ${error}.`);
    this.#sources.change();
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      if (next === undefined) this.#removePart(part);
      else if (!sameSaid(old, next)) this.#changePart(this.#cellOf(part), old, next);
    }
    this.#pairs.end();
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
    if (error !== undefined) stopForGood(`The text would have an error: ${error}. Change it in the text.`);
    const drawn = new Set(this.#old.patterns);
    const wanted = new Set([...old.patterns.filter((one) => !drawn.has(one)), ...this.#new.patterns]);
    if (now.patterns.length !== wanted.size || now.patterns.some((one) => !wanted.has(one))) {
      const several = [...this.#changed].find((one): one is MappingNode => this.#isSeveral(one));
      if (several !== undefined) ofAll(several);
      stop('The text says this together with something else, such as a value that is used twice. Change it in the text.');
    }
    known.set(this.#after.records, { prefixes: this.#declared, said: this.#new, text: after, byText: now });
  }

  #idOf(part: string): string {
    return partId(part, baseOf(this.#before.language, this.#before.base));
  }

  /**
   * Where a part stands. Of a mapping with several sources or subjects it is one of their pairs, and the rules are those of all of them: they
   * are changed once, and whether all of them are to change so is seen when the text is read again.
   */
  #cellOf(part: string): Cell {
    const id = this.#idOf(part);
    const found = this.#tree.cellOf(id);
    return found ?? stop(`The mapping ${this.#tree.nameOf(id)} is not found in the text.`);
  }

  #changePart(cell: Cell, old: SaidPart, next: SaidPart): void {
    const { mapping, subject } = cell;
    this.#changed.add(mapping);
    if (!this.#changed.has(subject ?? mapping.keys)) this.#changeSubject(cell, old, next);
    this.#changed.add(subject ?? mapping.keys);
    if (this.#changed.has(mapping.pair)) return;
    this.#changed.add(mapping.pair);
    this.#changeGraphs(mapping, old, next);
    const classes = this.#changeClasses(mapping, old, next);
    this.#pairs.change(mapping, old, next, classes);
  }

  #isSeveral(one: object): one is MappingNode {
    return (
      'sources' in one && 'subjects' in one && (one as MappingNode).sources.items.length * (one as MappingNode).subjects.items.length > 1
    );
  }

  #changeSubject({ mapping, subject: node }: Cell, { subject: before }: SaidPart, { subject: after }: SaidPart): void {
    if (keyOfValue(before) === keyOfValue(after)) return;
    const pair = mapping.keys.get('subjects');
    if (after === undefined) {
      if (pair !== undefined) this.#edits.removeKey(mapping.map, pair);
    } else if (node === undefined) {
      if (pair !== undefined) stop('The mapping has a subject without a value. Write it in the text.');
      this.#edits.addKey(mapping.map, this.#tree.keyFor('subjects', 's'), after);
    } else if (before === undefined || this.#isWhole) this.#edits.write(node, after);
    else this.#edits.value(node, before, after);
  }

  #changeGraphs(mapping: MappingNode, { graphs: before }: SaidPart, { graphs: after }: SaidPart): void {
    if (keyOfValue(before) === keyOfValue(after)) return;
    const pair = mapping.keys.get('graphs');
    if (after.length === 0) {
      if (pair !== undefined) this.#edits.removeKey(mapping.map, pair);
    } else if (pair?.value == null) this.#edits.addKey(mapping.map, this.#tree.keyFor('graphs', 'graphs'), oneOr(after));
    else this.#edits.value(pair.value, oneOr(before), oneOr(after));
  }

  /** @returns classes that get a separate predicate object */
  #changeClasses(mapping: MappingNode, { classes: before }: SaidPart, { classes: after }: SaidPart): readonly string[] {
    const gone = before.filter((one) => !after.includes(one));
    const added = after.filter((one) => !before.includes(one));
    const places = gone.map((one) => this.#classIn(mapping, one) ?? stop(`The class ${one} is not found in the text.`));
    places.forEach((place, i) => {
      const put = added[i];
      if (put === undefined) this.#pairs.remove(mapping, place);
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
    else this.#edits.write(object, [scalarText(object as Scalar), ...left]);
    return [];
  }

  /** A predicate object that states classes alone. */
  #isType({ predicates, keys }: PairNode): boolean {
    const [only, ...others] = predicates.items;
    const isPlain = keys === undefined || [...keys.keys()].every((key) => key === 'predicates' || key === 'objects');
    return others.length === 0 && isScalar(only) && /^(?:a|rdf:type)(?:~iri)?$/.test(scalarText(only)) && isPlain;
  }

  #classIn(mapping: MappingNode, value: string): ObjectPlace | undefined {
    const full = this.#expanded(value);
    for (const pair of mapping.pairs.filter((one) => this.#isType(one)))
      for (const object of pair.objects.items)
        if (isScalar(object) && this.#expanded(scalarText(object).replace(/~iri$/, '')) === full) return { pair, object };
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

  #removePart(part: string): void {
    const { mapping } = this.#cellOf(part);
    if (this.#changed.has(mapping)) return;
    if ([...this.#new.parts.keys()].some((one) => this.#tree.cellOf(this.#idOf(one))?.mapping === mapping)) ofAll(mapping);
    this.#changed.add(mapping);
    const range = this.#tree.rangeOfPair(mapping.pair);
    const entity = recordsOf(this.#before, 'entity').find(({ parts }) => parts.includes(part));
    const isKept = keptIn(this.#patching, range) !== undefined;
    if (isKept) stopForGood(`${nameOf(this.#before, entity?.id ?? part)} has parts that are kept as text. Remove it in the text.`);
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
      [this.#tree.keyFor('sources', 'sources')]: source === undefined ? undefined : [this.#sources.known(source) ?? source],
      [this.#tree.keyFor('subjects', 's')]: subject,
      graphs: graphs.length === 0 ? undefined : oneOr(graphs),
      [this.#tree.keyFor('predicateobjects', 'po')]: own.length === 0 ? undefined : own,
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
}

const ofAll = ({ name }: MappingNode): never =>
  stop(`The rules of the mapping ${name} are those of all its sources and subjects, and this would change only some of them.`);

const sameSaid = (a: SaidPart, b: SaidPart): boolean =>
  keyOfValue([a.subject ?? '', a.graphs, a.classes]) === keyOfValue([b.subject ?? '', b.graphs, b.classes]) &&
  a.pairs.size === b.pairs.size &&
  [...a.pairs].every(([edge, pair]) => keyOfPair(pair) === keyOfPair(b.pairs.get(edge)));
