/** Random documents that can be printed: nested JSON, XML, CSV and tables, entities with attributes, edges and joins. */
import type {
  Attribute,
  Element,
  Entity,
  Expression,
  FieldRef,
  Input,
  Language,
  Path,
  StudioDocument,
} from '../../../../studio/core/document.ts';
import { fieldsOf as readsOf } from '../../../../studio/core/elements/expressions.ts';
import { recordsOf, withRecords } from '../../../../studio/core/elements/records.ts';
import { iterationOf, levelOf, listsBelow, pathKey, sameOrBelow } from '../../../../studio/core/levels.ts';
import { fitsTogether } from '../../../../studio/core/rules/expression.ts';
import { checkEdge } from '../../../../studio/core/rules/link.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';
import type { Random } from '../../../support/random.ts';
import { edge, input, model, path } from './model.ts';

/** Of a list that a text names only where an entity or several fields of it are drawn. */
const BOLTS = ['parts.part[*].bolt[*].@size', 'parts.part[*].bolt[*].@grade'];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  orders: [
    '[*].id',
    '[*].total',
    '[*].unit price',
    '[*].customer.name',
    '[*].lines[*].sku',
    '[*].lines[*].qty',
    '[*].lines[*].taxes[*].rate',
    '[*].lines[*].taxes[*].code',
    '[*].payments[*].amount',
    '[*].tags[*]',
  ],
  first: ['[0].id', '[0].customer.name', '[0].lines[2].sku'],
  parts: ['parts.part[*].@id', 'parts.part[*].name', 'parts.part[*].maker.@code', ...BOLTS],
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
  const drawn = Array.from({ length: random.between(1, 5) }, (_, i) => randomEntity(random, random.pick(inputs), i));
  // What repeats in XML is known by iterators.
  const isBolt = drawn.some(({ level }) => pathKey(level).includes('bolt'));
  const entities = isBolt ? [...drawn, entityOf(random, path('parts.part[*].@id'), 'parts', drawn.length)] : drawn;
  let document = model([...inputs, ...entities], { language });
  for (let i = 0; i < 12; i++) {
    const next = withEdge(random, document, entities, i);
    if (isSayable(next)) document = next;
  }
  return document;
}

const randomEntity = (random: Random, { id: of }: Input, i: number): Entity => entityOf(random, randomField(random, of).path, of, i);

function entityOf(random: Random, of: Path, input: string, i: number): Entity {
  const ref: FieldRef = { input, path: of };
  // Of the same object, or of one around it.
  const others = fieldsOf(input).filter(({ path: other }) => sameOrBelow(levelOf(other), levelOf(ref.path)));
  const parts = [`http://example.org/${i}/`, ref, ...(random.chance(0.4) ? ['-', random.pick(others)] : [])];
  return {
    kind: 'entity',
    id: `e${i}`,
    name: `E${i}`,
    input,
    level: levelOf(ref.path),
    identifier: { kind: 'template', parts },
    termType: random.chance(0.1) ? 'blank' : 'iri',
    classes: random.chance(0.5) ? [`http://example.org/Class${i}`] : [],
    graphs: [],
    parts: [`E${i}`],
  };
}

/** Without logical views, one field of a list is read at a time. */
const isSayable = (document: StudioDocument): boolean =>
  document.language === 'rml' ||
  recordsOf(document, 'edge').every((one) => {
    const [from, to] = [one.from, one.to].map((id) => document.records.get(id)) as [Entity, Entity | Attribute];
    const value = to.kind === 'entity' ? to.identifier : to.value;
    return one.form === 'join' || readsOf(value).filter(({ path }) => listsBelow(iterationOf(from.level), path) > 0).length < 2;
  });

function withEdge(random: Random, document: StudioDocument, entities: readonly Entity[], i: number): StudioDocument {
  const from = random.pick(entities);
  const added: Element[] = [];
  const to = random.chance(0.6) ? randomAttribute(random, document, from, i) : random.pick(entities);
  if (to.kind === 'attribute') added.push(to);
  const drawn = { ...edge(`edge${i}`, from.id, to.id, 'same', [`http://example.org/p${i}`]), part: from.parts[0] as string };
  const next = withRecords(document, [...added, drawn]);
  const link = checkEdge(next, drawn);
  if (isRefusal(link)) return document;
  const formed = withRecords(next, [{ ...drawn, form: link.form }]);
  if (link.form !== 'join' || to.kind !== 'entity') return formed;
  // Keys of the subject's own object: others would multiply.
  const key = (of: Entity): Expression => ({
    kind: 'field',
    ref: random.pick(fieldsOf(of.input).filter(({ path: one }) => pathKey(levelOf(one)) === pathKey(of.level))),
  });
  return withRecords(formed, [{ kind: 'join', id: `join${i}`, edge: drawn.id, conditions: [{ child: key(from), parent: key(to) }] }]);
}

function randomAttribute(random: Random, document: StudioDocument, from: Entity, i: number): Attribute {
  const value = randomValue(random, document, from.input, i);
  const more = random.pick([{}, {}, { language: 'en' }, { datatype: 'http://www.w3.org/2001/XMLSchema#date' }]);
  return { kind: 'attribute', id: `a${i}`, value, termType: 'literal', ...more };
}

function randomValue(random: Random, document: StudioDocument, of: string, i: number): Expression {
  const ref = randomField(random, of);
  if (random.chance(0.2)) return { kind: 'constant', value: random.pick(['EUR', 'a "b" {c} \\ d', 'ä']) };
  const several: Expression = { kind: 'template', parts: [`{${i}} `, ref, ', ', randomField(random, of)] };
  const [a, b] = readsOf(several).map(({ path: one }) => pathKey(one));
  const isBolt = (key = ''): boolean => key.includes('bolt');
  if (random.chance(0.4) && a !== b && isBolt(a) === isBolt(b) && fitsTogether(document, several) === undefined) return several;
  if (isBolt(a)) return { kind: 'constant', value: 'bolt' };
  return random.chance(0.7) ? { kind: 'field', ref } : { kind: 'template', parts: [`{${i}} `, ref] };
}

const fieldsOf = (of: string): readonly FieldRef[] => (FIELDS[of] ?? []).map((text) => ({ input: of, path: path(text) }));
const randomField = (random: Random, of: string): FieldRef => random.pick(fieldsOf(of));
