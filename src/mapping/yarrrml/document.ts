/** The parts of a YARRRML document by their names: what references between them are looked up in. */
import { didYouMean } from '../../core/nearest.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Origin } from '../model/model.ts';
import { fieldsOf, itemsOf, reportKind, textIn } from './keys.ts';
import { PREDEFINED } from './prefixes.ts';
import type { Entry, Tree } from './tree.ts';

/** IRIs of mappings of documents that name no base, as the reference implementation makes them. */
export const DEFAULT_BASE = 'http://mapping.example.com/';

export interface YarrrmlDocument {
  readonly base: string;
  /** Predefined ones included. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly external: ReadonlyMap<string, string>;
  readonly sources: ReadonlyMap<string, Entry>;
  readonly views: ReadonlyMap<string, Entry>;
  readonly targets: ReadonlyMap<string, Entry>;
  readonly mappings: ReadonlyMap<string, Entry>;
}

/** The named parts of a document; undefined, with a diagnostic, for what is no map. */
export function documentOf(report: Report, tree: Tree): YarrrmlDocument | undefined {
  const before = report.errors;
  const fields = fieldsOf(report, tree, 'document');
  if (fields === undefined) return undefined;
  const authors = fields.get('authors');
  for (const author of itemsOf(authors?.value)) if (author.kind !== 'text') fieldsOf(report, author, 'author');
  const namesIn = (entry: Entry | undefined): ReadonlyMap<string, Entry> => entriesOf(report, entry);
  const texts = (entry: Entry | undefined): [string, string][] =>
    [...namesIn(entry)].flatMap(([name, one]) => {
      const text = one.value.kind === 'nothing' ? '' : textIn(report, one);
      return text === undefined ? [] : [[name, text] as [string, string]];
    });
  const external = fields.get('external');
  for (const { value } of namesIn(external).values()) {
    if (value.kind !== 'text' || !value.text.includes('$(')) continue;
    const message = `a value of external is a text, in which no reference is replaced, found ${JSON.stringify(value.text)}`;
    report.error('not-supported', value.origin, message, 'write the whole text here, and references where it is used');
  }
  const mappings = fields.get('mappings');
  // A misspelt key has been reported.
  if (mappings === undefined && report.errors === before) {
    report.error('no-triples-map', tree.origin, 'the document has no key "mappings", so it describes no triples map', 'add mappings: …');
  }
  const sources = namesIn(fields.get('sources'));
  const views = namesIn(fields.get('views'));
  for (const [name, { keyOrigin }] of views) {
    const other = sources.get(name);
    if (other === undefined) continue;
    const hint = `mappings name both in one way: give the view another name; the source is on line ${other.keyOrigin.line}`;
    report.error('duplicate-key', keyOrigin, `${JSON.stringify(name)} names a view and a source`, hint);
  }
  return {
    base: textIn(report, fields.get('base')) ?? DEFAULT_BASE,
    prefixes: new Map([...Object.entries(PREDEFINED), ...texts(fields.get('prefixes'))]),
    external: new Map(texts(external)),
    sources,
    views,
    targets: namesIn(fields.get('targets')),
    mappings: namesIn(mappings),
  };
}

function entriesOf(report: Report, entry: Entry | undefined): ReadonlyMap<string, Entry> {
  if (entry === undefined) return new Map();
  if (entry.value.kind === 'map') return new Map(entry.value.entries.map((one) => [one.key, one]));
  reportKind(report, entry.value, `${entry.key} takes a map of names`);
  return new Map();
}

/** Sections with separate names. Sources and views share theirs: a mapping names both in one way. */
type Kind = 'sources' | 'views' | 'targets' | 'mappings';

/** The part of that name in the document itself, else in another document of the same mapping. */
export function lookUpPart<K extends Kind>(
  kinds: readonly K[],
  name: string,
  own: YarrrmlDocument,
  all: readonly YarrrmlDocument[],
): { readonly kind: K; readonly entry: Entry; readonly home: YarrrmlDocument } | undefined {
  for (const home of [own, ...all]) {
    for (const kind of kinds) {
      const entry = home[kind].get(name);
      if (entry !== undefined) return { kind, entry, home };
    }
  }
  return undefined;
}

/** Reports a name that no document has. */
export function reportUnknownName(
  report: Report,
  kinds: readonly [Kind, ...Kind[]],
  name: string,
  origin: Origin,
  all: readonly YarrrmlDocument[],
): void {
  const [kind] = kinds;
  const names = kinds.flatMap((one) => all.flatMap((document) => [...document[one].keys()]));
  const hint =
    didYouMean(name, names) ?? (names.length === 0 ? `name it with the key ${kind}` : `the ${kind} are ${names.slice(0, 8).join(', ')}`);
  report.error('unknown-name', origin, `there is no ${kind.slice(0, -1)} ${JSON.stringify(name)}`, hint);
}
