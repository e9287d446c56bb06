/** Random documents that can be printed: nested JSON, XML, CSV and tables, entities with attributes, edges and joins. */
import type {
  Attribute,
  Element,
  Entity,
  Expression,
  FieldRef,
  Input,
  Language,
  StudioDocument,
} from '../../../../studio/core/document.ts';
import { withRecords } from '../../../../studio/core/elements/records.ts';
import { levelOf, pathKey } from '../../../../studio/core/levels.ts';
import { checkEdge } from '../../../../studio/core/rules/link.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';
import type { Random } from '../../../support/random.ts';
import { edge, input, model, path } from './model.ts';

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  orders: ['[*].id', '[*].total', '[*].unit price', '[*].customer.name', '[*].lines[*].sku', '[*].lines[*].qty', '[*].payments[*].amount'],
  first: ['[0].id', '[0].customer.name', '[0].lines[2].sku'],
  parts: ['parts.part[*].@id', 'parts.part[*].name', 'parts.part[*].maker.@code'],
  people: ['id', 'name', 'city {x}'],
  rows: ['id', 'name', 'city'],
};

const INPUTS: readonly Input[] = [
  input('orders', 'json'),
  input('first', 'json'),
  input('parts', 'xml'),
  { ...input('people', 'csv'), nulls: [] },
];
const TABLES: readonly Input[] = [{ ...input('rows', 'sql'), location: { kind: 'table', table: 'people' } }];

/** @param language R2RML reads tables alone */
export function randomDocument(random: Random, language: Language): StudioDocument {
  const inputs = language === 'r2rml' ? TABLES : INPUTS;
  const entities = Array.from({ length: random.between(1, 5) }, (_, i) => randomEntity(random, random.pick(inputs), i));
  let document = model([...inputs, ...entities], { language });
  for (let i = 0; i < 12; i++) document = withEdge(random, document, entities, i);
  return document;
}

function randomEntity(random: Random, { id: of }: Input, i: number): Entity {
  const ref = randomField(random, of);
  const others = fieldsOf(of).filter(({ path: other }) => pathKey(levelOf(other)) === pathKey(levelOf(ref.path)));
  const parts = [`http://example.org/${i}/`, ref, ...(random.chance(0.3) ? ['-', random.pick(others)] : [])];
  return {
    kind: 'entity',
    id: `e${i}`,
    name: `E${i}`,
    input: of,
    level: levelOf(ref.path),
    identifier: { kind: 'template', parts },
    termType: random.chance(0.1) ? 'blank' : 'iri',
    classes: random.chance(0.5) ? [`http://example.org/Class${i}`] : [],
    graphs: [],
    parts: [`E${i}`],
  };
}

function withEdge(random: Random, document: StudioDocument, entities: readonly Entity[], i: number): StudioDocument {
  const from = random.pick(entities);
  const added: Element[] = [];
  const to = random.chance(0.6) ? randomAttribute(random, from, i) : random.pick(entities);
  if (to.kind === 'attribute') added.push(to);
  const drawn = { ...edge(`edge${i}`, from.id, to.id, 'same', [`http://example.org/p${i}`]), part: from.parts[0] as string };
  const next = withRecords(document, [...added, drawn]);
  const link = checkEdge(next, drawn);
  if (isRefusal(link) || link.form === 'view') return document;
  const formed = withRecords(next, [{ ...drawn, form: link.form }]);
  if (link.form !== 'join' || to.kind !== 'entity') return formed;
  // Keys of the subject's own object: others would multiply.
  const key = (of: Entity): Expression => ({
    kind: 'field',
    ref: random.pick(fieldsOf(of.input).filter(({ path: one }) => pathKey(levelOf(one)) === pathKey(of.level))),
  });
  return withRecords(formed, [{ kind: 'join', id: `join${i}`, edge: drawn.id, conditions: [{ child: key(from), parent: key(to) }] }]);
}

function randomAttribute(random: Random, from: Entity, i: number): Attribute {
  const ref = randomField(random, from.input);
  const value: Expression = random.chance(0.2)
    ? { kind: 'constant', value: random.pick(['EUR', 'a "b" {c} \\ d', 'ä']) }
    : random.chance(0.7)
      ? { kind: 'field', ref }
      : { kind: 'template', parts: [`{${i}} `, ref] };
  const more = random.pick([{}, {}, { language: 'en' }, { datatype: 'http://www.w3.org/2001/XMLSchema#date' }]);
  return { kind: 'attribute', id: `a${i}`, value, termType: 'literal', ...more };
}

const fieldsOf = (of: string): readonly FieldRef[] => (FIELDS[of] ?? []).map((text) => ({ input: of, path: path(text) }));
const randomField = (random: Random, of: string): FieldRef => random.pick(fieldsOf(of));
