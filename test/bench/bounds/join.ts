/** `join-nm…`: parents by key, then each child with all parents of its key. Ids occur once, so no statement is made twice. */
import { cellsOf, EX, eachLine, end, escaped, TYPE, write } from './bound.ts';

const parents = new Map<string, string[]>();
let statements = 0;

function eachRow(file: string, act: (id: string, key: string, label: string) => void): void {
  let isHeader = true;
  eachLine(file, (line) => {
    const [id, key, label] = cellsOf(line) as [string, string, string];
    if (!isHeader) act(id, key, label);
    isHeader = false;
  });
}

eachRow('parent.csv', (id, key, label) => {
  const subject = `<http://example.com/parent/${id}>`;
  const known = parents.get(key);
  if (known === undefined) parents.set(key, [subject]);
  else known.push(subject);
  write(`${subject} <${TYPE}> <${EX}Parent> .\n${subject} <${EX}label> "${escaped(label)}" .\n`);
  statements += 2;
});
eachRow('child.csv', (id, key, label) => {
  const subject = `<http://example.com/child/${id}>`;
  const related = `${subject} <${EX}related> `;
  let lines = `${subject} <${TYPE}> <${EX}Child> .\n${subject} <${EX}label> "${escaped(label)}" .\n`;
  const found = parents.get(key) ?? [];
  for (const parent of found) lines += `${related}${parent} .\n`;
  write(lines);
  statements += 2 + found.length;
});
end(statements);
