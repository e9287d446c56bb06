/** Where values of a text of YARRRML stand. */
import { isCollection, isPair, parseDocument, visit } from 'yaml';
import type { Origin } from '../../../../src/mapping/model/model.ts';
import type { Anchor } from '../../document.ts';
import { lineOffsets, type Places } from '../places.ts';

export function yamlPlaces(text: string): Places {
  const offsets = lineOffsets(text);
  const nodes = new Map<number, Anchor>();
  const pairs: Anchor[] = [];
  visit(parseDocument(text), (_, node) => {
    if (isPair(node)) {
      const key = rangeOf(node.key);
      const value = rangeOf(node.value);
      if (key !== undefined) pairs.push({ from: key.from, to: trimmed(text, value ?? key) });
      return;
    }
    const range = rangeOf(node);
    // The outermost node that begins here.
    if (range !== undefined && (!nodes.has(range.from) || isCollection(node)))
      nodes.set(range.from, { from: range.from, to: trimmed(text, range) });
  });
  const offsetOf = ({ line, column }: Origin): number => (offsets[line - 1] ?? 0) + column - 1;
  return {
    nodeAt: (origin) => nodes.get(offsetOf(origin)),
    statementAt: (origin) => {
      const at = offsetOf(origin);
      return pairs.find(({ from }) => from === at) ?? nodes.get(at);
    },
  };
}

function rangeOf(node: unknown): Anchor | undefined {
  const range =
    typeof node === 'object' && node !== null && 'range' in node ? (node.range as readonly number[] | null | undefined) : undefined;
  const [from, to] = range ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** The end without the white space and line ends that a block takes along. */
function trimmed(text: string, { from, to }: Anchor): number {
  return from + text.slice(from, to).trimEnd().length;
}
