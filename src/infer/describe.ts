/**
 * The entities of a document: what is repeated, or holds other things, with its fields.
 *
 * An entity becomes a triples map; a field, an object map. Nothing is guessed beyond what the sample shows. A note names what no reference can
 * reach.
 */
import { FORMULATIONS } from '../core/input/formats.ts';
import { commonKind, type Kind, kindOf, kindOfDatatype } from './kinds.ts';
import { classWords, keyLikeness } from './names.ts';
import { ITEMS, member, PATHS, type Step } from './paths.ts';
import { type DocumentSample, isArray, isMembers, type Members, type SampledSource, type Tree, type TypedText } from './sample.ts';

/** Bounds of what a mapping to start from may have. */
const MAX_FIELDS = 400;
const MAX_ENTITIES = 60;
const MAX_LEVELS = 12;
const MAX_EXAMPLES = 3;
const MAX_KEY_LENGTH = 200;

export interface Field {
  /** Names on the way to it, for predicates. */
  readonly names: readonly string[];
  readonly steps: readonly Step[];
  readonly reference: string;
  readonly kind: Kind;
  /** All values have this kind as natural datatype: no mapping need say it, where natural datatypes are read. */
  readonly isNatural: boolean;
  /** Number of values, and of records without one. */
  readonly values: number;
  readonly missing: number;
  /** A record may have several. */
  readonly isMany: boolean;
  /** Each record has one value, and no two have the same. */
  readonly isUnique: boolean;
  readonly examples: readonly string[];
  /** All different values. */
  readonly distinct: ReadonlySet<string>;
}

/** A part of what distinguishes the records of an entity: a field of the record, or of an ancestor. */
export interface KeyPart {
  readonly ups: number;
  readonly steps: readonly Step[];
}

export interface Parent {
  readonly entity: Entity;
  /** Levels between a record and its parent. */
  readonly levels: number;
  readonly name: string;
  /** A parent has one such record at most. */
  readonly isOnly: boolean;
}

export interface Entity {
  readonly source: SampledSource;
  /** Words of its class. */
  readonly words: readonly string[];
  readonly steps: readonly Step[];
  readonly iterator: string | undefined;
  readonly parent: Parent | undefined;
  readonly records: number;
  /** These are all records of the document. */
  readonly isWhole: boolean;
  readonly fields: readonly Field[];
  /** Empty: nothing distinguishes the records. Keys of an ancestor alone: there is one record for each. */
  readonly key: readonly KeyPart[];
  /** The field that is the key; the last part of it, where the key has several. */
  readonly keyField: Field | undefined;
  readonly notes: readonly string[];
}

/** A record of the sample, and the index of the one that it stands in. */
interface Found {
  readonly members: ReadonlyMap<string, Tree>;
  /** Of a record that is no object. */
  readonly value?: Tree;
  readonly parent: number;
}

const NONE: ReadonlyMap<string, Tree> = new Map();

interface Scalar {
  readonly record: number;
  readonly tree: string | TypedText;
  readonly text: string;
  readonly kind: Kind;
  /** As natural datatype. */
  readonly isNatural: boolean;
}

/** What the records of an entity have at one way down. */
interface Gathered {
  readonly steps: readonly Step[];
  readonly scalars: Scalar[];
  readonly objects: Found[];
  nulls: number;
  empty: number;
}

export function describeDocument(sample: DocumentSample): readonly Entity[] {
  return new Description(sample).entities;
}

class Description {
  readonly entities: Entity[] = [];
  readonly #sample: DocumentSample;

  constructor(sample: DocumentSample) {
    this.#sample = sample;
    const { root, source } = sample;
    if (source.formulation === 'csv') {
      const rows = (root as readonly Members[]).map(({ members }) => ({ members, parent: 0 }));
      this.#entity(classWords(sample.name), [], 0, rows, undefined, sample.notes);
    } else this.#root(root);
  }

  /** The root of a document is no record unless it is small: it would be held in memory as a whole. */
  #root(root: Tree): void {
    const { notes, name, isWhole } = this.#sample;
    const top = isMembers(root) ? this.#inner(root) : undefined;
    const own = [...(top?.members.values() ?? [])].some((tree) => tree !== null && !isMembers(tree) && !isArray(tree));
    const start = this.#rootSteps(root);
    if (top !== undefined && own && isWhole) {
      this.#entity(classWords(this.#names(start).at(-1) ?? name), start, 0, [top], undefined, notes);
      return;
    }
    const left =
      own && !isWhole ? ['The values beside the records are left out: to read them, the whole document would have to be in memory'] : [];
    const gathered = new Map<string, Gathered>();
    if (top === undefined) this.#gather(root, 0, [], gathered);
    else for (const [key, tree] of top.members) if (isArray(tree) || isMembers(tree)) this.#gather(tree, 0, [member(key)], gathered);
    const told: string[] = [...notes, ...left];
    for (const { steps, scalars, objects, nulls } of this.#clear(gathered, told)) {
      const words = classWords(this.#names(steps).at(-1) ?? name);
      const at = [...start, ...steps];
      const records =
        objects.length > 0 ? this.#sameShape(objects, scalars) : scalars.map(({ tree }) => ({ members: NONE, value: tree, parent: 0 }));
      if (records.length > 0) this.#entity(words, at, nulls, records, undefined, told.splice(0));
    }
  }

  /** In XML the tree begins with the root element as the only member of the document. */
  #rootSteps(root: Tree): readonly Step[] {
    if (this.#sample.source.formulation !== 'xml' || !isMembers(root)) return [];
    const [name] = root.members.keys();
    return name === undefined ? [] : [member(name)];
  }

  #inner(root: Members): Found {
    if (this.#sample.source.formulation !== 'xml') return { members: root.members, parent: 0 };
    const [only = null] = root.members.values();
    return { members: isMembers(only) ? only.members : new Map([['.', only]]), parent: 0 };
  }

  /** In XML an element without attributes and elements is a record with text alone. */
  #sameShape(objects: readonly Found[], scalars: Gathered['scalars']): readonly Found[] {
    if (this.#sample.source.formulation !== 'xml') return objects;
    return [...objects, ...scalars.map(({ tree, record }) => ({ members: new Map([['.', tree]]), parent: record }))];
  }

  #gather(tree: Tree, record: number, steps: readonly Step[], into: Map<string, Gathered>): void {
    if (isArray(tree)) {
      const inner = [...steps, ITEMS];
      if (tree.length === 0) this.#at(inner, into).empty++;
      for (const item of tree) this.#gather(item, record, inner, into);
      return;
    }
    const found = this.#at(steps, into);
    if (tree === null) found.nulls++;
    else if (isMembers(tree)) {
      if (tree.members.size === 0) found.empty++;
      else found.objects.push({ members: tree.members, parent: record });
    } else {
      found.scalars.push({ record, tree, ...this.#described(tree) });
    }
  }

  #described(tree: string | TypedText): Pick<Scalar, 'text' | 'kind' | 'isNatural'> {
    if (typeof tree !== 'string') return { text: tree.text, kind: kindOfDatatype(tree.datatype) ?? 'text', isNatural: true };
    const kind = kindOf(tree);
    // In a format with a syntax for numbers, a text that looks like one is a text on purpose.
    const { formulation, isWorkbook } = this.#sample.source;
    const isTyped = FORMULATIONS[formulation].typed || isWorkbook;
    return { text: tree, kind: isTyped && kind !== 'date' && kind !== 'dateTime' ? 'text' : kind, isNatural: false };
  }

  #at(steps: readonly Step[], into: Map<string, Gathered>): Gathered {
    const key = JSON.stringify(steps);
    const known = into.get(key);
    if (known !== undefined) return known;
    const made: Gathered = { steps, scalars: [], objects: [], nulls: 0, empty: 0 };
    into.set(key, made);
    return made;
  }

  /** In XML, where some of `objects` have elements: a reference to the text reads theirs, too, so texts that stand alone show no datatype. */
  #asText({ scalars }: Gathered, objects: readonly Pick<Found, 'members'>[]): void {
    if (!objects.some(({ members }) => [...members.keys()].some(isElement))) return;
    for (const [i, one] of scalars.entries()) scalars[i] = { ...one, kind: 'text' };
  }

  /** @param nulls how often null stands where a record could */
  #entity(
    words: readonly string[],
    steps: readonly Step[],
    nulls: number,
    records: readonly Found[],
    parent: Parent | undefined,
    told: readonly string[],
  ): void {
    if (this.entities.length >= MAX_ENTITIES) return;
    const { source } = this.#sample;
    const notes = [...told];
    if (nulls > 0) notes.push(`null in ${nulls} other ${nulls === 1 ? 'place' : 'places'}, which the filter of the iterator leaves out`);
    const gathered = new Map<string, Gathered>();
    for (const column of this.#sample.columns ?? []) this.#at([member(column)], gathered);
    for (const [index, { members, value = null }] of records.entries()) {
      if (value !== null) this.#gather(value, index, [], gathered);
      for (const [name, tree] of members) this.#gather(tree, index, [member(name)], gathered);
    }
    const text = source.formulation === 'xml' ? gathered.get(JSON.stringify([member('.')])) : undefined;
    if (text !== undefined) this.#asText(text, records);
    const nested: Gathered[] = [];
    const fields: Field[] = [];
    const add = (found: Gathered): void => {
      if (fields.length < MAX_FIELDS) fields.push(this.#field(found, records.length));
      else if (fields.length === MAX_FIELDS) notes.push(`More than ${MAX_FIELDS} fields: the others are left out`);
    };
    for (const found of this.#clear(gathered, notes)) {
      if (found.objects.length > 0) nested.push(found);
      else if (found.scalars.length > 0 || source.formulation === 'csv') add(found);
      else notes.push(`${this.#shown(found.steps)} has no value in the records that were read: left out`);
    }
    const { key, keyField } = this.#keyOf(words, fields, records, parent);
    const separate: Gathered[] = [];
    for (const found of nested) {
      const isMany = found.steps.includes(ITEMS);
      if (isMany || (key.length > 0 && !this.#isLeaf(found))) separate.push(found);
      else for (const inner of this.#flat(found, notes, 0)) add(inner);
    }
    const entity: Entity = {
      source,
      words,
      steps,
      iterator: PATHS[source.formulation].iterator(steps, nulls > 0),
      parent,
      records: records.length,
      isWhole: this.#sample.isWhole,
      fields,
      key,
      keyField,
      notes,
    };
    this.entities.push(entity);
    for (const found of separate) {
      if (steps.length + found.steps.length > MAX_LEVELS || this.entities.length >= MAX_ENTITIES) {
        notes.push(
          `${this.#shown(found.steps)} is left out: a mapping to start from has ${MAX_LEVELS} levels and ${MAX_ENTITIES} triples maps at most`,
        );
        continue;
      }
      const name = this.#names(found.steps).at(-1) ?? this.#sample.name;
      const levels = PATHS[source.formulation].levels(found.steps);
      const inner: Parent = { entity, levels, name, isOnly: !found.steps.includes(ITEMS) };
      this.#entity(classWords(name), [...steps, ...found.steps], found.nulls, this.#sameShape(found.objects, found.scalars), inner, []);
    }
  }

  /** An XML element with text and attributes, but no elements: its attributes are fields of whatever it stands in. */
  #isLeaf({ objects }: Gathered): boolean {
    return this.#sample.source.formulation === 'xml' && objects.every(({ members }) => ![...members.keys()].some(isElement));
  }

  /** The fields of objects that get no separate triples map, as fields of the record around them. */
  #flat(found: Gathered, notes: string[], depth: number): readonly Gathered[] {
    if (depth > MAX_LEVELS) return [];
    const gathered = new Map<string, Gathered>();
    for (const { members, parent } of found.objects) {
      for (const [name, tree] of members) this.#gather(tree, parent, [...found.steps, ...(name === '.' ? [] : [member(name)])], gathered);
    }
    if (this.#sample.source.formulation === 'xml') {
      const own = this.#at(found.steps, gathered);
      own.scalars.push(...found.scalars);
      this.#asText(own, found.objects);
    }
    return this.#clear(gathered, notes).flatMap((inner) => {
      if (inner.objects.length === 0) return inner.scalars.length > 0 ? [inner] : [];
      if (!inner.steps.includes(ITEMS)) return this.#flat(inner, notes, depth + 1);
      notes.push(`${this.#shown(inner.steps)} is left out: the records around it have no key that it could be linked to`);
      return [];
    });
  }

  /** Leaves out what a reference could not read without an error: in JSON, values of several shapes at one place. */
  #clear(gathered: ReadonlyMap<string, Gathered>, notes: string[]): readonly Gathered[] {
    const all = [...gathered.values()];
    // Columns that no reference can name are left out where they are read.
    if (this.#sample.source.formulation === 'csv') return all;
    if (this.#sample.source.formulation === 'xml') return this.#withoutShadows(all, notes);
    return all.filter((found) => {
      const shown = this.#shown(found.steps);
      const isArrayToo = gathered.has(JSON.stringify([...found.steps, ITEMS]));
      const { scalars, objects } = found;
      if (isArrayToo && found.empty + scalars.length + objects.length > 0) {
        notes.push(`${shown} is an array in some records, and none in others: what is no array is left out`);
        return false;
      }
      if (isArrayToo) return false;
      if (scalars.length > 0 && objects.length > 0) {
        notes.push(`${shown} is an object in some records, and a single value in others: left out`);
        return false;
      }
      const before = gathered.get(JSON.stringify(found.steps.slice(0, -1)));
      if (found.steps.at(-1) === ITEMS && before !== undefined && before.objects.length > 0) {
        // A wildcard would also find the members of the objects.
        notes.push(`${this.#shown(found.steps.slice(0, -1))} is an array in some records, and an object in others: left out`);
        return false;
      }
      return true;
    });
  }

  /** In XML, one element and several of a name are reached by the same path: they are one thing. */
  #withoutShadows(all: readonly Gathered[], notes: string[]): readonly Gathered[] {
    const byNames = new Map<string, Gathered>();
    for (const found of all) {
      const key = JSON.stringify(found.steps.filter((step) => step !== ITEMS));
      const known = byNames.get(key);
      if (known === undefined) byNames.set(key, found);
      else {
        const steps = known.steps.includes(ITEMS) ? known.steps : found.steps;
        byNames.set(key, {
          steps,
          scalars: [...known.scalars, ...found.scalars].sort((a, b) => a.record - b.record),
          objects: [...known.objects, ...found.objects].sort((a, b) => a.parent - b.parent),
          nulls: known.nulls + found.nulls,
          empty: known.empty + found.empty,
        });
      }
    }
    for (const { steps, scalars, objects } of byNames.values()) {
      const hasText = scalars.length > 0 || objects.some(({ members }) => members.has('.'));
      const hasElements = objects.some(({ members }) => [...members.keys()].some(isElement));
      if (hasText && hasElements)
        notes.push(`${this.#shown(steps)} has text alone in some places, and elements in others: there its text is that of all of them`);
    }
    return [...byNames.values()];
  }

  /** Of the members on a way; in XML without prefixes. */
  #names(steps: readonly Step[]): readonly string[] {
    const names = steps.flatMap((step) => (step.kind === 'member' && step.name !== '.' ? [step.name] : []));
    return this.#sample.source.formulation === 'xml' ? names.map((name) => name.replace(/^(@?)[^:]*:/, '$1')) : names;
  }

  #shown(steps: readonly Step[]): string {
    return PATHS[this.#sample.source.formulation].reference(0, steps);
  }

  #field({ steps, scalars }: Gathered, records: number): Field {
    const withValue = new Set(scalars.map(({ record }) => record));
    const distinct = new Set(scalars.map(({ text }) => text));
    const isMany = steps.includes(ITEMS) || withValue.size < scalars.length;
    const kind = scalars
      .map((one) => one.kind)
      .reduce<Kind | undefined>((kind, one) => (kind === undefined ? one : commonKind(kind, one)), undefined);
    return {
      names: this.#names(steps),
      steps,
      reference: this.#shown(steps),
      kind: kind ?? 'text',
      isNatural: scalars.length > 0 && scalars.every(({ isNatural }) => isNatural),
      values: scalars.length,
      missing: records - withValue.size,
      isMany,
      isUnique: !isMany && records > 0 && scalars.length === records && distinct.size === records,
      examples: [...distinct].slice(0, MAX_EXAMPLES),
      distinct,
    };
  }

  /** The key of an entity: a field with a name like a key that is unique; else, with the parent's key, one that is unique within the parent. */
  #keyOf(
    words: readonly string[],
    fields: readonly Field[],
    records: readonly Found[],
    parent: Parent | undefined,
  ): { readonly key: readonly KeyPart[]; readonly keyField: Field | undefined } {
    const likely = fields
      .filter((field) => field.steps.length === 1 && !field.isMany && field.missing === 0 && isKeyKind(field))
      .map((field) => ({ field, likeness: keyLikeness(field.names[0] ?? '', words) }))
      .filter(({ likeness }) => likeness > 0)
      .sort((a, b) => b.likeness - a.likeness)
      .map(({ field }) => field);
    const unique = likely.find(({ isUnique }) => isUnique);
    const own = (field: Field): KeyPart => ({ ups: 0, steps: field.steps });
    if (unique !== undefined) return { key: [own(unique)], keyField: unique };
    if (parent === undefined || parent.entity.key.length === 0) return { key: [], keyField: undefined };
    const above = parent.entity.key.map(({ ups, steps }) => ({ ups: ups + parent.levels, steps }));
    if (parent.isOnly) return { key: above, keyField: undefined };
    const within = likely.find((field) => isUniqueWithin(field, records));
    return within === undefined ? { key: [], keyField: undefined } : { key: [...above, own(within)], keyField: within };
  }
}

/** Of a member of XML: neither text nor attribute. */
const isElement = (name: string): boolean => name !== '.' && !name.startsWith('@');

const isKeyKind = ({ kind, distinct }: Field): boolean =>
  (kind === 'text' || kind === 'integer') && [...distinct].every((text) => text !== '' && text.length <= MAX_KEY_LENGTH);

function isUniqueWithin({ steps }: Field, records: readonly Found[]): boolean {
  const [step] = steps;
  if (step?.kind !== 'member') return false;
  const seen = new Set<string>();
  for (const { members, parent } of records) {
    const tree = members.get(step.name);
    const text = typeof tree === 'string' ? tree : tree !== null && tree !== undefined && 'text' in tree ? tree.text : undefined;
    const place = JSON.stringify([parent, text]);
    if (text === undefined || seen.has(place)) return false;
    seen.add(place);
  }
  return true;
}
