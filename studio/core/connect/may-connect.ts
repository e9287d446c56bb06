/**
 * Whether two things may be connected, and what comes of it.
 *
 * `connectionOf` decides; the command `connect` carries its answer out, so that both agree. The rules are in `rules`, one file for each.
 */
import type { Entity, Expression, FieldRef, Id, StudioDocument } from '../document.ts';
import { appended, fieldsOf, sameExpression } from '../elements/expressions.ts';
import { levelWords } from '../elements/names.ts';
import { ownerOf } from '../elements/owner.ts';
import { edgesAt, joinOf, recordsOf } from '../elements/records.ts';
import type { Schema } from '../elements/schema.ts';
import { samePath } from '../levels.ts';
import { asEntity, isThing, type Side, sideOf, sideOfEntity, sideOfValue } from '../rules/ends.ts';
import { fitsTogether } from '../rules/expression.ts';
import { joinsAll } from '../rules/inputs.ts';
import { type Link, linkOf, type Offers } from '../rules/link.ts';
import { sameGrouping } from '../rules/mixing.ts';
import { mayStart } from '../rules/outgoing.ts';
import { isNew } from '../rules/repeated.ts';
import { isNoTitle, isValue } from '../rules/structure.ts';
import {
  absolute,
  type CommandCall,
  type Connect,
  type ConnectOptions,
  type Consent,
  type End,
  isRefusal,
  type Refusal,
  refuse,
  type Verdict,
} from '../rules/verdict.ts';
import { type Connection, draftOf, identified, type Made } from './connection.ts';
import { joined, otherWay, upwards } from './offers.ts';

/** Whether `from` may be connected to `to`: what is made of it, or why not. */
export function mayConnect(document: StudioDocument, schema: Schema, from: End, to: End, options: ConnectOptions = {}): Verdict {
  const connection = connectionOf(document, schema, from, to, options);
  if (isRefusal(connection)) return connection;
  const { makes, form, note } = connection;
  return { ok: true, makes, ...(form && { form }), ...(note !== undefined && { note }) };
}

/** What connecting `from` to `to` does. */
export function connectionOf(
  document: StudioDocument,
  schema: Schema,
  from: End,
  to: End,
  options: ConnectOptions = {},
): Connection | Refusal {
  return new Connecting(document, schema, options, true).connect(from, to);
}

/** The rules for each kind of two ends. */
class Connecting {
  readonly #document: StudioDocument;
  readonly #schema: Schema;
  readonly #options: ConnectOptions;
  readonly #mayOffer: boolean;

  /** @param mayOffer whether refusals offer something: not while an offer is tried */
  constructor(document: StudioDocument, schema: Schema, options: ConnectOptions, mayOffer: boolean) {
    this.#document = document;
    this.#schema = schema;
    this.#options = options;
    this.#mayOffer = mayOffer;
  }

  connect(from: End, to: End): Connection | Refusal {
    const wrong = isNoTitle(this.#document, to) ?? isNoTitle(this.#document, from) ?? absolute(this.#options.predicates ?? []);
    if (wrong !== undefined) return wrong;
    const left = sideOf(this.#document, this.#schema, from);
    if (left === undefined) return refuse('R1', 'No edge begins on the empty canvas. Begin at a field or an entity.', []);
    if (isRefusal(left)) return left;
    const right = sideOf(this.#document, this.#schema, to);
    if (right === undefined) return this.#toCanvas(left);
    return isRefusal(right) ? right : this.#toSide(left, right);
  }

  #toCanvas(left: Side): Connection | Refusal {
    if (left.kind === 'attribute') return mayStart(this.#document, left.id as Id, false) as Refusal;
    if (left.kind === 'entity') {
      const level = left.base;
      const made: Side = { ...left, kind: 'object', levels: [level], paths: [level], value: { kind: 'fresh' }, id: undefined };
      const link = linkOf(this.#document, left, made, false);
      return isRefusal(link) ? link : { ...edge('entity', link), subject: identified(left), object: draftOf(made) };
    }
    const ref = left.ref as FieldRef;
    if (left.kind !== 'value' || this.#options.as !== 'attribute') {
      return { ok: true, kind: 'element', makes: 'entity', element: draftOf(left, left.kind === 'value' ? ref : undefined) };
    }
    return this.#attributeOfOwner(left, ref);
  }

  /** R4: a field is an attribute of the entity of its parent object. */
  #attributeOfOwner(left: Side, ref: FieldRef): Connection | Refusal {
    const owner = ownerOf(this.#document, ref);
    if (owner === undefined) {
      const thing = left.input === undefined ? '' : levelWords(left.input, left.base).join(' ');
      const note = `No entity is made of each ${thing} yet: ${left.name} stays loose until an edge leads to it.`;
      return { ok: true, kind: 'element', makes: 'attribute', element: { value: left.value }, note };
    }
    const made = this.#fromEntity(sideOfEntity(this.#document, owner), left);
    return isRefusal(made) ? made : { ...made, note: `${left.name} belongs to ${owner.name}.` };
  }

  #toSide(left: Side, right: Side): Connection | Refusal {
    switch (left.kind) {
      case 'list':
      case 'object':
        return isValue(left, this.#schema) as Refusal;
      case 'value':
        return this.#fromField(left, right);
      case 'entity':
        return this.#fromEntity(left, right);
      case 'attribute': {
        const refusal = mayStart(this.#document, left.id as Id, right.ref === undefined || right.kind === 'value');
        return refusal ?? this.#fromEntity(asEntity(left), right);
      }
    }
  }

  #fromField(left: Side, right: Side): Connection | Refusal {
    switch (right.kind) {
      case 'list':
      case 'object':
        return isValue(right, this.#schema) as Refusal;
      case 'entity':
        return this.#fromEntity(right, left);
      case 'attribute':
        return this.#intoAttribute(left, right);
      case 'value':
        return left.input?.id === right.input?.id ? this.#fieldToField(left, right) : this.#byKeys(left, right);
    }
  }

  /** An entity of the first field, and the second one as its attribute. */
  #fieldToField(left: Side, right: Side): Connection | Refusal {
    const key = left.ref as FieldRef;
    const found = recordsOf(this.#document, 'entity').find(({ identifier }) => reads(identifier, key) === 'alone');
    const subject = found === undefined ? asEntity(left) : sideOfEntity(this.#document, found);
    const link = this.#link(subject, right);
    if (isRefusal(link)) return link;
    const made: Made = found === undefined ? draftOf(left, key) : { id: found.id };
    return { ...edge(found === undefined ? 'entity' : 'attribute', link), subject: made, object: { value: right.value } };
  }

  /** Two inputs: their entities are joined by the two fields. */
  #byKeys(left: Side, right: Side): Connection | Refusal {
    const refusal = sameGrouping(left, right) ?? joinsAll(left, right);
    if (refusal !== undefined) return refusal;
    const [child, parent] = [left.ref as FieldRef, right.ref as FieldRef];
    const from = ownerOf(this.#document, child);
    const to = this.#entityOfKey(parent) ?? ownerOf(this.#document, parent);
    const [fromName, toName] = [from?.name ?? left.name, to?.name ?? right.name];
    const open = from && to && this.#openJoin(from.id, to.id);
    const repeated = from && to && open === undefined ? this.#isNew(from.id, to.id) : undefined;
    if (repeated !== undefined) return repeated;
    return {
      ...edge('join', { form: 'join', note: `Join ${fromName} to ${toName}` }),
      subject: from === undefined ? draftOf(left) : { id: from.id },
      object: to === undefined ? draftOf(right, parent) : { id: to.id },
      condition: { child: left.value, parent: right.value },
      ...(open !== undefined && { completes: open }),
    };
  }

  #entityOfKey(key: FieldRef): Entity | undefined {
    const level = sideOf(this.#document, this.#schema, { kind: 'field', ref: key });
    if (level === undefined || isRefusal(level)) return undefined;
    return recordsOf(this.#document, 'entity').find(
      (entity) => reads(entity.identifier, key) !== 'not' && samePath(entity.level, level.base),
    );
  }

  /** An edge between two entities that still needs its keys, and has the predicates that are asked for. */
  #openJoin(from: Id, to: Id): Id | undefined {
    const wanted = this.#options.predicates ?? [];
    return recordsOf(this.#document, 'edge').find(
      (one) =>
        one.form === 'join' &&
        one.from === from &&
        one.to === to &&
        one.predicates.join(' ') === wanted.join(' ') &&
        (joinOf(this.#document, one.id)?.conditions.length ?? 0) === 0,
    )?.id;
  }

  #isNew(from: Id, to: Id): Refusal | undefined {
    const [left, right] = [from, to].map((id) => sideOf(this.#document, this.#schema, { kind: 'element', id }));
    if (left === undefined || right === undefined || isRefusal(left) || isRefusal(right)) return undefined;
    return isNew(this.#document, left, right, this.#options.predicates);
  }

  #fromEntity(left: Side, right: Side): Connection | Refusal {
    if (right.kind === 'value' && this.#options.as === 'entity') return this.#toOwner(left, right);
    const link = this.#link(left, right);
    if (isRefusal(link)) return link;
    const repeated = isNew(this.#document, left, right, this.#options.predicates);
    if (repeated !== undefined) return repeated;
    const subject = identified(left);
    switch (right.kind) {
      case 'value':
        return { ...edge('attribute', link), subject, object: { value: right.value } };
      case 'list':
      case 'object':
        return { ...edge('entity', link), subject, object: draftOf(right) };
      case 'entity':
      case 'attribute':
        return { ...edge(link.form === 'join' ? 'join' : 'edge', link), subject, object: identified(right) };
    }
  }

  /** An edge to the entity of the object that a field belongs to; it gets the field as attribute. */
  #toOwner(left: Side, right: Side): Connection | Refusal {
    const ref = right.ref as FieldRef;
    const owner = ownerOf(this.#document, ref);
    const thing: Side = owner
      ? sideOfEntity(this.#document, owner)
      : { ...right, kind: 'object', ref: undefined, paths: [right.base], value: { kind: 'fresh' } };
    const made = this.#fromEntity(left, thing);
    if (isRefusal(made) || made.kind !== 'edge') return made;
    const has = owner && isNew(this.#document, sideOfEntity(this.#document, owner), right);
    return has === undefined ? { ...made, field: ref } : made;
  }

  #intoAttribute(left: Side, right: Side): Connection | Refusal {
    const [ref, id] = [left.ref as FieldRef, right.id as Id];
    const value = this.#options.append === true ? appended(right.value, ref) : left.value;
    if (value === undefined) {
      return refuse('R1', `${right.name} is made by a function or written by hand. Nothing can be appended to it.`, [right.name]);
    }
    const apart = fitsTogether(this.#document, value);
    if (apart !== undefined) return apart;
    const after = sideOfValue(this.#document, value, left.name);
    for (const edge of edgesAt(this.#document, id)) {
      const [from, to] = [edge.from, edge.to].map((end) =>
        end === id ? { ...after, id } : sideOf(this.#document, this.#schema, { kind: 'element', id: end }),
      );
      if (from === undefined || to === undefined || isRefusal(from) || isRefusal(to)) continue;
      const link = linkOf(this.#document, from.kind === 'attribute' ? asEntity(from) : from, to, edge.form === 'join', {
        joined: () => this.#call(joined(from, left)),
      });
      if (isRefusal(link)) return link;
    }
    return { ok: true, kind: 'value', makes: 'value', attribute: id, value };
  }

  #link(from: Side, to: Side): Link | Refusal {
    return linkOf(this.#document, from, to, this.#options.join === true, this.#offers(from, to));
  }

  /** Only what would succeed is offered. */
  #offers(from: Side, to: Side): Offers {
    return {
      otherWay: () => upwards(this.#document, from, to) ?? this.#call(otherWay(this.#document, from, to)),
      joined: () => (isThing(to) ? undefined : this.#call(joined(from, to))),
    };
  }

  #call(call: Omit<Connect, 'schema'> | undefined): CommandCall | undefined {
    if (call === undefined || !this.#mayOffer) return undefined;
    const tried = new Connecting(this.#document, this.#schema, call.options ?? {}, false).connect(call.from, call.to);
    return isRefusal(tried) ? undefined : { command: 'connect', argument: { schema: this.#schema, ...call } };
  }
}

const edge = (makes: Consent['makes'], link: Link) => ({ ok: true, kind: 'edge', makes, ...link }) as const;

/** Whether an expression reads a field, alone or among others. */
function reads(value: Expression, ref: FieldRef): 'alone' | 'among' | 'not' {
  const fields = fieldsOf(value);
  if (!fields.some((one) => sameExpression({ kind: 'field', ref: one }, { kind: 'field', ref }))) return 'not';
  return fields.length === 1 ? 'alone' : 'among';
}
