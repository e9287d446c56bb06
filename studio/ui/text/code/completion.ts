/** What can be completed in the text: terms and prefixes, and the fields of samples where a reference or template stands. */
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { termsIn, USUAL_PREFIXES } from '../../../../src/mapping/vocabulary/namespaces.ts';
import type { Anchor, Entity, Id, StudioDocument } from '../../../core/document.ts';
import { iteratorOf } from '../../../core/elements/iterator.ts';
import { inputOf, recordsOf } from '../../../core/elements/records.ts';
import type { Schema } from '../../../core/elements/schema.ts';
import { referenceText } from '../../../core/print/paths.ts';
import type { Term } from '../../../core/suggest/terms.ts';

export interface Known {
  readonly document: StudioDocument;
  readonly schema: Schema;
  /** That the document uses, and of ontologies. */
  readonly terms: readonly Term[];
  readonly anchors: ReadonlyMap<Id, readonly Anchor[]>;
}

/** What stands between the quotes of a reference, the braces of a template, or `$(` and `)`. */
const IN_REFERENCE = /(?:\b(?:reference|child|parent)\s+"|"[^"]*\{|\$\()([^"{}()]*)$/;
const IN_NAME = /(?:^|[\s;,.[("'])((?:[\w-]*:)?[\w-]*)$/;
const IN_STRING = /^[^"]*"(?:[^"]*"[^"]*")*[^"]*$/;

/** @param known of the model, at the moment */
export const completionFor =
  (known: () => Known): CompletionSource =>
  (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const inReference = IN_REFERENCE.exec(before);
    if (inReference !== null) return fields(known(), context, inReference[1] as string);
    const isYaml = known().document.language === 'yarrrml';
    const written = IN_NAME.exec(before)?.[1];
    if (written === undefined || (!isYaml && IN_STRING.test(before)) || (written === '' && !context.explicit)) return null;
    return names(known().terms, context, written, isYaml);
  };

/** Fields as they are written in the triples map around the caret; of all inputs, where there is none. */
function fields({ document, schema, anchors }: Known, { pos }: CompletionContext, written: string): CompletionResult | null {
  const entity = entityBefore(document, anchors, pos);
  const inputs = entity === undefined ? recordsOf(document, 'input').map(({ id }) => id) : [entity.input];
  const options = inputs.flatMap((id) => fieldsOfInput(document, schema, id, entity));
  return options.length === 0 ? null : { from: pos - written.length, options, validFor: /^[^"{}()]*$/ };
}

function entityBefore(document: StudioDocument, anchors: Known['anchors'], pos: number): Entity | undefined {
  let best: { readonly entity: Entity; readonly from: number } | undefined;
  for (const entity of recordsOf(document, 'entity'))
    for (const { from } of anchors.get(entity.id) ?? []) if (from <= pos && from >= (best?.from ?? 0)) best = { entity, from };
  return best?.entity;
}

function fieldsOfInput(document: StudioDocument, schema: Schema, id: Id, entity: Entity | undefined): readonly Completion[] {
  const input = inputOf(document, id);
  if (input === undefined) return [];
  const iterator = entity === undefined ? [] : iteratorOf(input, entity.level);
  return [...(schema.get(id)?.values() ?? [])].flatMap(({ path, holds, sample }): Completion[] => {
    const text = holds === 'value' ? referenceText(input.format, iterator, path) : undefined;
    if (text === undefined) return [];
    // Legacy RML and YARRRML write names without the root.
    const label = document.language === 'rml' ? text : text.replace(/^\$\./, '');
    return [{ label, detail: sample?.examples[0] ?? input.name, type: 'property' }];
  });
}

const PREFIX = /^\s*(?:@?prefix\s+)?([\w-]*):\s*["<]?(https?:\/\/[^\s>"]+)/gim;
const KEYS = [
  ...['prefixes', 'base', 'mappings', 'sources', 'subjects', 'predicateobjects', 'predicates', 'objects', 'graphs', 'condition'],
  ...[
    'function',
    'parameters',
    'parameter',
    'value',
    'type',
    'datatype',
    'language',
    'mapping',
    'access',
    'referenceFormulation',
    'iterator',
  ],
];

function names(terms: readonly Term[], { pos, state }: CompletionContext, written: string, isYaml: boolean): CompletionResult | null {
  const declared = new Map([...state.sliceDoc().matchAll(PREFIX)].map(([, name, iri]) => [name as string, iri as string]));
  const from = pos - written.length;
  const prefix = written.includes(':') ? written.slice(0, written.indexOf(':')) : undefined;
  if (prefix === undefined) {
    const keys = isYaml ? KEYS.map((label): Completion => ({ label, type: 'keyword' })) : [];
    const prefixes = [...declared].map(([name, iri]): Completion => ({ label: `${name}:`, detail: iri, type: 'namespace' }));
    return { from, options: [...prefixes, ...keys], validFor: /^[\w-]*$/ };
  }
  const namespace = declared.get(prefix) ?? USUAL_PREFIXES[prefix];
  if (namespace === undefined) return null;
  const labels = new Map<string, string | undefined>(termsIn(namespace).map((name) => [name, undefined]));
  for (const { iri, labels: [label] = [] } of terms) if (iri.startsWith(namespace)) labels.set(iri.slice(namespace.length), label);
  const options = [...labels].flatMap(([name, label]): readonly Completion[] =>
    // Another name would have to be written out.
    /^[\w-]+$/.test(name) ? [{ label: `${prefix}:${name}`, type: 'property', ...(label !== undefined && { detail: label }) }] : [],
  );
  return options.length === 0 ? null : { from, options, validFor: /^[\w-]*:[\w-]*$/ };
}
