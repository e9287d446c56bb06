/** Prefixes that a change adds, renames and removes, as edits of a text of Turtle. */
import type { StudioDocument } from '../../document.ts';
import { recordsOf } from '../../elements/records.ts';
import type { TextEdit } from '../../history/edits.ts';
import { stopForGood } from '../unpatched.ts';
import { wholeLine } from './node-edits.ts';
import type { TurtleTree } from './tree.ts';

/** @returns what the text declares after the edits @throws Unpatched — a prefix that the text uses is removed or stands for something else */
export function editedPrefixes(
  before: StudioDocument,
  after: StudioDocument,
  tree: TurtleTree,
): { readonly declared: ReadonlyMap<string, string>; readonly edits: readonly TextEdit[] } {
  const { text } = before.text;
  const edits: TextEdit[] = [];
  const old = new Map(recordsOf(before, 'prefix').map((one) => [one.id, one]));
  const next = new Map(recordsOf(after, 'prefix').map((one) => [one.id, one]));
  const declared = new Map(tree.prefixes.map((one) => [one.name, one.iri]));
  const last = tree.prefixes.at(-1)?.to;
  for (const [id, { name, iri }] of next) {
    const known = old.get(id);
    if (known?.name === name && known.iri === iri) continue;
    if (known !== undefined && known.iri !== iri) stopForGood(`The prefix ${known.name} is used in the text. Add another one instead.`);
    if (known === undefined) {
      const line = `@prefix ${name}: <${iri}> .`;
      edits.push({ from: last ?? 0, to: last ?? 0, text: last === undefined ? `${line}\n` : `\n${line}`, of: id });
    } else edits.push(...renamed(text, tree, known.name, name));
    declared.delete(known?.name ?? '');
    declared.set(name, iri);
  }
  for (const [id, { name }] of old) {
    if (next.has(id)) continue;
    if (tree.names.some(({ prefix }) => prefix === name)) stopForGood(`The prefix ${name} is used in the text.`);
    for (const one of tree.prefixes) if (one.name === name) edits.push({ ...wholeLine(text, one), text: '' });
    declared.delete(name);
  }
  return { declared, edits };
}

function renamed(text: string, { prefixes, names }: TurtleTree, from: string, to: string): readonly TextEdit[] {
  const declarations = prefixes.filter(({ name }) => name === from).map((one) => text.indexOf(`${from}:`, one.from));
  const uses = names.filter(({ prefix }) => prefix === from).map((one) => one.from);
  return [...declarations, ...uses].map((at) => ({ from: at, to: at + from.length, text: to }));
}
