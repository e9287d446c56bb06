/** N-Quads with quoted triples (`<< s p o >>`) in other forms, token by token and without the code of the project. */
import { createHash } from 'node:crypto';

const TOKEN = /<<|>>|<[^<>]*>|_:[^\s<>]+|"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>]*>)?|\.|#.*/gy;

/**
 * Each quoted triple as a blank node with a statement for each of its terms. Two documents are equal, up to the names of blank nodes, if and
 * only if they are equal so written.
 *
 * Text without quoted triples is returned as it is.
 *
 * @throws Error — a line that is no statement
 */
export function withoutQuoted(text: string): string {
  if (!text.includes('<<')) return text;
  const nodes = new Map<string, string>();
  const described: string[] = [];
  const lines = text.split('\n').map((line) => {
    const tokens = tokensOf(line);
    let at = 0;
    const term = (): string => {
      const token = tokens[at++];
      if (token !== '<<') return token ?? '';
      const [s, p, o] = [term(), term(), term()];
      if (tokens[at++] !== '>>') throw new Error(`a quoted triple has no end: ${line}`);
      const key = `${s} ${p} ${o}`;
      const known = nodes.get(key);
      if (known !== undefined) return known;
      const node = `_:quoted${nodes.size}`;
      nodes.set(key, node);
      described.push(...[s, p, o].map((part, i) => `${node} <urn:quoted:${i}> ${part} .`));
      return node;
    };
    const terms: string[] = [];
    while (at < tokens.length) terms.push(term());
    return terms.join(' ');
  });
  return [...lines, ...described].join('\n');
}

/**
 * The statements of lines in RDF 1.2: a quoted triple as an object is `<<( s p o )>>`, as a subject a blank node that is named after it and
 * reifies it, in the graph of the statement. Each once.
 */
export function inRdf12(lines: Iterable<string>): Set<string> {
  const made = new Set<string>();
  for (const line of lines) {
    const tokens = tokensOf(line).slice(0, -1);
    let at = 0;
    const reified: (readonly [node: string, triple: string])[] = [];
    const triple = (): string => {
      const [s, p, o] = [node(), tokens[at++], object()];
      at++;
      return `<<( ${s} ${p} ${o} )>>`;
    };
    const object = (): string => {
      const token = tokens[at++] as string;
      return token === '<<' ? triple() : token;
    };
    const node = (): string => {
      const term = object();
      if (!term.startsWith('<<(')) return term;
      const name = `_:t${createHash('sha256').update(term).digest('hex').slice(0, 32)}`;
      reified.push([name, term]);
      return name;
    };
    const [s, p, o] = [node(), tokens[at++], object()];
    const end = at < tokens.length ? `${tokens[at]} .` : '.';
    made.add(`${s} ${p} ${o} ${end}`);
    for (const [name, term] of reified) made.add(`${name} <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> ${term} ${end}`);
  }
  return made;
}

function tokensOf(line: string): readonly string[] {
  const tokens: string[] = [];
  for (let at = 0; at < line.length; ) {
    if (/\s/.test(line[at] as string)) {
      at++;
      continue;
    }
    TOKEN.lastIndex = at;
    const [token] = TOKEN.exec(line) ?? [];
    if (token === undefined) throw new Error(`no statement: ${line}`);
    if (!token.startsWith('#')) tokens.push(token);
    at += token.length;
  }
  return tokens;
}
