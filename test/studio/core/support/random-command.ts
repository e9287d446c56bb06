/** Commands with random arguments, good and bad. */
import { type ArgumentOf, COMMANDS, type CommandName } from '../../../../studio/core/commands/all.ts';
import { copied } from '../../../../studio/core/commands/canvas/copies.ts';
import type { Command } from '../../../../studio/core/commands/command.ts';
import type { Element, Expression, FieldRef, Path, StudioDocument, TermType } from '../../../../studio/core/document.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import type { Schema } from '../../../../studio/core/elements/schema.ts';
import type { ConnectOptions, End } from '../../../../studio/core/rules/verdict.ts';
import { suggest } from '../../../../studio/core/suggest/suggest.ts';
import type { Random } from '../../../support/random.ts';

export interface Call {
  readonly command: Command<never>;
  readonly argument: never;
}

/** Chooses a command, and its argument for this document. */
export class RandomCommands {
  readonly #random: Random;
  readonly #schema: Schema;

  constructor(random: Random, schema: Schema) {
    this.#random = random;
    this.#schema = schema;
  }

  next(document: StudioDocument, without: readonly CommandName[] = []): Call {
    const names = (Object.keys(COMMANDS) as CommandName[]).filter((name) => !without.includes(name));
    const name = this.#random.chance(0.4) ? 'connect' : this.#random.pick(names);
    return { command: COMMANDS[name] as Command<never>, argument: this.#argument(document, name) as never };
  }

  #argument(document: StudioDocument, name: CommandName): unknown {
    const random = this.#random;
    const told: { readonly [N in CommandName]: () => ArgumentOf<N> } = {
      'add-input': () => ({
        name: random.pick(['new.csv', 'more.json', 'people.csv']),
        location: { kind: 'file', path: 'new' },
        format: 'csv',
      }),
      'remove-input': () => ({ id: this.#id(document, 'input') }),
      'relocate-input': () => ({
        id: this.#id(document, 'input'),
        location: { kind: 'url', url: 'https://example.org/data' },
        ...(random.chance(0.3) && { format: random.pick(['csv', 'xlsx', 'json', 'xml'] as const) }),
        ...(random.chance(0.3) && { name: random.pick(['a', 'b', '']) }),
      }),
      'set-grouping': () => ({ id: this.#id(document, 'input'), grouped: random.chance(0.5) }),
      'set-dialect': () => ({ id: this.#id(document, 'input'), dialect: random.chance(0.5) ? { delimiter: ';' } : undefined }),
      'set-empty': () => ({ id: this.#id(document, 'input'), isNone: random.chance(0.5) }),
      'add-entity': () =>
        random.chance(0.3) ? { attribute: this.#id(document, 'attribute') } : { schema: this.#schema, at: this.field() },
      rename: () => ({ id: this.#id(document, random.pick(['entity', 'input'])), name: random.pick(['Order', 'Thing', '', 'x.json']) }),
      'set-identifier': () => ({ id: this.#id(document, 'entity'), identifier: this.#expression() }),
      'set-term-type': () => ({
        id: this.#id(document, random.pick(['entity', 'attribute'])),
        termType: random.pick(['iri', 'uri', 'blank', 'literal'] satisfies TermType[]),
      }),
      'add-class': () => ({ id: this.#id(document, 'entity'), classes: [this.#iri()] }),
      'remove-class': () => {
        const classed = [...document.records.values()].filter((record) => record.kind === 'entity' && record.classes.length > 0);
        const id = classed.length > 0 ? random.pick(classed).id : this.#id(document, 'entity');
        return { id, class: random.pick(['urn:a', 'urn:b', 'https://example.org/c']) };
      },
      'split-part': () => {
        const several = recordsOf(document, 'entity').filter(({ parts }) => parts.length > 1);
        const entity = several.length > 0 ? random.pick(several) : recordsOf(document, 'entity')[0];
        return { id: entity?.id ?? 'gone', part: random.pick([...(entity?.parts ?? []), 'gone']) };
      },
      'merge-parts': () => {
        const one = random.pick(recordsOf(document, 'entity').length > 0 ? recordsOf(document, 'entity') : [undefined]);
        const alike = recordsOf(document, 'entity').filter(
          ({ identifier }) => one !== undefined && JSON.stringify(identifier) === JSON.stringify(one.identifier),
        );
        return { ids: random.chance(0.8) ? alike.map(({ id }) => id) : [this.#id(document, 'entity'), this.#id(document, 'entity')] };
      },
      'add-attribute': () =>
        random.chance(0.3) ? { value: this.#expression() } : { schema: this.#schema, at: this.field(), predicates: this.#predicates() },
      'set-expression': () => ({ id: this.#id(document, 'attribute'), value: this.#expression() }),
      'set-datatype': () => ({ id: this.#id(document, 'attribute'), datatype: random.pick([undefined, 'urn:a', 'not an IRI']) }),
      'set-language': () => ({ id: this.#id(document, 'attribute'), language: random.pick([undefined, 'en', 'de-CH', 'no language']) }),
      'apply-function': () => ({ ...this.#value(document), function: this.#iri(), parameter: 'urn:p', others: this.#others() }),
      'remove-function': () => {
        const called = [...document.records.values()].filter((record) => record.kind === 'attribute' && record.value.kind === 'call');
        return called.length > 0 && random.chance(0.5) ? { of: random.pick(called).id } : this.#value(document);
      },
      connect: () => ({ schema: this.#schema, from: this.end(document), to: this.end(document), options: this.options() }),
      reconnect: () => ({
        edge: this.#id(document, 'edge'),
        ...(random.chance(0.6) && { from: this.#id(document, random.pick(['entity', 'attribute'])) }),
        ...(random.chance(0.6) && { to: this.#id(document, random.pick(['entity', 'attribute'])) }),
      }),
      reverse: () => ({ edge: this.#id(document, 'edge') }),
      'set-predicates': () => ({ edge: this.#id(document, 'edge'), predicates: this.#predicates() }),
      'add-join-condition': () => ({ edge: this.#joinEdge(document), child: this.#expression(), parent: this.#expression() }),
      'remove-join-condition': () => ({ edge: this.#joinEdge(document), index: random.between(0, 1) }),
      'add-graph': () => ({ name: random.chance(0.5) ? { kind: 'constant', value: this.#iri() } : this.#expression() }),
      'set-graph': () => ({ ids: [this.#id(document, random.pick(['entity', 'edge']))], graphs: [this.#id(document, 'graph')] }),
      'add-prefix': () => ({ name: random.pick(['ex', 'a', 'b', '1']), iri: this.#iri() }),
      'rename-prefix': () => ({ id: this.#id(document, 'prefix'), name: random.pick(['ex', 'c', '']) }),
      'remove-prefix': () => ({ id: this.#id(document, 'prefix') }),
      'set-expert': () => ({ expert: random.chance(0.5) }),
      'accept-suggestion': () => ({ suggestions: random.shuffle(suggest(document, { schema: this.#schema, terms: [] })).slice(0, 3) }),
      'reject-suggestion': () => ({
        keys: suggest(document, { schema: this.#schema, terms: [] })
          .slice(0, 1)
          .map(({ key }) => key),
      }),
      'edit-text': () => ({
        document: {
          ...document,
          text: { ...document.text, text: `${document.text.text.replace(/(?<=.)$/, '\n')}# ${random.between(0, 9)}\n` },
        },
      }),
      remove: () => ({ ids: this.#some(document) }),
      duplicate: () => ({ ids: this.#some(document) }),
      paste: () => ({ records: copied(document, this.#some(document)) }),
      move: () => ({ positions: this.#some(document).map((of) => ({ of, x: random.between(0, 900), y: random.between(0, 900) })) }),
      align: () => ({
        blocks: [...document.records.values()].flatMap((record) => (record.kind === 'place' ? [record.of] : [])),
        side: random.pick(['left', 'right', 'top'] as const),
      }),
      'lay-out': () => ({ positions: this.#some(document).map((of) => ({ of, x: 0, y: 0 })) }),
      fold: () => ({ of: this.#id(document, random.pick(['input', 'entity'])), open: random.chance(0.5) ? ['$[*].lines'] : [] }),
    };
    return told[name]();
  }

  /** Any end of an edge that a person can draw to or from. */
  end(document: StudioDocument): End {
    const kind = this.#random.weighted({ field: 5, entity: 6, attribute: 3, canvas: 1, input: 0.3 });
    if (kind === 'field') return { kind: 'field', ref: this.field() };
    if (kind === 'canvas') return { kind: 'canvas' };
    return kind === 'input' ? { kind, id: this.#id(document, 'input') } : { kind: 'element', id: this.#id(document, kind) };
  }

  options(): ConnectOptions {
    const random = this.#random;
    return {
      ...(random.chance(0.7) && { predicates: this.#predicates() }),
      ...(random.chance(0.4) && { as: random.pick(['entity', 'attribute'] as const) }),
      ...(random.chance(0.2) && { append: true }),
      ...(random.chance(0.1) && { join: true }),
    };
  }

  /** A field, list or object of the schema; sometimes of one object alone. */
  field(): FieldRef {
    const input = this.#random.pick([...this.#schema.keys()]);
    const { path } = this.#random.pick([...(this.#schema.get(input) ?? new Map()).values()]) as { readonly path: Path };
    if (!this.#random.chance(0.3)) return { input, path };
    return { input, path: path.map((step) => ('each' in step ? { index: this.#random.between(0, 1) } : step)) };
  }

  #expression(): Expression {
    const random = this.#random;
    switch (random.pick(['field', 'field', 'template', 'template', 'constant', 'call', 'written', 'fresh'] as const)) {
      case 'field':
        return { kind: 'field', ref: this.field() };
      case 'template': {
        const first = this.field();
        const second = random.chance(0.5) ? this.field() : undefined;
        return { kind: 'template', parts: ['https://example.org/', first, ...(second === undefined ? [] : ['/', second])] };
      }
      case 'constant':
        return { kind: 'constant', value: `https://example.org/${random.between(0, 3)}` };
      case 'call':
        return { kind: 'call', function: 'urn:f', arguments: [{ parameter: 'urn:p', value: { kind: 'field', ref: this.field() } }] };
      case 'written':
        return { kind: 'written', text: '$.a[?@.b]' };
      case 'fresh':
        return { kind: 'fresh' };
    }
  }

  #others() {
    return this.#random.chance(0.3) ? [{ parameter: 'urn:q', value: this.#expression() }] : [];
  }

  #value(document: StudioDocument) {
    const of = this.#id(document, this.#random.pick(['entity', 'attribute', 'join']));
    const isJoin = document.records.get(of)?.kind === 'join';
    return { of, ...(isJoin && { condition: { index: 0, side: this.#random.pick(['child', 'parent'] as const) } }) };
  }

  #iri(): string {
    return this.#random.pick(['urn:a', 'urn:b', 'https://example.org/c', 'not an IRI']);
  }

  #predicates(): readonly string[] {
    return this.#random.pick([[], ['urn:p1'], ['urn:p2'], ['urn:p3'], ['urn:p1', 'urn:p4'], ['relative']]);
  }

  #joinEdge(document: StudioDocument): string {
    const joined = [...document.records.values()].filter((record) => record.kind === 'edge' && record.form === 'join');
    return joined.length > 0 && this.#random.chance(0.9) ? this.#random.pick(joined).id : this.#id(document, 'edge');
  }

  #id(document: StudioDocument, kind: Element['kind']): string {
    const ids = [...document.records.values()].filter((record) => record.kind === kind);
    return ids.length === 0 || this.#random.chance(0.02) ? 'gone' : this.#random.pick(ids).id;
  }

  #some(document: StudioDocument): readonly string[] {
    const kinds: readonly Element['kind'][] = ['entity', 'attribute', 'edge', 'input', 'graph', 'prefix'];
    return Array.from({ length: this.#random.between(1, 3) }, () => this.#id(document, this.#random.pick(kinds)));
  }
}
