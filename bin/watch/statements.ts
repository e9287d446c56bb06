/** The statements of a run, in memory and in order, and what two runs differ in. */
import { createHash } from 'node:crypto';
import { Fault } from '../../src/core/fault.ts';
import { fromBytes } from '../../src/core/text.ts';
import { isTriple, mapTriple, splitLine } from '../../src/nquads/terms.ts';

/** So much can be compared. */
export const MAX_STATEMENTS = 200_000;
export const MAX_BYTES = 128 * 2 ** 20;
/**
 * Blank nodes are distinguished by what surrounds them up to so many steps: always the same number, so that a change here makes no other labels
 * there. Swapped nodes that look alike for so many steps are taken for one another.
 */
const ROUNDS = 5;

/** Statements as they are written, one-byte text. */
export class Statements {
  readonly #lines = new Set<string>();
  #bytes = 0;
  /** By file: the beginning of a line whose rest is still to come. */
  readonly #begun = new Map<string | undefined, string>();

  /**
   * @param file of a logical target; undefined: the output of the run
   * @throws Fault limit/exceeded
   */
  add(lines: string, file?: string): void {
    const text = (this.#begun.get(file) ?? '') + lines;
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      // The line is cut out of a large text, which it would keep in memory.
      const line = Buffer.from(text.slice(from, end), 'latin1').toString('latin1') + (file === undefined ? '' : ` # ${file}`);
      this.#lines.add(line);
      this.#bytes += line.length;
      from = end + 1;
    }
    this.#begun.set(file, text.slice(from));
    if (this.#lines.size <= MAX_STATEMENTS && this.#bytes <= MAX_BYTES) return;
    throw new Fault('limit/exceeded', `--watch compares at most ${MAX_STATEMENTS} statements or ${MAX_BYTES / 2 ** 20} MB of them`, {
      hint: 'Read fewer records: --limit 100',
    });
  }

  /**
   * The statements in order. The label of a blank node is made of what is stated of it, and of the nodes around it: so it does not depend on
   * the position of its record. Statements that differ in nothing else are there several times.
   */
  sorted(): readonly string[] {
    const lines = [...this.#lines];
    const withNodes = lines.filter((line) => line.includes('_:'));
    const labels = withNodes.length === 0 ? undefined : labelsOf(withNodes);
    return lines
      .map((line) => (labels === undefined || !line.includes('_:') ? line : relabelled(line, (node) => labels.get(node) ?? node)))
      .sort();
  }
}

/** By blank node: a label that equal surroundings give. */
function labelsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const around = new Map<string, string[]>();
  for (const line of lines) {
    relabelled(line, (node) => {
      const known = around.get(node) ?? [];
      if (known.at(-1) !== line) known.push(line);
      around.set(node, known);
      return node;
    });
  }
  let labels = new Map([...around.keys()].map((node) => [node, '']));
  for (let round = 0; round < ROUNDS; round++) {
    const before = labels;
    labels = new Map(
      [...around].map(([node, stated]) => [node, `_:${digestOf(stated.map((line) => seenFrom(line, node, before)).sort())}`]),
    );
  }
  return labels;
}

const seenFrom = (line: string, node: string, labels: ReadonlyMap<string, string>): string =>
  relabelled(line, (one) => (one === node ? '_:this' : (labels.get(one) ?? one)));

const digestOf = (lines: readonly string[]): string => createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12);

/** A statement with other labels of its blank nodes. */
function relabelled(line: string, label: (node: string) => string): string {
  const node = (term: string): string => (term.startsWith('_:') ? label(term) : isTriple(term) ? mapTriple(term, node) : term);
  const [subject, predicate, object, rest] = splitLine(`${line}\n`);
  const [, graph = '', end = rest] = /^(_:\S+)( .*)$/s.exec(rest) ?? [];
  return `${node(subject)} ${predicate} ${node(object)} ${graph === '' ? '' : node(graph)}${end}`.trimEnd();
}

export interface Difference {
  /** Statements with `+ ` or `- ` in front, as ordinary text and in order. */
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
}

/** @param shown the most lines */
export function differenceOf(before: readonly string[], after: readonly string[], shown: number): Difference {
  const lines: string[] = [];
  const counts = { '+': 0, '-': 0 };
  const take = (sign: '+' | '-', line: string): void => {
    counts[sign]++;
    if (lines.length < shown) lines.push(`${sign} ${fromBytes(line)}`);
  };
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [left, right] = [before[i], after[j]];
    if (left === right) {
      i++;
      j++;
    } else if (right === undefined || (left !== undefined && left < right)) {
      take('-', left as string);
      i++;
    } else {
      take('+', right);
      j++;
    }
  }
  return { lines, added: counts['+'], removed: counts['-'] };
}
