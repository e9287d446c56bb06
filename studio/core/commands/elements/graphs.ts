/** Named graphs, prefixes, and the switch for experts. */
import type { Expression, Id, StudioDocument } from '../../document.ts';
import { expressionText, fieldsOf, sameExpression } from '../../elements/expressions.ts';
import { freshId, nameOf } from '../../elements/names.ts';
import { fieldName } from '../../elements/path-text.ts';
import { inputOf, recordsOf, withRecords } from '../../elements/records.ts';
import { asEntity, sideOf, sideOfValue } from '../../rules/ends.ts';
import { fitsTogether } from '../../rules/expression.ts';
import { linkOf } from '../../rules/link.ts';
import { absolute, isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { addedIn, always, type Command, changedIn, removedIn, required, selected } from '../command.ts';

/** Adds a named graph; an expression with fields names a graph for each record. */
export const addGraph: Command<{ readonly name: Expression }> = {
  name: 'add-graph',
  label: (_, { name }) => `Add the graph ${expressionText(name)}`,
  role: 'operator',
  enabled: always,
  perform(document, { name }) {
    const wrong = name.kind === 'constant' ? absolute([name.value]) : fitsTogether(document, name);
    if (wrong !== undefined) return wrong;
    const gone = fieldsOf(name).find(({ input }) => inputOf(document, input) === undefined);
    if (gone !== undefined) return refuse('I1', `${fieldName(gone.path)} is of an input that is not in the model any more.`, []);
    const text = expressionText(name);
    if (recordsOf(document, 'graph').some((graph) => sameExpression(graph.name, name))) {
      return refuse('I1', `There is a graph ${text} already.`, [text]);
    }
    return withRecords(document, [{ kind: 'graph', id: freshId(document.records, 'graph'), name }]);
  },
  said: (before, after) => `Added the graph ${addedIn(before, after).map(({ id }) => nameOf(after, id))}`,
  recorded: true,
};

/** The graphs that entities and edges are written to. None: the default graph. */
export const setGraph: Command<{ readonly ids: readonly Id[]; readonly graphs: readonly Id[] }> = {
  name: 'set-graph',
  label: (document, { ids }) => `Set the graph of ${ids.map((id) => nameOf(document, id)).join(', ')}`,
  role: 'operator',
  enabled: selected('Select entities or edges first.', ['entity', 'edge']),
  perform(document, { ids, graphs }) {
    let next = document;
    for (const id of ids) {
      const record = document.records.get(id);
      if (record?.kind !== 'entity' && record?.kind !== 'edge') return refuse('I1', 'Only entities and edges are in graphs.', []);
      for (const graph of graphs) {
        const refusal = inGraph(document, record.kind === 'entity' ? id : record.from, graph);
        if (refusal !== undefined) return refusal;
      }
      next = withRecords(next, [{ ...record, graphs: [...new Set(graphs)] }]);
    }
    return next;
  },
  said: (before, after) => `Changed the graph of ${changedIn(before, after).map(({ id }) => nameOf(after, id))}`,
  recorded: true,
};

/** The name of a graph is read like an attribute of the subject. */
function inGraph(document: StudioDocument, subject: Id, id: Id): Refusal | undefined {
  const graph = required(document, 'graph', id);
  if (isRefusal(graph)) return graph;
  const side = sideOf(document, new Map(), { kind: 'element', id: subject });
  if (side === undefined || isRefusal(side)) return side;
  const link = linkOf(document, asEntity(side), sideOfValue(document, graph.name, nameOf(document, id)), false);
  return isRefusal(link) ? link : undefined;
}

const PREFIX = /^(?:[\p{L}][\p{L}\p{N}_-]*)?$/u;

/** @see https://www.w3.org/TR/turtle/#grammar-production-PNAME_NS */
function prefixRefused(document: StudioDocument, name: string, but?: Id): Refusal | undefined {
  if (!PREFIX.test(name)) return refuse('I8', `${name} is no name for a prefix: it takes letters, digits, - and _.`, [name]);
  const isTaken = recordsOf(document, 'prefix').some((prefix) => prefix.name === name && prefix.id !== but);
  return isTaken ? refuse('I8', `There is a prefix ${name}: already.`, [name]) : undefined;
}

export const addPrefix: Command<{ readonly name: string; readonly iri: string }> = {
  name: 'add-prefix',
  label: (_, { name }) => `Add the prefix ${name}:`,
  role: 'operator',
  enabled: always,
  perform(document, { name, iri }) {
    const wrong = prefixRefused(document, name) ?? absolute([iri]);
    return wrong ?? withRecords(document, [{ kind: 'prefix', id: freshId(document.records, 'prefix'), name, iri }]);
  },
  said: (before, after) => `Added the prefix ${addedIn(before, after).map(({ id }) => nameOf(after, id))}`,
  recorded: true,
};

export const renamePrefix: Command<{ readonly id: Id; readonly name: string }> = {
  name: 'rename-prefix',
  label: (document, { id, name }) => `Rename the prefix ${nameOf(document, id)}: to ${name}:`,
  role: 'operator',
  enabled: selected('Select a prefix first.', ['prefix']),
  perform(document, { id, name }) {
    const prefix = required(document, 'prefix', id);
    if (isRefusal(prefix)) return prefix;
    const wrong = prefixRefused(document, name, id);
    return wrong ?? (prefix.name === name ? document : withRecords(document, [{ ...prefix, name }]));
  },
  said: (before, after) => `The prefix is now ${changedIn(before, after).map(({ id }) => nameOf(after, id))}`,
  recorded: true,
};

/** Removes a prefix. Elements keep their IRIs, which are absolute. */
export const removePrefix: Command<{ readonly id: Id }> = {
  name: 'remove-prefix',
  label: (document, { id }) => `Remove the prefix ${nameOf(document, id)}:`,
  role: 'operator',
  enabled: selected('Select a prefix first.', ['prefix']),
  perform(document, { id }) {
    const prefix = required(document, 'prefix', id);
    return isRefusal(prefix) ? prefix : withRecords(document, [], new Set([id]));
  },
  said: (before, after) => `Removed the prefix ${removedIn(before, after).map(({ id }) => nameOf(before, id))}`,
  recorded: true,
};

/** Lifts rule R2, and allows XPath upwards in the text. Edges that an expert has drawn stay when it is switched off. */
export const setExpert: Command<{ readonly expert: boolean }> = {
  name: 'set-expert',
  label: (_, { expert }) => `Switch expert mode ${expert ? 'on' : 'off'}`,
  role: 'operator',
  enabled: always,
  perform: (document, { expert }) => (document.expert === expert ? document : { ...document, expert }),
  said: (_, { expert }) => `Expert mode is ${expert ? 'on' : 'off'}`,
  recorded: true,
};
