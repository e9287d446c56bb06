/** `xml-nested…`: elements stand on separate lines, in a known order. Ids occur once, and so do the tags of an order. */
import { EX, eachLine, encoded, end, escaped, TYPE, write, XSD } from './bound.ts';

const REFERENCES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const unescaped = (text: string): string =>
  text.includes('&') ? text.replace(/&(?:lt|gt|amp);/g, (one) => REFERENCES[one] as string) : text;

/** The next text between two marks, which are in the line. The search goes on behind it. */
let at = 0;
function next(line: string, before: string, after: string): string {
  const from = line.indexOf(before, at) + before.length;
  at = line.indexOf(after, from);
  return line.slice(from, at);
}
const value = (line: string, before: string, after: string): string => escaped(unescaped(next(line, before, after)));

let statements = 0;
let text = '';
let order = '';
let subject = '';
eachLine('orders.xml', (line) => {
  at = 0;
  if (line.startsWith('      <line ')) {
    const id = next(line, 'order="', '"');
    const of = `<http://example.com/order/${id}/line/${next(line, 'no="', '"')}> `;
    const sku = value(line, '<sku>', '<');
    const qty = next(line, '<qty>', '<');
    const price = next(line, '<price>', '<');
    text += `${of}<${TYPE}> <${EX}Line> .\n${of}<${EX}sku> "${sku}" .\n${of}<${EX}qty> "${qty}"^^<${XSD}integer> .\n${of}<${EX}price> "${price}"^^<${XSD}decimal> .\n${of}<${EX}order> ${order} .\n`;
    statements += 5;
  } else if (line.startsWith('    <tag>')) {
    text += `${subject}<${EX}tag> "${value(line, '<tag>', '<')}" .\n`;
    statements++;
  } else if (line.startsWith('  <order ')) {
    order = `<http://example.com/order/${next(line, 'id="', '"')}>`;
    subject = `${order} `;
    text = `${subject}<${TYPE}> <${EX}Order> .\n${subject}<${EX}status> "${value(line, 'status="', '"')}" .\n`;
    statements += 7;
  } else if (line.startsWith('    <placed>')) {
    text += `${subject}<${EX}placed> "${next(line, '<placed>', '<')}"^^<${XSD}dateTime> .\n`;
  } else if (line.startsWith('    <customer>')) {
    const name = value(line, '<name>', '<');
    const email = value(line, '<email>', '<');
    const city = encoded(unescaped(next(line, 'city="', '"')));
    const country = value(line, 'country="', '"');
    text += `${subject}<${EX}customerName> "${name}" .\n${subject}<${EX}customerEmail> "${email}" .\n${subject}<${EX}city> <http://example.com/city/${city}> .\n${subject}<${EX}country> "${country}" .\n`;
  } else if (line.startsWith('  </order>')) {
    write(text);
  }
});
end(statements);
