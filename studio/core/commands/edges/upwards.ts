/** R3, lifted for experts in XML: an edge to what stands above, whose path begins with `../` in the text. */
import type { Expression, FieldRef, Id } from '../../document.ts';
import { formOf } from '../../elements/form.ts';
import { iriBase } from '../../elements/iris.ts';
import { localName, nameOf } from '../../elements/names.ts';
import { inputOf } from '../../elements/records.ts';
import { isRefusal, refuse } from '../../rules/verdict.ts';
import { type Command, required } from '../command.ts';
import { placed, withEdge } from '../making.ts';
import { saidOfEdges } from './connect.ts';

/** Draws it with a predicate that is named after its end, so that it stands in the text. It is drawn with a warning, as one that was read. */
export const drawUpwards: Command<{ readonly of: Id; readonly to: FieldRef | Id }> = {
  name: 'draw-upwards',
  label: (document, { of }) => `Draw an edge upwards from ${nameOf(document, of)}`,
  role: 'operator',
  enabled: ({ expert }) => expert || refuse('R3', 'Edges upwards are for experts: switch expert mode on first.', []),
  perform(document, { of, to }) {
    const from = required(document, 'entity', of);
    if (isRefusal(from)) return from;
    if (!document.expert || inputOf(document, from.input)?.format !== 'xml')
      return refuse('R3', `${from.name} is not of XML, or expert mode is off. An edge runs within one level or downwards.`, [from.name]);
    const object = placed(document, typeof to === 'string' ? { id: to } : { value: { kind: 'field', ref: to } });
    const end = object.document.records.get(object.id);
    if (end?.kind !== 'entity' && end?.kind !== 'attribute') return refuse('I1', 'This element is not in the model any more.', []);
    const value: Expression = end.kind === 'entity' ? end.identifier : end.value;
    const levels = end.kind === 'entity' ? [end.level] : [];
    const form = formOf({ base: from.level, value: from.identifier, format: 'xml' }, { levels, value });
    const name = localName(nameOf(object.document, object.id)).replace(/[^\p{L}\p{N}_-]+/gu, '') || 'above';
    const drawn = withEdge(object.document, of, object.id, form, [
      `${iriBase(document.base)}${name.replace(/^./u, (first) => first.toLowerCase())}`,
    ]);
    return drawn.document;
  },
  said: saidOfEdges,
  recorded: true,
};
