/** `json-nested…`: one order a line, in an array. Ids occur once, and so do the tags of an order. */
import { EX, eachLine, encoded, end, escaped, TYPE, write, XSD } from './bound.ts';

interface Order {
  readonly id: number;
  readonly placed: string;
  readonly status: string;
  readonly customer: {
    readonly name: string;
    readonly email: string;
    readonly address: { readonly city: string; readonly country: string };
  };
  readonly lines: readonly { readonly no: number; readonly sku: string; readonly qty: number; readonly price: number }[];
  readonly tags: readonly string[];
}

let statements = 0;
eachLine('orders.json', (line) => {
  if (line.length < 2) return;
  const { id, placed, status, customer, lines, tags } = JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line) as Order;
  const { city, country } = customer.address;
  const order = `<http://example.com/order/${id}`;
  const subject = `${order}> `;
  let text = `${subject}<${TYPE}> <${EX}Order> .\n${subject}<${EX}placed> "${placed}"^^<${XSD}dateTime> .\n${subject}<${EX}status> "${escaped(status)}" .\n${subject}<${EX}customerName> "${escaped(customer.name)}" .\n${subject}<${EX}customerEmail> "${escaped(customer.email)}" .\n${subject}<${EX}city> <http://example.com/city/${encoded(city)}> .\n${subject}<${EX}country> "${escaped(country)}" .\n`;
  for (const tag of tags) text += `${subject}<${EX}tag> "${escaped(tag)}" .\n`;
  for (const { no, sku, qty, price } of lines) {
    const of = `${order}/line/${no}> `;
    text += `${of}<${TYPE}> <${EX}Line> .\n${of}<${EX}sku> "${escaped(sku)}" .\n${of}<${EX}qty> "${qty}"^^<${XSD}integer> .\n${of}<${EX}price> "${price}"^^<${XSD}decimal> .\n${of}<${EX}order> ${order}> .\n`;
  }
  write(text);
  statements += 7 + tags.length + 5 * lines.length;
});
end(statements);
