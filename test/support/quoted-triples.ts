/**
 * N-Quads with quoted triples (`<< s p o >>`) as N-Quads without: each quoted triple becomes a blank node with a statement for each of its
 * terms. Two documents are equal, up to the names of blank nodes, if and only if they are equal so written.
 */

const TOKEN = /<<|>>|<[^<>]*>|_:[^\s<>]+|"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>]*>)?|\.|#.*/gy;

/** Text without quoted triples is returned as it is. @throws Error — a line that is no statement */
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
