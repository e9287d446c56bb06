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
import type { Conversion, Frame } from './conversion.ts';

/** Characters of N-Quads whose statements are grouped. */
const WINDOW_LENGTH = 256 * 1024;

const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/** By subject and member: the JSON texts of the values. All keys are JSON texts as well; none occurs twice. */
type Nodes = Map<string, Members>;
type Members = Map<string, string[]>;

export const JSON_LD_FRAME: Frame = { head: '[', separator: ',', tail: '\n]\n', empty: '[]\n' };

export function jsonLd(): Conversion {
  /** By graph; the default graph has no name. */
  let window = new Map<string, Nodes>();
  let length = 0;
  /** The members of the last statement's subject, in its graph. */
  let [subject, graph] = ['', ''];
  let members: Members = new Map();

  const close = (): string => {
    let text = '';
    for (const [of, nodes] of window) {
      const objects = [...nodes].map(([id, own]) => nodeObject(id, own));
      if (of === '') for (const object of objects) text += `,\n${object}`;
      else text += `,\n{"@id":${of},"@graph":[\n  ${objects.join(',\n  ')}\n]}`;
    }
    window = new Map();
    length = 0;
    subject = '';
    return text;
  };
  const put = (s: string, member: string, object: string, g: string): string => {
    if (s !== subject || g !== graph) {
      members = entry(entry(window, g === '' ? '' : name(g), newNodes), name(s), newMembers);
      [subject, graph] = [s, g];
    }
    entry(members, member, newValues).push(object);
    length += s.length + member.length + object.length + g.length;
    return length < WINDOW_LENGTH ? '' : close();
  };
  const add: Conversion['add'] = (s, p, o, g) =>
    // Values of @type are IRIs or blank nodes; a literal type is an ordinary property value.
    p === RDF_TYPE && o[0] !== '"' ? put(s, '"@type"', name(o), g) : put(s, name(p), value(o), g);
  return {
    add,
    pattern(p, object, g) {
      if (object.kind === 'any') return (s, text) => add(s, p, object.tokenOf(text), g);
      const isType = p === RDF_TYPE && object.kind === 'resource';
      const member = isType ? '"@type"' : name(p);
      const { before, after } = object;
      if (object.kind === 'resource') {
        const token = (text: string): string => name(before + text + after);
        return isType ? (s, text) => put(s, member, token(text), g) : (s, text) => put(s, member, `{"@id":${token(text)}}`, g);
      }
      const end = endOfValue(object.datatype, object.language);
      return (s, text) => put(s, member, `{"@value":${jsonText(before + text + after)}${end}`, g);
    },
    close,
  };
}

const newNodes = (): Nodes => new Map();
const newMembers = (): Members => new Map();
const newValues = (): string[] => [];

function entry<Item>(map: Map<string, Item>, key: string, make: () => Item): Item {
  let item = map.get(key);
  if (item === undefined) map.set(key, (item = make()));
  return item;
}

function nodeObject(subject: string, members: Members): string {
  let text = `{"@id":${subject}`;
  for (const [key, values] of members) text += `,${key}:[${values.join(',')}]`;
  return `${text}}`;
}

/** An IRI or blank node as a JSON text. Neither contains a character that JSON escapes. */
export const name = (term: string): string => (term[0] === '<' ? `"${term.slice(1, -1)}"` : `"${term}"`);

function value(object: string): string {
  if (object[0] !== '"') return `{"@id":${name(object)}}`;
  const end = object.lastIndexOf('"');
  const kind = object[end + 1];
  const rest = endOfValue(kind === '^' ? object.slice(end + 3) : '', kind === '@' ? object.slice(end + 2) : '');
  return `{"@value":${jsonText(object.slice(1, end))}${rest}`;
}

const endOfValue = (datatype: string, language: string): string =>
  language !== '' ? `,"@language":"${language}"}` : datatype !== '' ? `,"@type":${name(datatype)}}` : '}';

/** What N-Quads escapes is never plain in JSON either. */
const NOT_PLAIN = /[\\\x00-\x1f]/;

/** A lexical form of N-Quads. One-byte text stays one-byte: only ASCII characters are escaped in JSON. */
const jsonText = (text: string): string => (NOT_PLAIN.test(text) ? JSON.stringify(unescapeTerm(text)) : `"${text}"`);
