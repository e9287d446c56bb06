/**
 * N-Quads → JSON-LD: an array of node objects in expanded form, without a context, one per line.
 *
 * Statements with the same subject and graph within a window form one node object. If the subject occurs again later, it gets another node
 * object: readers merge objects with the same `@id`, but keep only one of several members with the same name. Named graphs are separate
 * objects with only name and nodes. All values keep their lexical forms: none is native.
 *
 * @see https://www.w3.org/TR/json-ld11/#expanded-document-form
 */
import { unescapeTerm } from '../../core/text.ts';
import type { Conversion } from './conversion.ts';

/** Characters of N-Quads whose statements are grouped. */
const WINDOW_LENGTH = 256 * 1024;

const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/** By subject and member: the JSON texts of the values. All keys are JSON texts as well; none occurs twice. */
type Nodes = Map<string, Map<string, string[]>>;

export function jsonLd(): Conversion {
  /** By graph; the default graph has no name. */
  let window = new Map<string, Nodes>();
  let length = 0;
  let start = '[\n';

  const flush = (): string => {
    let text = '';
    const push = (object: string): void => {
      text += start + object;
      start = ',\n';
    };
    for (const [graph, nodes] of window) {
      const objects = [...nodes].map(([subject, members]) => nodeObject(subject, members));
      if (graph === '') for (const object of objects) push(object);
      else push(`{"@id":${graph},"@graph":[\n  ${objects.join(',\n  ')}\n]}`);
    }
    window = new Map();
    length = 0;
    return text;
  };
  return {
    add(subject, predicate, object, graph) {
      const nodes = entry(window, graph === '' ? '' : name(graph), newNodes);
      const members = entry(nodes, name(subject), newMembers);
      // Values of @type are IRIs or blank nodes; a literal type is an ordinary property value.
      if (predicate === RDF_TYPE && object[0] !== '"') entry(members, '"@type"', newValues).push(name(object));
      else entry(members, name(predicate), newValues).push(value(object));
      length += subject.length + predicate.length + object.length + graph.length;
      return length < WINDOW_LENGTH ? '' : flush();
    },
    end() {
      const rest = flush();
      return start === '[\n' ? '[]\n' : `${rest}\n]\n`;
    },
  };
}

const newNodes = (): Nodes => new Map();
const newMembers = (): Map<string, string[]> => new Map();
const newValues = (): string[] => [];

function entry<Item>(map: Map<string, Item>, key: string, make: () => Item): Item {
  let item = map.get(key);
  if (item === undefined) map.set(key, (item = make()));
  return item;
}

function nodeObject(subject: string, members: Map<string, string[]>): string {
  let text = `{"@id":${subject}`;
  for (const [key, values] of members) text += `,${key}:[${values.join(',')}]`;
  return `${text}}`;
}

/** An IRI or blank node as a JSON text. Neither contains a character that JSON escapes. */
export const name = (term: string): string => (term[0] === '<' ? `"${term.slice(1, -1)}"` : `"${term}"`);

function value(object: string): string {
  if (object[0] !== '"') return `{"@id":${name(object)}}`;
  const end = object.lastIndexOf('"');
  // One-byte text stays one-byte: only ASCII characters are escaped in JSON.
  const text = JSON.stringify(unescapeTerm(object.slice(1, end)));
  if (object[end + 1] === '@') return `{"@value":${text},"@language":"${object.slice(end + 2)}"}`;
  return object[end + 1] === '^' ? `{"@value":${text},"@type":${name(object.slice(end + 3))}}` : `{"@value":${text}}`;
}
