/** Connecting two things: what `mayConnect` allows is done. */

import type { Connection } from '../../connect/connection.ts';
import { connectionOf } from '../../connect/may-connect.ts';
import type { StudioDocument } from '../../document.ts';
import { nameOf } from '../../elements/names.ts';
import { fieldName } from '../../elements/path-text.ts';
import { joinOf, recordOf, withRecords } from '../../elements/records.ts';
import { type Connect, type End, isRefusal, type Refusal } from '../../rules/verdict.ts';
import { addedIn, always, type Command, changedIn } from '../command.ts';
import { placed, withEdge } from '../making.ts';
import { settled } from '../settle.ts';

/** Draws an edge, or makes an element of a field that is dropped on the canvas. */
export const connect: Command<Connect> = {
  name: 'connect',
  label: (document, { from, to }) => `Connect ${endName(document, from)} to ${endName(document, to)}`,
  keys: 'C',
  role: 'operator',
  enabled: always,
  perform(document, { schema, from, to, options }) {
    const connection = connectionOf(document, schema, from, to, options);
    return isRefusal(connection) ? connection : connected(document, connection, options?.predicates ?? []);
  },
  said: saidOfEdges,
  recorded: true,
};

function endName(document: StudioDocument, end: End): string {
  switch (end.kind) {
    case 'canvas':
      return 'the canvas';
    case 'field':
      return fieldName(end.ref.path);
    case 'element':
    case 'input':
      return nameOf(document, end.id);
  }
}

/** Makes what a connection says. */
export function connected(document: StudioDocument, connection: Connection, predicates: readonly string[]): StudioDocument | Refusal {
  switch (connection.kind) {
    case 'element':
      return placed(document, connection.element).document;
    case 'value': {
      const attribute = recordOf(document, 'attribute', connection.attribute);
      return attribute === undefined ? document : settled(document, withRecords(document, [{ ...attribute, value: connection.value }]));
    }
    case 'edge':
      return withConnection(document, connection, predicates);
  }
}

function withConnection(
  document: StudioDocument,
  { subject, object, form, condition, completes, field }: Extract<Connection, { kind: 'edge' }>,
  predicates: readonly string[],
): StudioDocument | Refusal {
  const from = placed(document, subject);
  const to = placed(from.document, object);
  const drawn =
    completes === undefined ? withEdge(to.document, from.id, to.id, form, predicates) : { document: to.document, id: completes };
  const join = joinOf(drawn.document, drawn.id);
  const isKeyed = condition !== undefined && join !== undefined;
  const keyed = isKeyed ? withRecords(drawn.document, [{ ...join, conditions: [...join.conditions, condition] }]) : drawn.document;
  if (field === undefined) return keyed;
  const value = placed(keyed, { value: { kind: 'field', ref: field } });
  return settled(keyed, withEdge(value.document, to.id, value.id, 'same', []).document);
}

/** "Connected Order to Product by contains". */
export function saidOfEdges(before: StudioDocument, after: StudioDocument): string {
  const edge = [...addedIn(before, after), ...changedIn(before, after)].find((record) => record.kind === 'edge');
  if (edge?.kind === 'edge') {
    const by = edge.predicates.length === 0 ? '' : ` by ${nameOf(after, edge.id)}`;
    return `Connected ${nameOf(after, edge.from)} to ${nameOf(after, edge.to)}${by}`;
  }
  const made = addedIn(before, after)[0] ?? changedIn(before, after)[0];
  return made === undefined ? 'Nothing changed' : `${before.records.has(made.id) ? 'Changed' : 'Made'} ${nameOf(after, made.id)}`;
}
