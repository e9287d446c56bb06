/**
 * What a drawing means, by an interpreter that walks the sample records, against what the engine makes of its printed mapping (P9): fields of one
 * list that are read together do not multiply, and parents are those of the record.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { executeRun } from '../../../../src/run/run.ts';
import type { Attribute, Entity, Expression, Language, Path, Step, StudioDocument } from '../../../../studio/core/document.ts';
import { fieldsOf } from '../../../../studio/core/elements/expressions.ts';
import { joinOf, recordsOf } from '../../../../studio/core/elements/records.ts';
import { pathKey } from '../../../../studio/core/levels.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { share, sharedTest } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { plainLabels } from '../../../support/read-rdf.ts';
import { randomDocument } from '../support/random-document.ts';

/** An object of a list, or a value. Attributes and elements of XML are members. */
type Json = string | readonly Json[] | { readonly [name: string]: Json };

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-drawing-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Some members are missing, and some lists empty. */
class Data {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  object(members: Readonly<Record<string, () => Json>>): Json {
    return Object.fromEntries(Object.entries(members).flatMap(([name, make]) => (this.#random.chance(0.85) ? [[name, make()]] : [])));
  }

  list(make: () => Json): Json {
    return Array.from({ length: this.#random.between(0, 3) }, make);
  }

  word = (): Json => this.#random.pick(['a', 'b', 'c', 'd']);

  orders(): Json {
    const tax = (): Json => this.object({ rate: this.word, code: this.word });
    const line = (): Json => this.object({ sku: this.word, qty: this.word, taxes: () => this.list(tax) });
    const customer = (): Json => this.object({ name: this.word });
    const payment = (): Json => this.object({ amount: this.word });
    return Array.from({ length: 4 }, () =>
      this.object({
        id: this.word,
        total: this.word,
        'unit price': this.word,
        customer,
        lines: () => this.list(line),
        payments: () => this.list(payment),
        tags: () => this.list(this.word),
      }),
    );
  }

  parts(): Json {
    const bolt = (): Json => this.object({ '@size': this.word, '@grade': this.word });
    const maker = (): Json => this.object({ '@code': this.word });
    const part = (): Json => this.object({ '@id': this.word, name: this.word, maker, bolt: () => this.list(bolt) });
    return { parts: { part: Array.from({ length: 4 }, part) } };
  }

  people(): readonly Json[] {
    return Array.from({ length: 4 }, () => ({ id: this.word(), name: this.word(), 'city {x}': this.word() }));
  }
}

function xmlOf(name: string, value: Json): string {
  if (Array.isArray(value)) return value.map((one) => xmlOf(name, one)).join('');
  if (typeof value === 'string') return `<${name}>${value}</${name}>`;
  const members = Object.entries(value as { readonly [name: string]: Json });
  const attributes = members.flatMap(([key, one]) => (key.startsWith('@') ? [` ${key.slice(1)}="${one}"`] : []));
  return `<${name}${attributes.join('')}>${members.flatMap(([key, one]) => (key.startsWith('@') ? [] : [xmlOf(key, one)])).join('')}</${name}>`;
}

/** Which item of each list is meant, by the key of the path of the list's items. */
type Items = ReadonlyMap<string, number>;

/** Each choice of one item of each list that some of the paths lead through. */
function choices(data: Json, paths: readonly Path[]): readonly Items[] {
  const lists = new Map(
    paths.flatMap((path) => path.flatMap((step, i) => ('each' in step ? [[pathKey(path.slice(0, i + 1)), path.slice(0, i + 1)]] : []))),
  );
  let all: readonly Items[] = [new Map()];
  for (const [key, path] of [...lists].sort(([, a], [, b]) => a.length - b.length) as readonly (readonly [string, Path])[]) {
    all = all.flatMap((items) => {
      const list = at(data, path.slice(0, -1), items);
      return Array.isArray(list) ? list.map((_, i) => new Map([...items, [key, i]])) : [];
    });
  }
  return all;
}

function at(data: Json | undefined, path: Path, items: Items): Json | undefined {
  let found = data;
  for (const [i, step] of path.entries()) {
    if (found === undefined) return undefined;
    found = stepInto(found, step, items.get(pathKey(path.slice(0, i + 1))));
  }
  return found;
}

function stepInto(value: Json, step: Step, item: number | undefined): Json | undefined {
  if ('each' in step || 'index' in step) return Array.isArray(value) ? value['index' in step ? step.index : (item ?? 0)] : undefined;
  const name = 'name' in step ? step.name : 'attribute' in step ? `@${step.attribute}` : '';
  return typeof value === 'string' || Array.isArray(value) ? undefined : (value as { readonly [name: string]: Json })[name];
}

/** undefined: a field of it has no value. */
function textOf(value: Expression, data: Json, items: Items): string | undefined {
  if (value.kind === 'constant') return value.value;
  const parts = value.kind === 'template' ? value.parts : value.kind === 'field' ? [value.ref] : [];
  const texts = parts.map((part) => (typeof part === 'string' ? part : at(data, part.path, items)));
  return texts.every((one) => typeof one === 'string') ? texts.join('') : undefined;
}

/** Subject, predicate and object of all edges but joins, as texts. */
function meant(document: StudioDocument, dataOf: (input: string) => readonly Json[]): readonly string[] {
  const found = new Set<string>();
  for (const edge of recordsOf(document, 'edge')) {
    if (joinOf(document, edge.id) !== undefined) continue;
    const [from, to] = [edge.from, edge.to].map((id) => document.records.get(id)) as [Entity, Entity | Attribute];
    const value = to.kind === 'entity' ? to.identifier : to.value;
    const paths = [...fieldsOf(from.identifier), ...fieldsOf(value)].map(({ path }) => path);
    for (const data of dataOf(from.input)) {
      for (const items of choices(data, paths)) {
        const [subject, object] = [textOf(from.identifier, data, items), textOf(value, data, items)];
        if (subject !== undefined && object !== undefined) found.add(`${subject} ${edge.predicates[0]} ${object}`);
      }
    }
  }
  return [...found].sort();
}

describe.each(['rml', 'legacy'] as const satisfies readonly Language[])('a drawing in %s', (language) => {
  sharedTest.each(share(15, soakSeeds(1, 300)))('gives the statements that it means: seed %i', async (seed) => {
    const random = new Random(seed);
    const document = randomDocument(random, language);
    const made = new Data(random);
    const [orders, first, parts, people] = [made.orders(), made.orders(), made.parts(), made.people()];
    const files = {
      'orders.json': JSON.stringify(orders),
      'first.json': JSON.stringify(first),
      'parts.xml': xmlOf('parts', (parts as { readonly parts: Json }).parts),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const rows = people.map((row) => Object.values(row).join(','));
    writeFileSync(join(directory, 'people.csv'), ['id,name,city {x}', ...rows, ''].join('\n'));
    const { text = '' } = await print(document, language);
    const mapping = join(directory, 'mapping.ttl');
    writeFileSync(mapping, text);
    let lines = '';
    const sink = { write: (some: string) => void (lines += fromBytes(some)), commit: async () => [], abort: async () => {} };
    // Datatypes are drawn by chance.
    const request = {
      runId: 'drawing',
      inputs: [],
      mappings: [mapping],
      workingDirectory: directory,
      spillDirectory: directory,
      datatypeCheck: 'off' as const,
    };
    await executeRun({ ...RUN_DEFAULTS, ...request }, sink, {});
    const joined = new Set(
      recordsOf(document, 'edge').flatMap(({ id, predicates }) => (joinOf(document, id) === undefined ? [] : predicates)),
    );
    const statements = lines.split('\n').flatMap((line) => {
      const [, subject = '', predicate = '', object = ''] = /^(\S+) <([^>]*)> (.*) \.$/.exec(line) ?? [];
      return !predicate.includes('/p') || joined.has(predicate) ? [] : [`${plain(subject)} ${predicate} ${plain(object)}`];
    });
    const byInput: Readonly<Record<string, readonly Json[]>> = { orders: [orders], first: [first], parts: [parts], people };
    expect([...new Set(statements)].sort()).toEqual(meant(document, (input) => byInput[input] ?? []));
  });
});

/** An IRI, the text that a blank node is made of, or a literal without its datatype. */
function plain(term: string): string {
  if (term.startsWith('<')) return term.slice(1, -1);
  if (term.startsWith('"')) return JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(term)?.[0] ?? '""') as string;
  return plainLabels(term)
    .replace(/^_:b/, '')
    .replace(/_([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
