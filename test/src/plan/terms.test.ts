/**
 * What planning proves of terms, against all records of short values: what it says can be read back off a term must be the same in all
 * records that make the term, and terms of two term maps that can be equal must not be told apart.
 */
import { describe, expect } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { toBytes } from '../../../src/core/text.ts';
import { expressionText } from '../../../src/mapping/model/expressions.ts';
import type { Expression, TermMap, TermType, TriplesMap } from '../../../src/mapping/model/model.ts';
import type { QuotedTerm, Read, RowTerm } from '../../../src/plan/algebra.ts';
import { termOf } from '../../../src/plan/build/terms.ts';
import { injectiveReferences } from '../../../src/plan/injectivity.ts';
import { planMapping } from '../../../src/plan/planning.ts';
import { writtenTerm } from '../../../src/plan/written.ts';
import { compileTerm } from '../../../src/terms/encode.ts';
import { share, sharedTest, test } from '../../support/jest/extent.ts';

const ORIGIN = { document: 'm.ttl', line: 1, column: 1 };
/** A base that a value can write, too. */
const BASE = 'x:/';

function termMap(termType: TermType, template: string): TermMap {
  const parts = template
    .split(/[{}]/)
    .map((text, i) => (i % 2 === 1 ? ({ kind: 'reference', reference: text } as const) : ({ kind: 'text', text } as const)))
    .filter((part) => part.kind === 'reference' || part.text !== '');
  return {
    kind: 'term',
    origin: ORIGIN,
    termType,
    expression: { kind: 'template', origin: ORIGIN, parts },
    language: undefined,
    datatype: undefined,
  };
}

const reference = (termType: TermType, more: Partial<TermMap> = {}): TermMap => ({
  ...termMap(termType, ''),
  expression: { kind: 'reference', origin: ORIGIN, reference: 'a' },
  ...more,
});

const constant = (value: string): Expression => ({ kind: 'constant', origin: ORIGIN, term: { kind: 'iri', value } });

const nameOf = ({ termType, expression }: TermMap): string => `${termType} ${expressionText(expression)}`;

type Row = Readonly<Record<'a' | 'b', string>>;

const VALUES = ['', 'x', '/', 'x/', '/x', ':', 'x:', 'x:/', '-', '-x', '%', '%2F', '2F', ' ', '%C3%A9', 'é', '"', '\\', 'C3%A9', '20/'];
const ROWS: readonly Row[] = VALUES.flatMap((a) => VALUES.map((b) => ({ a, b })));

const planned = (map: TermMap) =>
  termOf(map, (reference, origin) => ({ kind: 'read', origin, record: { id: 0, name: '' }, reference }), BASE, { map: 'm', columns: [] });

const PLAIN = { typed: false, datatype: undefined };

/** The token that each row makes; undefined where it makes none. */
const tokensOf = (map: TermMap): readonly (string | undefined)[] => tokensOfTerm(planned(map));

function tokensOfTerm(of: RowTerm, natural: { typed: boolean; datatype: null | undefined } = PLAIN): readonly (string | undefined)[] {
  const term = compileTerm(of, {
    accessor: (leaf) => (record) => toBytes((record as Row)[(leaf as Read).reference as 'a']),
    encoded: () => () => null,
    typed: natural.typed,
    datatype: () => natural.datatype,
    labels: { values: 'v', rows: (map) => map },
    part: '',
    run: 'r',
    order: String,
    heads: () => () => null,
    startedAt: 0,
  });
  return ROWS.map((row) => {
    try {
      return `${term.before}${term.text(row, 0) as string}${term.after}`;
    } catch (error) {
      if (error instanceof Fault && error.code === 'record/term') return undefined;
      throw error;
    }
  });
}

const determined = (map: TermMap): readonly string[] => determinedBy(planned(map));
const determinedBy = (term: RowTerm): readonly string[] =>
  [...injectiveReferences(writtenTerm(term))].map((key) => key.replace('0 ', '')).sort();

/** References of which two rows that make the same term have other values. */
const contradictions = (map: TermMap): readonly string[] => contradictionsOf(tokensOf(map));

function contradictionsOf(tokens: readonly (string | undefined)[]): readonly string[] {
  const first = new Map<string, Row>();
  const found = new Set<string>();
  for (const [i, token] of tokens.entries()) {
    if (token === undefined) continue;
    const row = ROWS[i] as Row;
    const known = first.get(token);
    if (known === undefined) first.set(token, row);
    else for (const name of ['a', 'b'] as const) if (known[name] !== row[name]) found.add(name);
  }
  return [...found].sort();
}

const TYPES: readonly TermType[] = ['iri', 'uri', 'unsafe-iri', 'unsafe-uri', 'blank', 'literal'];
const TEXTS = ['', '/', '-', '%', 'x:', 'é'];
const TEMPLATES = TEXTS.flatMap((before) =>
  TEXTS.flatMap((middle) => TEXTS.flatMap((after) => ['a', 'b'].map((second) => `${before}{a}${middle}{${second}}${after}`))),
);
const ALL: readonly TermMap[] = TYPES.flatMap((type) => [
  ...TEXTS.flatMap((before) => TEXTS.map((after) => termMap(type, `${before}{a}${after}`))),
  ...TEMPLATES.map((template) => termMap(type, template)),
  reference(type),
]);

describe('what a term says of its record', () => {
  test.each<[name: string, map: TermMap, expected: readonly string[]]>([
    ['a slash between two values', termMap('iri', 'http://e/{a}/{b}'), ['a', 'b']],
    ['a colon between two values of a URI', termMap('uri', 'http://e/{a}:{b}'), ['a', 'b']],
    ['a relative template takes the base for certain', termMap('iri', '{a}/{b}'), ['a', 'b']],
    ['a hyphen may be a value’s own', termMap('iri', 'http://e/{a}-{b}'), []],
    ['what percent-encoding writes is no separator', termMap('iri', 'http://e/{a}%{b}'), []],
    ['a letter beyond ASCII is no separator', termMap('iri', 'http://e/{a}é{b}'), []],
    ['one part is clear, the other is not', termMap('iri', 'http://e/{a}/{b}{c}'), ['a']],
    ['a value that stands twice', termMap('iri', 'http://e/{a}{a}'), ['a']],
    ['a value may be a scheme', termMap('iri', '{a}:{b}'), []],
    ['a value may complete a scheme', termMap('iri', 'x{a}:{b}'), []],
    ['a colon behind a slash makes no scheme', termMap('iri', 'x/{a}:{b}'), ['a', 'b']],
    ['an unsafe value may hold a slash', termMap('unsafe-iri', 'http://e/{a}/{b}'), []],
    ['the only value of an unsafe IRI', termMap('unsafe-iri', 'http://e/{a}/x'), ['a']],
    ['an unsafe value may be an absolute IRI', termMap('unsafe-iri', '{a}/x'), []],
    ['a URI encodes é, and % stays', termMap('unsafe-uri', 'http://e/{a}'), []],
    ['an IRI from data may have the base already', reference('iri'), []],
    ['two values of a blank node', termMap('blank', '{a}/{b}'), []],
    ['the value of a blank node', reference('blank'), ['a']],
    ['two values of a literal', termMap('literal', '{a}/{b}'), []],
    ['the value of a literal', termMap('literal', 'x {a}'), ['a']],
    ['a literal of natural datatype is canonical', reference('literal'), []],
    [
      'a literal of a datatype is as the source writes it',
      reference('literal', { datatype: { ...termMap('iri', ''), expression: constant('http://d') } }),
      ['a'],
    ],
  ])('%s', (_, map, expected) => {
    expect(determined(map)).toEqual(expected);
  });

  test('no two records with one term differ in what it says', () => {
    const wrong = ALL.filter((map) => determined(map).some((name) => contradictions(map).includes(name)));
    expect(wrong.map(nameOf)).toEqual([]);
  });

  test('a source that knows beforehand that no value has a datatype makes the same literals', () => {
    const term = planned(reference('literal'));
    const plain = tokensOfTerm(term);
    expect(plain).toContain('"\\""');
    expect(tokensOfTerm(term, { typed: true, datatype: undefined })).toEqual(plain);
    expect(tokensOfTerm(term, { typed: true, datatype: null })).toEqual(plain);
  });

  test('the values that are searched show what must not be claimed', () => {
    const refuted = ALL.filter((map) => contradictions(map).length > 0);
    expect(refuted.length).toBeGreaterThan(ALL.length / 4);
    for (const map of [
      termMap('iri', 'x:{a}%{b}'),
      termMap('unsafe-iri', 'x:{a}/{b}'),
      termMap('unsafe-uri', 'x:{a}'),
      reference('iri'),
      termMap('blank', '{a}/{b}'),
    ])
      expect(contradictions(map)).not.toEqual([]);
  });
});

/** Whether planning takes two triples maps, alike but for their subjects, for ones that can make the same statement. */
function canMeet(a: TermMap, b: TermMap): boolean {
  const object = { ...termMap('iri', ''), expression: constant('http://o') };
  const maps = [a, b].map(
    (subject, i): TriplesMap => ({
      id: `m${i}`,
      name: `m${i}`,
      origin: ORIGIN,
      dialect: 'rml',
      source: {
        kind: 'sql',
        origin: ORIGIN,
        ids: [],
        connection: undefined,
        content: { kind: 'table', origin: ORIGIN, name: `t${i}` },
        references: 'labels',
        nulls: [],
      },
      baseIri: undefined,
      subject: { ...subject, classes: [object], graphs: [] },
      predicateObjects: [],
    }),
  );
  return planMapping({ annotations: [], triplesMaps: maps }, BASE).groups.length === 1;
}

describe('terms of two term maps', () => {
  const SUBJECTS = ALL.filter(({ termType }) => termType !== 'literal');

  sharedTest.each(share(1, [0, 1, 2, 3, 4, 5]))('what can be equal is not told apart (part %d)', (part) => {
    const makers = new Map<string, TermMap[]>();
    for (const map of SUBJECTS) {
      for (const token of new Set(tokensOf(map))) {
        if (token === undefined) continue;
        const known = makers.get(token);
        if (known === undefined) makers.set(token, [map]);
        else known.push(map);
      }
    }
    let looked = 0;
    const wrong: unknown[] = [];
    for (const [token, maps] of makers) {
      // Each with a neighbour, and with one from afar.
      for (const [i, map] of maps.entries()) {
        if ((looked + i) % 42 !== part * 7) continue;
        for (const other of [maps[i + 1], maps[(i * 7919 + 13) % maps.length]])
          if (other !== undefined && other !== map && !canMeet(map, other)) wrong.push([token, nameOf(map), nameOf(other)]);
      }
      looked += maps.length;
    }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(10_000);
  });

  test.each<[name: string, a: TermMap, b: TermMap, expected: boolean]>([
    ['a value may be any scheme', termMap('iri', '{a}:{b}'), termMap('iri', 'http:{a}'), true],
    ['a value is no slash', termMap('iri', '{a}:{b}'), termMap('iri', 'http://e/{a}'), false],
    ['a value may leave the base in front', termMap('iri', '{a}:{b}'), termMap('iri', 'x:/{a}:1'), true],
    ['an unsafe value may be a whole IRI', termMap('unsafe-iri', '{a}/x'), termMap('iri', 'http://e/{a}/x'), true],
    ['the beginning of an unsafe IRI stays', termMap('unsafe-iri', 'http://f/{a}'), termMap('iri', 'http://e/{a}'), false],
    ['escapes of an unsafe IRI', termMap('unsafe-iri', 'http://e/"{a}'), termMap('unsafe-iri', 'http://e/\\u0022{a}'), false],
    ['letters beyond ASCII', termMap('iri', 'http://e/{a}/é'), termMap('iri', 'http://e/é/{a}'), true],
    ['a lone surrogate is written as U+FFFD', termMap('iri', 'http://e/\ud800/{a}'), termMap('iri', 'http://e/\ufffd/{a}'), true],
  ])('%s', (_, a, b, expected) => {
    expect(canMeet(a, b)).toBe(expected);
  });
});

/** A quoted triple of three term maps, or one of several. */
interface Quoted {
  readonly subject: TermMap;
  readonly predicate: TermMap;
  readonly objects: readonly TermMap[];
}

const quotedTerm = ({ subject, predicate, objects }: Quoted): QuotedTerm => ({
  kind: 'quoted',
  origin: ORIGIN,
  triples: objects.map((object) => ({ subject: planned(subject), predicate: planned(predicate), object: planned(object) })),
});

/** Whether two triples maps that quote these can make the same statement. */
function canMeetQuoted(a: Quoted, b: Quoted): boolean {
  const plain = { ...termMap('iri', ''), expression: constant('http://o') };
  const maps = [a, b].flatMap(({ subject, predicate, objects }, i): TriplesMap[] => {
    const source = {
      kind: 'sql',
      origin: ORIGIN,
      ids: [],
      connection: undefined,
      content: { kind: 'table', origin: ORIGIN, name: `t${i}` },
      references: 'labels',
      nulls: [],
    } as const;
    const common = { origin: ORIGIN, dialect: 'rml', source, baseIri: undefined } as const;
    return [
      {
        ...common,
        id: `q${i}`,
        name: `q${i}`,
        quotedOnly: true,
        subject: { ...subject, classes: [], graphs: [] },
        predicateObjects: [{ origin: ORIGIN, predicates: [predicate], objects, graphs: [] }],
      },
      {
        ...common,
        id: `m${i}`,
        name: `m${i}`,
        subject: { kind: 'star', origin: ORIGIN, quoted: `q${i}`, conditions: [], classes: [plain], graphs: [] },
        predicateObjects: [],
      },
    ];
  });
  return planMapping({ triplesMaps: maps, annotations: [] }, BASE).groups.length === 1;
}

describe('quoted triples', () => {
  const some = <T>(all: readonly T[], count: number, from: number): readonly T[] =>
    Array.from({ length: count }, (_, i) => all[(from + i * 7919) % all.length] as T);
  const subjects = some(
    ALL.filter(({ termType }) => termType !== 'literal'),
    120,
    3,
  );
  const objects = some(ALL, 120, 11);
  const predicates = [termMap('iri', 'x:{a}'), { ...termMap('iri', ''), expression: constant('x:p') }];
  const triples = subjects.map(
    (subject, i): Quoted => ({ subject, predicate: predicates[i % 2] as TermMap, objects: [objects[i] as TermMap] }),
  );
  const several = triples.map(
    (triple, i): Quoted => ({ ...triple, objects: [...triple.objects, objects[(i + 1) % objects.length] as TermMap] }),
  );

  test('no two records with one quoted triple differ in what it says', () => {
    const wrong = triples.filter((triple) => {
      const term = quotedTerm(triple);
      return determinedBy(term).some((name) => contradictionsOf(tokensOfTerm(term)).includes(name));
    });
    expect(wrong).toEqual([]);
    expect(triples.filter((triple) => determinedBy(quotedTerm(triple)).length > 0).length).toBeGreaterThan(20);
    // One of several triples says nothing of the record.
    expect(several.filter((triple) => determinedBy(quotedTerm(triple)).length > 0)).toEqual([]);
  });

  test('what can be equal is not told apart', () => {
    const s = ['x:{a}/{b}', 'x:/{a}', '{a}:{b}', '/{a}', 'x:{a}'].flatMap((template) => [
      termMap('iri', template),
      termMap('unsafe-iri', template),
    ]);
    const o = [...['{a}', '{a}-{b}', '-{a}'].map((template) => termMap('literal', template)), reference('literal'), ...s.slice(0, 4)];
    const all = s.flatMap((subject) => o.map((object): Quoted => ({ subject, predicate: predicates[1] as TermMap, objects: [object] })));
    const makers = new Map<string, Quoted[]>();
    for (const one of all)
      for (const token of new Set(tokensOfTerm(quotedTerm(one))))
        if (token !== undefined) makers.set(token, [...(makers.get(token) ?? []), one]);
    const pairs = new Set<string>();
    for (const makersOf of makers.values())
      for (const a of makersOf) for (const b of makersOf) if (a !== b) pairs.add(`${all.indexOf(a)} ${all.indexOf(b)}`);
    const wrong = [...pairs].filter((pair) => {
      const [a, b] = pair.split(' ').map((i) => all[Number(i)]) as [Quoted, Quoted];
      return !canMeetQuoted(a, b) || !canMeetQuoted({ ...b, objects: [objects[20] as TermMap, ...b.objects] }, a);
    });
    expect(wrong).toEqual([]);
    expect(pairs.size).toBeGreaterThan(100);
  });

  test('are distinguished by one of their terms', () => {
    const triple = (subject: string, object: TermMap): Quoted => ({
      subject: termMap('iri', subject),
      predicate: predicates[1] as TermMap,
      objects: [object],
    });
    const literal = termMap('literal', 'x {a}');
    expect(canMeetQuoted(triple('x:s/{a}', literal), triple('x:s/{a}', literal))).toBe(true);
    expect(canMeetQuoted(triple('x:s/{a}', literal), triple('x:t/{a}', literal))).toBe(false);
    expect(canMeetQuoted(triple('x:s/{a}', literal), triple('x:s/{a}', termMap('iri', 'x:{a}')))).toBe(false);
  });
});
