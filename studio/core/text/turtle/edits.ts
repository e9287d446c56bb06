/**
 * What a drawn change means for a text of Turtle that the studio has not printed: edits of the ranges of what has changed, and of nothing
 * else. What cannot be edited so is refused, and the text stays as it is.
 */
import type { RdfTerm } from '../../../../src/mapping/model/model.ts';
import type { Anchor, Id, StudioDocument } from '../../document.ts';
import { baseOf, partId } from '../../elements/base.ts';
import { nameOf } from '../../elements/names.ts';
import { recordsOf } from '../../elements/records.ts';
import type { TextEdit } from '../../history/edits.ts';
import { dialectOf } from '../../print/print.ts';
import { rangesOfObjects } from '../ranges.ts';
import { stop, stopForGood, Unpatched } from '../unpatched.ts';
import { type Change, changeOf, classKey, hasCall, keyOf, onlyOf } from './changes.ts';
import { commentsIn } from './comments.ts';
import { indentAt, nodeEdits, rangesOfProperties, wholeLine } from './node-edits.ts';
import {
  isTerm,
  isWithin,
  type KeptText,
  keptObjects,
  keptTexts,
  nodesOf,
  type PairPlace,
  pairsOf,
  quotes,
  roleOf,
  SOURCES,
  SUBJECTS,
  termsIn,
} from './parts.ts';
import { editedPrefixes } from './prefixes.ts';
import { type PrintedDocument, type PrintedPart, printedDocument, type Tree, treeKey } from './printed.ts';
import { type TreeObject, type TreeProperty, type TreeStatement, type TurtleTree, turtleTree } from './tree.ts';
import { isOwnView, joinsOneOf, readsFrom, readsIn, readsSame } from './view-names.ts';

/**
 * The edits that bring the text of `before` up to date with what `after` means.
 *
 * @throws Unpatched — the text cannot be edited so
 */
export const patchEdits = (before: StudioDocument, after: StudioDocument): readonly TextEdit[] => new Patch(before, after).edits();

/** The edits that give logical views of the text the names that drawing gives. @throws Unpatched — they are read by what is kept as text */
export const viewEdits = (document: StudioDocument): readonly TextEdit[] => new Patch(document, document).viewEdits();

/** A triples map in the text: one statement, or several with one subject. */
interface Written {
  readonly entity: Id;
  readonly statements: readonly TreeStatement[];
}

class Patch {
  readonly #before: StudioDocument;
  readonly #after: StudioDocument;
  readonly #text: string;
  readonly #tree: TurtleTree;
  readonly #old: PrintedDocument;
  readonly #new: PrintedDocument;
  /** Triples maps by their parts. */
  #written: ReadonlyMap<string, Written> = new Map();
  /** What is kept as text, before and after. */
  readonly #kept: readonly KeptText[];
  readonly #edits: TextEdit[] = [];
  /** Triples maps whose views have names of the text. */
  #own: ReadonlySet<string> = new Set();
  /** Whether the view of the triples map that is edited has names of the text. */
  #keepsNames = false;
  readonly #removed = new Map<TreeStatement, Map<TreeProperty, Set<TreeObject>>>();

  constructor(before: StudioDocument, after: StudioDocument) {
    this.#before = before;
    this.#after = after;
    this.#text = before.text.text;
    this.#kept = keptTexts(before).filter(({ id }) => after.records.has(id));
    if (before.language !== after.language || before.base !== after.base)
      stopForGood('The language of a text is changed by converting it.');
    const tree = turtleTree(this.#text, baseOf(before.language, before.base));
    this.#tree = tree ?? stopForGood('The text has an error. Correct it there first.');
    const dialect = dialectOf(before);
    const { declared, edits } = editedPrefixes(before, after, this.#tree);
    this.#edits.push(...edits);
    this.#old = printedDocument(before, dialect, declared);
    this.#new = printedDocument(after, dialect, declared);
  }

  edits(): readonly TextEdit[] {
    const said = new Set(this.#old.errors);
    const error = this.#new.errors.find((one) => !said.has(one));
    if (error !== undefined) stopForGood(`The language of the text cannot say this: ${error}.`);
    this.#written = this.#findWritten();
    this.#own = this.#ownViews();
    for (const [part, old] of this.#old.parts) {
      const next = this.#new.parts.get(part);
      const where = this.#written.get(part) ?? stop(`The triples map ${part} is not found in the text.`);
      if (next === undefined) this.#removePart(where);
      else this.#changePart(where, old, next, this.#own.has(part));
    }
    for (const [part, next] of this.#new.parts) if (!this.#old.parts.has(part)) this.#addPart(part, next);
    return this.#end();
  }

  /** Rewrites logical views with names of the text, and what reads them. */
  viewEdits(): readonly TextEdit[] {
    this.#written = this.#findWritten();
    const own = new Map([...this.#ownViews()].map((part) => [part, (this.#old.parts.get(part) as PrintedPart).tree.term]));
    for (const [part, printed] of this.#old.parts) {
      const where = this.#written.get(part);
      if (where === undefined) continue;
      if (own.has(part)) this.#writeView(where, printed);
      for (const [place, edges] of this.#groups(pairsOf(where.statements), printed)) {
        const trees = edges.map((edge) => printed.pairs.get(edge) as Tree);
        const reads = own.has(part) && trees.some((tree) => readsIn(tree).length > 0);
        if (reads || trees.some((tree) => joinsOneOf(tree, [...own.values()]))) this.#writeAll(place, edges, printed);
      }
    }
    return this.#end();
  }

  #writeView({ statements }: Written, printed: PrintedPart): void {
    const maps = pairsOf(statements).flatMap(({ object }) => nodesOf(this.#tree, object));
    const kept = [...statements, ...maps].map((range) => this.#keptIn(range)).find((one) => one !== undefined);
    if (kept !== undefined) stopForGood(keptBeside(kept.reason));
    const properties = statements.flatMap(({ node }) => node.properties);
    this.#guardQuotes(properties, printed);
    for (const roles of [SOURCES, SUBJECTS]) {
      const [iri, tree] = onlyOf(printed, roles);
      if (iri !== undefined && tree !== undefined && (roles === SOURCES || readsIn(tree).length > 0))
        this.#changeOnly(properties, roles, { before: tree, after: tree, iri }, true);
    }
  }

  /** Comments in what is rewritten stand above it. */
  #end(): readonly TextEdit[] {
    this.#removeAll();
    const comments = this.#edits
      .filter(({ text }) => text !== '')
      .flatMap(({ from, to }) => commentsIn(this.#text, { from, to }).map((one) => ({ from, comment: this.#text.slice(one.from, one.to) })))
      .map(({ from, comment }) => ({ from, to: from, text: `${comment}\n${indentAt(this.#text, from)}` }));
    const ordered = [...comments, ...this.#edits].sort((a, b) => a.from - b.from || a.to - b.to);
    if (ordered.some((edit, i) => i > 0 && edit.from < (ordered[i - 1] as TextEdit).to))
      stop('These changes touch one place of the text. Make them one after the other.');
    return ordered;
  }

  /** Triples maps by their parts: an entity's ranges that are whole statements are those of its parts, in their order. */
  #findWritten(): ReadonlyMap<string, Written> {
    const found = new Map<string, Written>();
    const base = baseOf(this.#before.language, this.#before.base);
    const starts = new Map(this.#tree.statements.map((one) => [one.from, one]));
    for (const { id, parts } of recordsOf(this.#before, 'entity')) {
      const own = (this.#before.text.anchors.get(id) ?? []).flatMap(({ from }) => starts.get(this.#firstToken(from)) ?? []);
      parts.forEach((part, i) => {
        // An entity whose triples maps are shown apart has the ranges of all of them, or none.
        const named = partId(part, base);
        const main = this.#tree.statements.find(({ subject }) => subject?.kind === 'iri' && subject.value === named) ?? own[i];
        if (main === undefined) return;
        const { subject } = main;
        const others = this.#tree.statements.filter((one) => one !== main && subject !== undefined && isTerm(one.subject, subject));
        found.set(part, { entity: id, statements: [main, ...others] });
      });
    }
    return found;
  }

  /** A range that was written begins with the white space before it. */
  #firstToken(from: number): number {
    return from + (/^\s*/.exec(this.#text.slice(from))?.[0].length ?? 0);
  }

  /** Triples maps whose views have names of the text. What they read has not changed. */
  #ownViews(): ReadonlySet<string> {
    const own = new Map<string, RdfTerm>();
    for (const [part, old] of this.#old.parts) {
      const properties = this.#written.get(part)?.statements.flatMap(({ node }) => node.properties) ?? [];
      const object = properties.find(({ iri }) => SOURCES.has(roleOf(iri)))?.objects[0];
      const [, printed] = onlyOf(old, SOURCES);
      if (object !== undefined && printed !== undefined && isOwnView(object, printed, this.#tree.statements)) own.set(part, old.tree.term);
    }
    for (const [part, next] of this.#new.parts) {
      const old = this.#old.parts.get(part);
      const isJoined = [...next.pairs].some(
        ([edge, tree]) => keyOf(next, edge) !== (old && keyOf(old, edge)) && joinsOneOf(tree, [...own.values()]),
      );
      if (isJoined || (old !== undefined && own.has(part) && !(readsSame(old, next) && readsFrom(old, next))))
        stop('This logical view was written in the text, which names its fields and its source. Change it there.');
    }
    return new Set(own.keys());
  }

  #changePart(where: Written, old: PrintedPart, next: PrintedPart, hasOwnView: boolean): void {
    const properties = where.statements.flatMap(({ node }) => node.properties);
    this.#keepsNames = hasOwnView;
    if (!hasOwnView) this.#changeSource(properties, old, next);
    this.#changeSubject(where, properties, old, next);
    this.#changePairs(where, old, next);
    this.#keepsNames = false;
  }

  #changeSource(properties: readonly TreeProperty[], old: PrintedPart, next: PrintedPart): void {
    const change = changeOf(old, next, SOURCES);
    if (change === undefined) return;
    this.#guardQuotes(properties, old);
    const known = this.#sourceText(change.after);
    const property = properties.find((one) => one.iri === change.iri);
    const [object] = property?.objects ?? [];
    if (known === undefined || object === undefined) this.#changeOnly(properties, SOURCES, change);
    else {
      this.#guard(object);
      this.#edits.push({ from: object.from, to: object.to, text: known });
    }
  }

  #guardQuotes(properties: readonly TreeProperty[], { tree: { term } }: PrintedPart): void {
    if (quotes({ properties }, () => true) || this.#tree.statements.some(({ node }) => quotes(node, (quoted) => isTerm(quoted, term))))
      stopForGood('A triples map that quotes another one has to read the same records, and quotes are not drawn. Change both in the text.');
  }

  /**
   * A logical source as the text has it for another triples map. Two triples maps read the same records only if both say so in the same way,
   * so it is not printed in another one.
   */
  #sourceText(source: Tree): string | undefined {
    for (const [part, { statements }] of this.#written) {
      const [old, next] = [this.#old.parts.get(part), this.#new.parts.get(part)];
      if (old === undefined || next === undefined || this.#own.has(part) || changeOf(old, next, SOURCES) !== undefined) continue;
      const [, tree] = onlyOf(old, SOURCES);
      const property = statements.flatMap(({ node }) => node.properties).find(({ iri }) => SOURCES.has(roleOf(iri)));
      const [object] = property?.objects ?? [];
      if (tree !== undefined && object !== undefined && treeKey(tree) === treeKey(source)) return this.#text.slice(object.from, object.to);
    }
    return undefined;
  }

  #changeSubject(where: Written, properties: readonly TreeProperty[], old: PrintedPart, next: PrintedPart): void {
    const change = changeOf(old, next, SUBJECTS) ?? this.#callOfOtherSource(old, next);
    if (change === undefined) return;
    // Classes that stand in separate predicate object maps go into the subject map, with the others.
    const classes = this.#classPairs(where);
    const movesClasses = classes.length > 0 && classKey(change.before) !== classKey(change.after);
    if (movesClasses) for (const one of classes) this.#removeObject(one);
    const { before, after } = change;
    this.#changeOnly(properties, SUBJECTS, change, movesClasses || treeKey(before) === treeKey(after));
  }

  /** A subject map whose function is rewritten, since its triples map has another source. */
  #callOfOtherSource(old: PrintedPart, next: PrintedPart): Change | undefined {
    const [iri, tree] = onlyOf(next, SUBJECTS);
    if (iri === undefined || tree === undefined || !hasCall(tree) || changeOf(old, next, SOURCES) === undefined) return undefined;
    return { before: tree, after: tree, iri };
  }

  /** Changes what a triples map has once: its logical source, its subject map. */
  #changeOnly(properties: readonly TreeProperty[], roles: ReadonlySet<string>, { before, after, iri }: Change, isWhole = false): void {
    const property = properties.find((one) => roles.has(roleOf(one.iri)));
    const [object] = property?.objects ?? [];
    if (property === undefined || object === undefined) stop(`${[...roles][0]} is not found in the text.`);
    else if (property.iri !== iri) {
      // `rr:subject` and `rr:subjectMap` say it in their own ways.
      this.#guard(property);
      const { from, to } = property;
      this.#edits.push({ from, to, text: `${this.#new.iri(iri)} ${this.#new.object(after, indentAt(this.#text, from))}` });
    } else if (isWhole) this.#write(object, after);
    else this.#replace(object, before, after);
  }

  /** Predicate object maps that state classes of an entity. */
  #classPairs({ entity, statements }: Written): readonly PairPlace[] {
    const ranges = this.#before.text.anchors.get(entity) ?? [];
    return pairsOf(statements).filter(({ object }) => ranges.some((range) => isWithin(range, object)));
  }

  #changePairs(where: Written, old: PrintedPart, next: PrintedPart): void {
    const places = pairsOf(where.statements);
    const isElsewhere = !this.#keepsNames && changeOf(old, next, SOURCES) !== undefined;
    for (const [place, edges] of this.#groups(places, old)) {
      // Functions of legacy RML may name the source again.
      const left = edges.filter((edge) => next.pairs.has(edge));
      if (isElsewhere && left.some((edge) => hasCall(next.pairs.get(edge) as Tree))) {
        this.#writeAll(place, left, next);
        continue;
      }
      const isSame = edges.every((edge) => keyOf(old, edge) === keyOf(next, edge));
      if (!isSame) this.#changeGroup(place, edges, old, next);
    }
    const added = [...next.pairs].filter(([edge]) => !old.pairs.has(edge));
    if (added.length > 0) this.#addPairs(where, added);
  }

  /** Edges by the predicate object maps that state them. */
  #groups(places: readonly PairPlace[], { pairs }: PrintedPart): ReadonlyMap<PairPlace, readonly Id[]> {
    const groups = new Map<PairPlace, Id[]>();
    for (const edge of pairs.keys()) {
      const place = this.#placeOf(edge, places) ?? stop(`${nameOf(this.#before, edge)} is not found in the text.`);
      groups.set(place, [...(groups.get(place) ?? []), edge]);
    }
    return groups;
  }

  /** The object in the text that an edge is drawn of. */
  #placeOf(edge: Id, places: readonly PairPlace[]): PairPlace | undefined {
    const ranges = this.#before.text.anchors.get(edge) ?? [];
    const own = places.find(({ object }) => ranges.some((range) => isWithin(range, object) || isWithin(object, range)));
    if (own !== undefined) return own;
    // It is described in a separate statement.
    const statement = this.#tree.statements.find((one) => ranges.some((range) => isWithin(range, one)));
    return places.find(({ object }) => object.kind === 'term' && statement?.subject?.value === object.term.value);
  }

  #changeGroup(place: PairPlace, edges: readonly Id[], old: PrintedPart, next: PrintedPart): void {
    this.#guardOthers(place);
    const left = edges.filter((edge) => next.pairs.has(edge));
    const [only] = left;
    const [before, after] = only === undefined ? [] : [old.pairs.get(only), next.pairs.get(only)];
    if (only === undefined) this.#removeObject(place);
    else if (edges.length === 1 && before !== undefined && after !== undefined) this.#changePair(place.object, only, before, after);
    else this.#writeAll(place, left, next);
  }

  /** A map that has a name is changed where it is described, unless it is used elsewhere too. */
  #changePair(object: TreeObject, edge: Id, before: Tree, after: Tree): void {
    const described = object.kind === 'term' ? this.#describedOnce(object.term) : undefined;
    const edits = described && nodeEdits(this.#text, this.#new, { kind: 'node', ...described }, before, after);
    if (edits === undefined) this.#replace(object, before, after, edge);
    else this.#add(edits);
  }

  #describedOnce({ kind, value }: RdfTerm): TreeStatement | undefined {
    const isIt = (term: RdfTerm | undefined): boolean => term?.kind === kind && term.value === value;
    const [only, ...others] = this.#tree.statements.filter(({ subject }) => isIt(subject));
    const uses = this.#tree.statements.flatMap(({ node }) => termsIn(node)).filter(isIt).length;
    return others.length === 0 && uses === 1 ? only : undefined;
  }

  /** Several edges that the text states in one predicate object map: each gets its own. */
  #writeAll(place: PairPlace, left: readonly Id[], next: PrintedPart): void {
    this.#guard(place.object);
    this.#guardOthers(place);
    const indent = indentAt(this.#text, place.object.from);
    left.forEach((edge, i) => {
      const { from, to } = place.object;
      this.#guardNames(next.pairs.get(edge) as Tree);
      const text = this.#new.object(next.pairs.get(edge) as Tree, indent);
      // One after the other at the end of what is replaced.
      if (i === 0) this.#edits.push({ from, to, text, of: edge });
      else this.#edits.push({ from: to, to, text: `,\n${indent}` }, { from: to, to, text, of: edge });
    });
  }

  #addPairs({ statements }: Written, added: readonly (readonly [Id, Tree])[]): void {
    const main = statements[0] as TreeStatement;
    const properties = main.node.properties;
    const last = properties.at(-1);
    if (last === undefined) throw new Unpatched('The triples map has no property in the text.');
    const known = properties.findLast(({ iri }) => roleOf(iri) === 'predicateObjectMap');
    const indent = known === undefined ? indentAt(this.#text, last.from) : indentAt(this.#text, known.from);
    const verb = known === undefined ? this.#new.iri(this.#pairProperty()) : this.#text.slice(known.verb.from, known.verb.to);
    for (const [edge, tree] of added) {
      this.#edits.push({ from: last.to, to: last.to, text: ` ;\n${indent}${verb} ` });
      this.#edits.push({ from: last.to, to: last.to, text: this.#new.object(tree, indent), of: edge });
    }
  }

  #pairProperty(): string {
    for (const { tree } of this.#new.parts.values())
      for (const iri of tree.properties?.keys() ?? []) if (roleOf(iri) === 'predicateObjectMap') return iri;
    return stopForGood('There is no predicate object map to write.');
  }

  #addPart(part: string, next: PrintedPart): void {
    const end = this.#text.length;
    const gap = this.#text === '' || this.#text.endsWith('\n\n') ? '' : this.#text.endsWith('\n') ? '\n' : '\n\n';
    const entity = recordsOf(this.#after, 'entity').find(({ parts }) => parts.includes(part))?.id;
    this.#edits.push({ from: end, to: end, text: gap });
    this.#edits.push({ from: end, to: end, text: this.#blockOf(next), ...(entity !== undefined && { of: entity }) });
    this.#edits.push({ from: end, to: end, text: '\n' });
  }

  #blockOf(next: PrintedPart): string {
    const block = this.#new.block(next);
    const [, source] = onlyOf(next, SOURCES);
    const [known, printed] = source === undefined ? [] : [this.#sourceText(source), this.#new.object(source, '  ')];
    // A function that is called with the text takes no `$&` for a pattern.
    return known === undefined || printed === undefined ? block : block.replace(printed, () => known);
  }

  #removePart({ entity, statements }: Written): void {
    const name = nameOf(this.#before, entity);
    for (const statement of statements) {
      if (this.#keptIn(statement) !== undefined) stopForGood(`${name} has parts that are kept as text. Remove it in the text.`);
      this.#remove(wholeLine(this.#text, statement));
    }
  }

  #replace(object: TreeObject, before: Tree, after: Tree, of?: Id): void {
    const edits = nodeEdits(this.#text, this.#new, object, before, after);
    if (edits === undefined) this.#write(object, after, of);
    else this.#add(edits);
  }

  #add(edits: readonly TextEdit[]): void {
    for (const edit of edits) this.#guard(edit);
    this.#edits.push(...edits);
  }

  #write(object: TreeObject, after: Tree, of?: Id): void {
    this.#guard(object);
    this.#guardNames(after);
    const { from, to } = object;
    this.#edits.push({ from, to, text: this.#new.object(after, indentAt(this.#text, from)), ...(of !== undefined && { of }) });
  }

  /** Removes an object, with its property if it is the only one. */
  /** Removes an object; its property goes with the last one. */
  #removeObject({ owner, property, object }: PairPlace): void {
    this.#guard(object);
    const removed = this.#removed.get(owner) ?? new Map<TreeProperty, Set<TreeObject>>();
    removed.set(property, (removed.get(property) ?? new Set()).add(object));
    this.#removed.set(owner, removed);
  }

  /** Objects and properties are removed together: what stands between two of them goes once. */
  #removeAll(): void {
    for (const [owner, removed] of this.#removed) {
      const whole = new Set<TreeProperty>();
      for (const [property, objects] of removed) {
        if (property.objects.every((one) => objects.has(one))) whole.add(property);
        else for (const range of rangesOfObjects(property, objects)) this.#remove(range);
      }
      const ranges = rangesOfProperties(this.#text, owner.node, whole);
      if (ranges === undefined) this.#remove(wholeLine(this.#text, owner));
      else for (const range of ranges) this.#remove(range);
    }
  }

  #remove({ from, to }: Anchor): void {
    this.#edits.push({ from, to, text: '' });
  }

  /** What would be rewritten has other names than the text. */
  #guardNames(tree: Tree): void {
    if (this.#keepsNames && readsIn(tree).length > 0)
      stop('This reads a logical view whose fields have names of the text. Change it in the text.');
  }

  /** What changes of a predicate object map would change for its objects that are kept as text, too. */
  #guardOthers({ object }: PairPlace): void {
    const [reason] = keptObjects(this.#tree, object, this.#kept).values();
    if (reason !== undefined) stop(keptBeside(reason));
  }

  /** What is kept as text is not written over. */
  #guard(range: Anchor): void {
    const kept = range.from === range.to ? undefined : this.#keptIn(range);
    if (kept !== undefined) stop(keptBeside(kept.reason));
  }

  #keptIn(range: Anchor): KeptText | undefined {
    return this.#kept.find(({ anchor }) => anchor.from < range.to && range.from < anchor.to && !isWithin(range, anchor));
  }
}

const keptBeside = (reason: string): string =>
  `This stands in the text together with what the canvas does not draw (${reason}). Change it in the text.`;
