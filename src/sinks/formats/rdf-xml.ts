/**
 * N-Quads → RDF/XML. Statements of one subject that follow each other share an `rdf:Description`; a subject that comes back gets another one.
 *
 * A triple term of RDF 1.2 is the content of its property (`rdf:parseType="Triple"`). Readers of RDF 1.1 would pass over it, and those of RDF 1.2 look
 * for `rdf:version`, which stands on the description: nothing is known of later statements when the root is written.
 *
 * A predicate is an element name: its IRI is split before the longest end that is a name of XML. The namespace is declared at the root if
 * the mapping declares a prefix for it, otherwise at the element.
 *
 * @see https://www.w3.org/TR/rdf-syntax-grammar/, https://www.w3.org/TR/rdf12-xml/ and https://www.w3.org/TR/xml-names/
 */
import { excerpt, Fault } from '../../core/fault.ts';
import { findNotInIri, fromBytes, toBytes, unescapeTerm } from '../../core/text.ts';
import { isTripleTerm, termsOfQuoted } from '../../nquads/terms.ts';
import type { Conversion, Frame } from './conversion.ts';

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

/** Names of the syntax, which no property may have. @see https://www.w3.org/TR/rdf-syntax-grammar/#propertyElementURIs */
const SYNTAX_NAMES: ReadonlySet<string> = new Set(
  [
    ...['RDF', 'ID', 'about', 'parseType', 'resource', 'nodeID', 'datatype', 'Description', 'li'],
    ...['aboutEach', 'aboutEachPrefix', 'bagID', 'annotation', 'annotationNodeID', 'version'],
  ].map((local) => RDF + local),
);
/** Namespaces that are bound to one prefix for ever. */
const BOUND = /^http:\/\/www\.w3\.org\/(?:XML\/1998\/namespace|2000\/xmlns\/)$/;

const START =
  'A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}-\\u{200d}\\u{2070}-\\u{218f}';
const MORE = '\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}';
const WITHIN = '\\-.0-9\\u{b7}\\u{300}-\\u{36f}\\u{203f}-\\u{2040}';
/** @see https://www.w3.org/TR/xml-names/#NT-NCName */
const NAME = new RegExp(`^[${START}${MORE}][${START}${MORE}${WITHIN}]*$`, 'u');
const NAME_START = new RegExp(`^[${START}${MORE}]$`, 'u');
const NAME_CHARACTER = new RegExp(`^[${START}${MORE}${WITHIN}]$`, 'u');

/** Predicates may be made of data. */
const MOST_KNOWN = 10_000;

/** @param prefixes prefix → namespace IRI, as ordinary text @param encoding of the document, for its first line */
export function rdfXmlFrame(prefixes: Readonly<Record<string, string>> = {}, encoding = 'UTF-8'): Frame {
  const declared = [...declaredPrefixes(prefixes)];
  const namespaces = declared.map(([namespace, prefix]) => `\n  xmlns:${prefix}="${escapeAttribute(toBytes(namespace))}"`);
  const head = `<?xml version="1.0" encoding="${encoding}"?>\n<rdf:RDF${namespaces.join('')}>\n`;
  const tail = '</rdf:RDF>\n';
  return { head, separator: '', tail, empty: head + tail };
}

/** @param prefixes prefix → namespace IRI, as ordinary text */
export function rdfXml(prefixes: Readonly<Record<string, string>> = {}): Conversion {
  const declared = declaredPrefixes(prefixes);
  const known = new Map<string, string>();
  /** The name of the element with the declaration that it needs. */
  const elementOf = (predicate: string): string => {
    let element = known.get(predicate);
    if (element !== undefined) return element;
    const [namespace, local] = split(predicate);
    const prefix = declared.get(namespace);
    const name = toBytes(local);
    element = prefix === undefined ? `ns:${name} xmlns:ns="${escapeAttribute(toBytes(namespace))}"` : `${prefix}:${name}`;
    if (known.size === MOST_KNOWN) known.clear();
    known.set(predicate, element);
    return element;
  };

  const propertyWith = (predicate: string, object: string): string => {
    const element = elementOf(predicate);
    if (!isTripleTerm(object)) return propertyOf(element, object);
    const [s, p, o] = termsOfQuoted(object);
    const inner = `      <rdf:Description ${resource(s, 'rdf:about')}>\n    ${propertyWith(p, o)}      </rdf:Description>\n`;
    return `    <${element} rdf:parseType="Triple">\n${inner}    </${nameOf(element)}>\n`;
  };

  let subject = '';
  const close = (): string => {
    const text = subject === '' ? '' : '  </rdf:Description>\n';
    subject = '';
    return text;
  };
  return {
    add(s, p, o) {
      const property = propertyWith(p, o);
      const version = isTripleTerm(o) ? ' rdf:version="1.2"' : '';
      if (s === subject && version === '') return property;
      const text = `${close()}  <rdf:Description ${resource(s, 'rdf:about')}${version}>\n${property}`;
      subject = s;
      return text;
    },
    close,
  };
}

/** By namespace; `rdf` is always one of them. */
function declaredPrefixes(prefixes: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const declared = new Map([[RDF, 'rdf']]);
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    if (!NAME.test(prefix) || /^xml/i.test(prefix) || prefix === 'rdf' || namespace === '' || BOUND.test(namespace)) continue;
    if (findNotInIri(namespace) === -1 && !declared.has(namespace)) declared.set(namespace, toBytes(prefix));
  }
  return declared;
}

/** Namespace and local name, as ordinary text. */
function split(predicate: string): readonly [string, string] {
  const iri = fromBytes(predicate.slice(1, -1));
  const characters = [...iri];
  let from = characters.length;
  let local = characters.length;
  while (from > 0 && NAME_CHARACTER.test(characters[from - 1] as string)) {
    from--;
    if (NAME_START.test(characters[from] as string)) local = from;
  }
  const namespace = characters.slice(0, local).join('');
  const isUsable = local < characters.length && namespace !== '' && !BOUND.test(namespace) && !SYNTAX_NAMES.has(iri);
  if (isUsable) return [namespace, characters.slice(local).join('')];
  throw refused(`The predicate ${excerpt(`<${iri}>`)} is no name of an XML element, as RDF/XML needs it`);
}

function propertyOf(element: string, object: string): string {
  if (object[0] !== '"') return `    <${element} ${resource(object, 'rdf:resource')}/>\n`;
  const end = object.lastIndexOf('"');
  const text = escapeText(unescapeTerm(object.slice(1, end)));
  const kind = object[end + 1];
  const attribute =
    kind === '@'
      ? ` xml:lang="${object.slice(end + 2)}"`
      : kind === '^'
        ? ` rdf:datatype="${escapeAttribute(object.slice(end + 4, -1))}"`
        : '';
  return `    <${element}${attribute}>${text}</${nameOf(element)}>\n`;
}

/** An element without its declaration. */
function nameOf(element: string): string {
  const space = element.indexOf(' ');
  return space === -1 ? element : element.slice(0, space);
}

const resource = (term: string, attribute: string): string =>
  term[0] === '<' ? `${attribute}="${escapeAttribute(term.slice(1, -1))}"` : `rdf:nodeID="${nodeId(term.slice(2))}"`;

/** A label that is no name of XML gets one that no other label has. */
function nodeId(label: string): string {
  if (/^[A-Za-z][A-Za-z0-9_.-]*$/.test(label)) return label;
  return `_${label.replace(/[^A-Za-z0-9]/g, (c) => `_${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };

/** U+FFFE and U+FFFF in UTF-8 are EF BF BE and EF BF BF. @see https://www.w3.org/TR/xml/#charsets */
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;

function escapeText(text: string): string {
  const found = NOT_IN_XML.exec(text)?.[0];
  if (found === undefined) return text.replace(/[&<>\r]/g, (c) => ESCAPES[c] as string);
  const point = (fromBytes(found).codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  throw refused(`The literal ${excerpt(fromBytes(text))} holds the character U+${point}, which no XML document may hold`);
}

function escapeAttribute(iri: string): string {
  if (NOT_IN_XML.test(iri)) throw refused(`The IRI ${excerpt(fromBytes(iri))} holds a character that no XML document may hold`);
  return iri.replace(/[&<>"]/g, (c) => ESCAPES[c] as string);
}

const refused = (reason: string): Fault => new Fault('mapping/invalid', reason, { hint: 'Ask for another format, such as Turtle' });
