/**
 * The keys of YARRRML: where each may stand, and its short forms.
 *
 * @see https://rml.io/yarrrml/spec/#shortcuts
 */
import { didYouMean } from '../../core/nearest.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Origin } from '../model/model.ts';
import { describeTree, type Entry, type Tree } from './tree.ts';

/** Key → its short forms. */
type Keys = Readonly<Record<string, readonly string[]>>;

const VALUE = { value: ['v'], type: [], targets: ['target', 't'] } as const satisfies Keys;
const CALL = { function: ['fn', 'f'], parameters: ['pms'] } as const satisfies Keys;
const CONDITIONS = { conditions: ['condition', 'c'] } as const satisfies Keys;
const GRAPHS = { graphs: ['graph', 'g'] } as const satisfies Keys;
const INVERSE = { inversepredicates: ['inversepredicate', 'i', 'iv'] } as const satisfies Keys;
const LITERAL = { datatype: [], language: [] } as const satisfies Keys;

/** What a map describes → its keys. These words appear in messages. */
const KEYS = {
  document: {
    base: [],
    prefixes: ['prefix'],
    external: [],
    authors: ['author', 'a'],
    sources: ['source', 's'],
    views: ['view'],
    targets: ['target', 't'],
    mappings: ['mapping', 'm'],
  },
  author: { name: [], email: [], website: [], webid: [] },
  source: {
    type: [],
    access: [],
    driver: [],
    credentials: [],
    queryFormulation: [],
    query: [],
    table: [],
    encoding: [],
    delimiter: [],
    contentType: [],
    operationType: [],
    security: [],
    referenceFormulation: [],
    iterator: [],
  },
  credentials: { username: [], password: [] },
  view: { source: ['sources'], fields: [], joins: ['join'], annotations: ['annotation'] },
  field: { value: ['v'], ...CALL, referenceFormulation: [], iterator: [], fields: [] },
  'view join': { view: [], type: [], ...CONDITIONS, fields: [] },
  annotation: { type: [], fields: [], targetView: [], targetFields: [] },
  target: { type: [], access: [], serialization: [], compression: [] },
  mapping: {
    sources: ['source'],
    subjects: ['subject', 's'],
    predicateobjects: ['predicateobject', 'po'],
    targets: ['target', 't'],
    ...GRAPHS,
    ...CONDITIONS,
  },
  subject: { ...VALUE, ...CALL },
  predicate: { ...VALUE, ...CALL },
  graph: { ...VALUE, ...CALL },
  language: { ...VALUE, ...CALL },
  'predicate object': {
    predicates: ['predicate', 'p'],
    objects: ['object', 'o'],
    type: [],
    ...LITERAL,
    ...INVERSE,
    ...GRAPHS,
    ...CONDITIONS,
  },
  object: { ...VALUE, ...CALL, mapping: ['mappings', 'm'], ...LITERAL, ...INVERSE, ...CONDITIONS },
  condition: CALL,
  function: CALL,
  parameter: { parameter: ['pm'], value: ['v'], type: [] },
} as const satisfies Readonly<Record<string, Keys>>;

/** What a map of a document describes. */
export type MapRole = keyof typeof KEYS;
export type KeyOf<P extends MapRole> = keyof (typeof KEYS)[P] & string;

/** Keys of extensions of the reference implementation: what they are for. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  authentications: 'logins of HTTP requests',
  authentication: 'logins of HTTP requests',
  methodName: 'HTTP requests as targets',
  headers: 'HTTP requests as targets',
  rel: 'HTTP requests as targets',
  source: 'targets whose place depends on the record',
  sources: 'targets whose place depends on the record',
  id: 'targets whose place depends on the record',
  changeDetection: 'change detection',
  ldes: 'Linked Data Event Streams',
  quoted: 'quoted triples',
  quotedNonAsserted: 'quoted triples',
};

/** Keys of RML, of which YARRRML has one for all: a value. */
const OF_RML: ReadonlySet<string> = new Set(['reference', 'template', 'constant']);
const VALUE_HINT = 'write value: …, with references as $(name)';

/** The long form of a key; undefined: there is no such key. */
export function longKey<P extends MapRole>(role: P, key: string): KeyOf<P> | undefined {
  const known: Keys = KEYS[role];
  return (Object.hasOwn(known, key) ? key : Object.keys(known).find((long) => known[long]?.includes(key))) as KeyOf<P> | undefined;
}

/** The entries of a map by the long forms of their keys. Unknown keys are reported; undefined, with a diagnostic, for what is no map. */
export function fieldsOf<P extends MapRole>(report: Report, tree: Tree, role: P): ReadonlyMap<KeyOf<P>, Entry> | undefined {
  if (tree.kind !== 'map') {
    reportKind(report, tree, `${withArticle(role)} is a map of keys`, `its keys are ${Object.keys(KEYS[role]).join(', ')}`);
    return undefined;
  }
  const known: Keys = KEYS[role];
  const found = new Map<KeyOf<P>, Entry>();
  for (const entry of tree.entries) {
    const { key, keyOrigin } = entry;
    const name = longKey(role, key);
    if (name === undefined) {
      // `{id}` is a map in YAML, and so is `Name: $(name)`.
      const isAlone = tree.entries.length === 1 && didYouMean(key, Object.keys(known)) === undefined;
      if (entry.value.kind === 'nothing' && Object.hasOwn(known, 'value')) reportBraces(report, key, keyOrigin, role);
      else if (isAlone && entry.value.kind === 'text' && (Object.hasOwn(known, 'value') || role === 'predicate object'))
        reportColon(report, key, entry.value.text, keyOrigin, role);
      else reportUnknownKey(report, key, keyOrigin, role, known);
      continue;
    }
    const other = found.get(name);
    if (other === undefined) found.set(name, entry);
    else {
      const message = `the keys ${other.key} and ${key} are one key, ${name}`;
      report.error('duplicate-key', keyOrigin, message, `make a list of their values; the other is on line ${other.keyOrigin.line}`);
    }
  }
  // A key without a value is as if it were not there.
  for (const [name, { value }] of found) if (value.kind === 'nothing') found.delete(name);
  return found;
}

function reportBraces(report: Report, key: string, origin: Origin, role: MapRole): void {
  const message = `${withArticle(role)} has no key ${JSON.stringify(key)}`;
  report.error('unknown-key', origin, message, `a reference is written $(${key}); quote a text in braces: "{${key}}"`);
}

/** A colon with a blank behind it makes a map of a text. */
function reportColon(report: Report, key: string, value: string, origin: Origin, role: MapRole): void {
  const hint =
    role === 'predicate object'
      ? `write [${key}, ${value}]`
      : `a text that holds a colon and a blank is quoted: ${JSON.stringify(`${key}: ${value}`)}`;
  report.error('unknown-key', origin, `${withArticle(role)} has no key ${JSON.stringify(key)}`, OF_RML.has(key) ? VALUE_HINT : hint);
}

function reportUnknownKey(report: Report, key: string, origin: Origin, role: MapRole, known: Keys): void {
  if (Object.hasOwn(EXTENSIONS, key)) {
    const message = `the key ${key} (${EXTENSIONS[key]}) is not supported yet by this version`;
    report.error('not-supported', origin, message, 'it is an extension of one implementation, and no key of the specification of YARRRML');
    return;
  }
  const elsewhere = Object.keys(KEYS).filter((other) => Object.hasOwn(KEYS[other as MapRole], key));
  const hint =
    (OF_RML.has(key) && Object.hasOwn(known, 'value') ? VALUE_HINT : undefined) ??
    (key === 'lang' && Object.hasOwn(known, 'language') ? 'did you mean language?' : undefined) ??
    didYouMean(key, Object.keys(known)) ??
    (elsewhere.length > 0
      ? `it belongs on ${withArticle(elsewhere[0] as MapRole)}`
      : `the keys of ${withArticle(role)} are ${Object.keys(known).join(', ')}`);
  report.error('unknown-key', origin, `${withArticle(role)} has no key ${JSON.stringify(key)}`, hint);
}

const withArticle = (role: MapRole): string => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`;

/** @param expected a sentence such as `a source is a map of keys` */
export function reportKind(report: Report, tree: Tree, expected: string, hint?: string): void {
  report.error('wrong-value', tree.origin, `${expected}, found ${describeTree(tree)}`, hint);
}

/** The text of an entry; undefined, with a diagnostic, for a list or a map. */
export function textIn(report: Report, entry: Entry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  if (entry.value.kind === 'text') return entry.value.text;
  reportKind(report, entry.value, `${entry.key} takes a text`);
  return undefined;
}

/** The items of a list, or the one value that stands for a list of one. */
export const itemsOf = (tree: Tree | undefined): readonly Tree[] =>
  tree === undefined || tree.kind === 'nothing' ? [] : tree.kind === 'list' ? tree.items : [tree];
