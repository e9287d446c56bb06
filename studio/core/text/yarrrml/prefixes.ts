/** Prefixes of a text of YARRRML: declared, removed, and given other names wherever they are used. */
import { isScalar, type Node, type Scalar, visit } from 'yaml';
import { yamlOf } from '../../../../src/mapping/convert/yarrrml-layout.ts';
import { headOf, PREDEFINED } from '../../../../src/mapping/yarrrml/prefixes.ts';
import { recordsOf } from '../../elements/records.ts';
import { stopForGood } from '../unpatched.ts';
import type { Patching } from './patching.ts';
import { type MappingNode, pairsOf, scalarText } from './tree.ts';

export const editedPrefixes = (patching: Patching): ReadonlyMap<string, string> => new PrefixEdits(patching).changed();

class PrefixEdits {
  readonly #patching: Patching;

  constructor(patching: Patching) {
    this.#patching = patching;
  }

  /** Of what the text declares after the edits; they are edited on the way. */
  changed(): ReadonlyMap<string, string> {
    const [old, next] = [this.#patching.before, this.#patching.after].map(
      (document) => new Map(recordsOf(document, 'prefix').map((one) => [one.id, one])),
    );
    const node = this.#patching.tree.keys.get('prefixes');
    const map = node?.value != null && 'items' in node.value ? (node.value as MappingNode['map']) : undefined;
    const written = new Map(
      (map === undefined ? [] : pairsOf(map)).flatMap((pair) => (isScalar(pair.key) ? [[scalarText(pair.key), pair] as const] : [])),
    );
    const declared = new Map([...written].flatMap(([name, { value }]) => (isScalar(value) ? [[name, scalarText(value)] as const] : [])));
    for (const [id, { name, iri }] of next as NonNullable<typeof next>) {
      const was = old?.get(id);
      if (was?.name === name && was.iri === iri) continue;
      if (was !== undefined && was.iri !== iri) stopForGood(`The prefix ${was.name} is used in the text. Add another one instead.`);
      if (was === undefined) {
        if (map !== undefined) this.#patching.edits.addKey(map, name, iri);
        else this.#patching.edits.insert(this.#patching.tree.root.range?.[0] ?? 0, `prefixes:\n  ${name}: ${yamlOf(iri, 'value')}\n`);
      } else this.#renamePrefix(was.name, name, written.get(was.name)?.key, declared);
      declared.delete(was?.name ?? '');
      declared.set(name, iri);
    }
    for (const [id, { name }] of old as NonNullable<typeof old>) {
      if (next?.has(id)) continue;
      const pair = written.get(name);
      if (this.#usesOf(name, declared).length > 0) stopForGood(`The prefix ${name} is used in the text.`);
      if (pair !== undefined && map !== undefined) {
        if (written.size > 1) this.#patching.edits.removeKey(map, pair);
        else this.#patching.edits.removeKey(this.#patching.tree.root, node as Exclude<typeof node, undefined>);
      }
      declared.delete(name);
    }
    return new Map([...Object.entries(PREDEFINED), ...declared]);
  }

  #renamePrefix(from: string, to: string, key: Node | undefined, declared: ReadonlyMap<string, string>): void {
    if (PREDEFINED[from] !== undefined || key === undefined) stopForGood(`The prefix ${from} cannot get another name in YARRRML.`);
    else this.#patching.edits.write(key, to);
    for (const at of this.#usesOf(from, declared)) this.#patching.edits.edits.push({ from: at, to: at + from.length, text: to });
  }

  /** Where values begin with a prefix. */
  #usesOf(prefix: string, declared: ReadonlyMap<string, string>): readonly number[] {
    const mappings = this.#patching.tree.keys.get('mappings')?.value;
    return scalarsIn(mappings ?? undefined).flatMap((node) => {
      const head = headOf(scalarText(node), declared);
      if (head.kind !== 'prefix' || !scalarText(node).startsWith(`${prefix}:`)) return [];
      const at = this.#patching.before.text.text.indexOf(`${prefix}:`, node.range?.[0] ?? 0);
      return at < 0 ? [] : [at];
    });
  }
}

function scalarsIn(node: Node | undefined): readonly Scalar[] {
  const found: Scalar[] = [];
  if (node !== undefined) visit(node, { Scalar: (_, one) => void found.push(one) });
  return found;
}
