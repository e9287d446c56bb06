/** What a document declares when it first uses it, in the same step: prefixes of ontologies, and namespaces of XML. */
import { USUAL_PREFIXES } from '../../../../src/mapping/vocabulary/namespaces.ts';
import type { Element, FieldRef, Id, Language, StudioDocument } from '../../document.ts';
import { freshId } from '../../elements/names.ts';
import { fieldsOfRecord, recordOf, recordsOf, withRecords } from '../../elements/records.ts';
import { isRefusal } from '../../rules/verdict.ts';
import type { Command } from '../command.ts';

/** What is known beside the document. */
export interface Known {
  /** Prefixes of ontologies, each with its namespace. The empty one gets a name in each document: that of its ontology, if it is free. */
  readonly prefixes: readonly (readonly [name: string, iri: string, ontology?: string])[];
  /** Of inputs in XML: prefix → namespace, for names of fields that samples show and the input does not declare. */
  readonly namespaces: ReadonlyMap<Id, Readonly<Record<string, string>>>;
}

/** @param known asked for when the command is carried out */
export const withFirstUse = <A>(command: Command<A>, known: () => Known): Command<A> => ({
  ...command,
  perform(document, argument) {
    const after = command.perform(document, argument);
    if (isRefusal(after) || after.records === document.records) return after;
    const { prefixes, namespaces } = known();
    return withNamespaces(document, withPrefixes(document, after, prefixes), namespaces);
  },
});

/** Whether mappings say what prefixes of XML stand for. Others have those that the root of the document declares. */
export const namesNamespaces = (language: Language): boolean => language === 'rml';

/** Names of fields with a prefix mean nothing to readers of the mapping, unless it declares their namespaces. */
function withNamespaces(before: StudioDocument, after: StudioDocument, namespaces: Known['namespaces']): StudioDocument {
  if (namespaces.size === 0 || !namesNamespaces(after.language)) return after;
  let next = after;
  for (const record of after.records.values()) {
    if (before.records.get(record.id) === record) continue;
    for (const { input: id, path } of readBy(record)) {
      const input = recordOf(next, 'input', id);
      const found = namespaces.get(id);
      if (input?.format !== 'xml' || found === undefined) continue;
      const used = path.flatMap(
        (step) => /^([^:]+):/.exec('name' in step ? step.name : 'attribute' in step ? step.attribute : '')?.[1] ?? [],
      );
      const added = used.filter((name) => input.namespaces[name] === undefined && found[name] !== undefined);
      if (added.length === 0) continue;
      const more = Object.fromEntries(added.map((name) => [name, found[name] as string]));
      next = withRecords(next, [{ ...input, namespaces: { ...input.namespaces, ...more } }]);
    }
  }
  return next;
}

const readBy = (record: Element): readonly FieldRef[] => [
  ...fieldsOfRecord(record),
  ...(record.kind === 'entity' ? [{ input: record.input, path: record.level }] : []),
];

/** A prefix that means something else in the document, or to everybody, is not declared: the IRI stays whole. */
function withPrefixes(before: StudioDocument, after: StudioDocument, prefixes: Known['prefixes']): StudioDocument {
  if (prefixes.length === 0) return after;
  let next = after;
  const known = new Set([...before.records.values()].flatMap(termsOf));
  for (const record of after.records.values()) {
    if (before.records.get(record.id) === record) continue;
    for (const iri of termsOf(record)) {
      const own = recordsOf(next, 'prefix');
      if (known.has(iri) || own.some((one) => fits(one.iri, iri))) continue;
      const isFreeHere = (name: string, namespace: string): boolean => isFree(name, namespace) && own.every((one) => one.name !== name);
      const fitting = prefixes.filter(([, namespace]) => fits(namespace, iri));
      const named = fitting.find(([name, namespace]) => name !== '' && isFreeHere(name, namespace));
      const unnamed = fitting.find(([name]) => name === '');
      if (named === undefined && unnamed === undefined) continue;
      const [name, namespace] = named ?? [nameFor(unnamed?.[2], (one) => isFreeHere(one, unnamed?.[1] as string)), unnamed?.[1] as string];
      next = withRecords(next, [{ kind: 'prefix', id: freshId(next.records, 'prefix'), name, iri: namespace }]);
    }
  }
  return next;
}

/** `shop-terms` of `shop-terms.ttl`, else `ns1` and so on. */
function nameFor(ontology: string | undefined, isFreeHere: (name: string) => boolean): string {
  const stem = (ontology ?? '')
    .replace(/(?<=.)\..*$/, '')
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
  if (/^[a-z][a-z\d-]{0,19}$/.test(stem) && !stem.endsWith('-') && isFreeHere(stem)) return stem;
  let number = 1;
  while (!isFreeHere(`ns${number}`)) number++;
  return `ns${number}`;
}

const isFree = (name: string, namespace: string): boolean => {
  const usual = (USUAL_PREFIXES as Readonly<Record<string, string>>)[name];
  return usual === undefined || usual === namespace;
};

const fits = (namespace: string, iri: string): boolean => iri.startsWith(namespace) && /^[\w-]+$/.test(iri.slice(namespace.length));

function termsOf(record: Element): readonly string[] {
  switch (record.kind) {
    case 'entity':
      return record.classes;
    case 'edge':
      return record.predicates;
    case 'attribute':
      return record.datatype === undefined ? [] : [record.datatype];
    default:
      return [];
  }
}
