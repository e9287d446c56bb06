/** `flat-…` and `dup…`: eleven statements for each row whose id is new. Rows of one id are the same row. */
import { cellsOf, EX, eachLine, encoded, end, escaped, TYPE, write, XSD } from './bound.ts';

const PERSON = 'http://example.com/person/';
const FOAF = 'http://xmlns.com/foaf/0.1/';

const seen = new Set<string>();
let isHeader = true;
let statements = 0;
eachLine('data.csv', (line) => {
  if (isHeader) {
    isHeader = false;
    return;
  }
  // Most repeated rows end here.
  const id = line.slice(0, line.indexOf(','));
  if (seen.has(id)) return;
  seen.add(id);
  const cells = cellsOf(line) as [string, string, string, string, string, string, string, string, string, string];
  const [, name, email, city, country, score, visits, created, active, note] = cells;
  const subject = `<${PERSON}${id}> `;
  write(
    `${subject}<${TYPE}> <${FOAF}Person> .\n${subject}<${EX}id> "${id}"^^<${XSD}integer> .\n${subject}<${FOAF}name> "${escaped(name)}" .\n${subject}<${EX}email> "${escaped(email)}" .\n${subject}<${EX}city> <http://example.com/city/${encoded(city)}> .\n${subject}<${EX}country> "${escaped(country)}" .\n${subject}<${EX}score> "${score}"^^<${XSD}decimal> .\n${subject}<${EX}visits> "${visits}"^^<${XSD}integer> .\n${subject}<${EX}created> "${created}"^^<${XSD}date> .\n${subject}<${EX}active> "${active}"^^<${XSD}boolean> .\n${subject}<${EX}note> "${escaped(note)}" .\n`,
  );
  statements += 11;
});
end(statements);
