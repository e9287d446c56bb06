/**
 * A mapping that is converted to another language and back has the same normal form, so it makes the same statements. What a language cannot say
 * is an error, and what a conversion changes is a warning.
 *
 * The mappings of public suites are converted where `CONFORMANCE_CASES` names their folder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { functionLibrary } from '../../../../src/functions/library.ts';
import { convertMapping, LANGUAGES, type Language } from '../../../../src/mapping/convert/convert.ts';
import type { Expression, Mapping, TermMap, TriplesMap } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { readManifest } from '../../../conformance/manifest.ts';

/**
 * The normal form without places, names and ids. Legacy RML has conditions as a function. YARRRML has no classes of subjects, no name for the
 * first result of a function, and no targets of datatypes, which are those of the literal.
 */
function formOf(mapping: Mapping): string {
  const index = new Map(mapping.triplesMaps.map(({ id }, i) => [id, i]));
  const triplesMaps = mapping.triplesMaps.map(withClassesAsPairs);
  return JSON.stringify({ ...mapping, triplesMaps }, (key, value) => {
    if (['origin', 'iteratorOrigin', 'ids', 'id', 'name'].includes(key)) return undefined;
    if ((key === 'parent' || key === 'quoted') && typeof value === 'string') return index.get(value);
    // Nothing said of CSV is what is usual.
    if (key === 'csv') return { ...value };
    if (key === 'datatype' && typeof value === 'object') return { ...value, targets: undefined };
    if (value?.kind !== 'call') return value;
    const { execution, returns } = value as Extract<Expression, { kind: 'call' }>;
    if (!execution.function.endsWith('trueCondition')) {
      const first = functionLibrary().findFunction(execution.function)?.returns[0]?.iri;
      return { ...value, returns: returns === first ? undefined : returns };
    }
    const given = Object.fromEntries(execution.inputs.map((input) => [input.parameter.replace(/.*#/, ''), input.value]));
    return { kind: 'conditional', condition: given.strBoolean, value: given.str };
  });
}

function withClassesAsPairs(map: TriplesMap): TriplesMap {
  const { subject, predicateObjects, origin } = map;
  if (subject.classes.length === 0) return map;
  const term = { kind: 'iri', value: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type' } as const;
  const expression = { kind: 'constant', origin, term } as const;
  const predicate: TermMap = { kind: 'term', origin, termType: 'iri', expression, language: undefined, datatype: undefined };
  const pair = { origin, predicates: [predicate], objects: subject.classes, graphs: [] };
  return { ...map, subject: { ...subject, classes: [] }, predicateObjects: [pair, ...predicateObjects] };
}

const fileOf = (language: Language): string => (language === 'yarrrml' ? 'a.yml' : 'a.ttl');

/** `same`, `refused`, or what differs; a change that a warning tells counts as `told`. */
async function roundTrip(text: string, baseIri: string, to: Language, from?: 'yarrrml'): Promise<string> {
  const given = { name: from === undefined ? 'a.ttl' : 'a.yml', text };
  const { mapping } = await readMapping([given], { baseIri });
  const language = from ?? mapping.triplesMaps[0]?.dialect;
  if (language === undefined) return 'refused';
  const there = await convertMapping([given], to, { baseIri });
  if (there.text === undefined) return 'refused';
  const back = await convertMapping([{ name: fileOf(to), text: there.text }], language, { baseIri });
  if (back.text === undefined) {
    const { diagnostics } = await readMapping([{ name: fileOf(to), text: there.text }], { baseIri });
    return to === 'yarrrml' && diagnostics.some(({ severity }) => severity === 'error') ? `differs:\n${there.text}` : 'refused';
  }
  const again = await readMapping([{ name: fileOf(language), text: back.text }], { baseIri });
  if (formOf(again.mapping) === formOf(mapping)) return 'same';
  return there.diagnostics.length + back.diagnostics.length > 0 ? 'told' : `differs:\n${there.text}`;
}

const folder = process.env.CONFORMANCE_CASES;
const cases = folder === undefined ? undefined : readManifest(folder);
const suites = cases === undefined ? test.skip : test;

describe('the mappings of public suites (skipped where CONFORMANCE_CASES names no folder)', () => {
  suites.each(LANGUAGES)('are the same after they were %s', async (to) => {
    const told = new Map<string, number>();
    const files = new Map(
      (cases ?? []).flatMap((one) => (one.mapping === null ? [] : [[join(one.dir, one.mapping), one.baseIRI] as const])),
    );
    for (const [file, baseIri] of files) {
      // Cases with a database leave its address to whoever runs them.
      const text = readFileSync(join(folder as string, file), 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
      const outcome = await roundTrip(text, baseIri, to);
      if (outcome.startsWith('differs')) throw new Error(`${file} ${outcome}`);
      told.set(outcome, (told.get(outcome) ?? 0) + 1);
    }
    expect(told.get('same')).toBeGreaterThan(to === 'r2rml' ? 80 : 500);
  });
});

const YARRRML = `# people of the town
prefixes:
  ex: http://example.org/
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
mappings:
  # one for each row
  person:
    sources: [[people.csv~csv]]
    s: ex:$(id)
    po:
      - [foaf:name, $(name), en~lang]
      - p: ex:upper
        o: { function: grel:toUpperCase, parameters: [[grel:valueParameter, $(name)]] }
        condition: { function: equal, parameters: [[str1, $(town)], [str2, Ghent]] }
      - p: foaf:knows
        o: { mapping: person, condition: { function: equal, parameters: [[str1, $(boss), s], [str2, $(id), o]] } }
`;

describe('YARRRML', () => {
  test('becomes legacy RML with the same meaning, its prefixes and its comments', async () => {
    const options = { baseIri: 'http://base/' };
    const { text = '' } = await convertMapping([{ name: 'a.yml', text: YARRRML }], 'legacy', options);
    expect(text.startsWith('# people of the town\n')).toBe(true);
    expect(text).toMatch(/# one for each row\n<http:\/\/mapping.example.com\/person>/);
    expect(text).toContain('@prefix ex: <http://example.org/> .');
    const yarrrml = await readMapping([{ name: 'a.yml', text: YARRRML }], options);
    const { mapping, diagnostics } = await readMapping([{ name: 'a.ttl', text }], options);
    expect(diagnostics).toEqual([]);
    expect(formOf(mapping)).toBe(formOf(yarrrml.mapping));
  });

  test('with functions is refused as R2RML, at their places', async () => {
    const text = YARRRML.replace('[[people.csv~csv]]', '[{table: people}]');
    const { text: converted, diagnostics } = await convertMapping([{ name: 'a.yml', text }], 'r2rml', { baseIri: 'http://base/' });
    expect(converted).toBeUndefined();
    expect(diagnostics.map(({ origin, message }) => `${origin.line} ${message}`)).toEqual([
      '14 R2RML cannot say a condition',
      '14 R2RML cannot say a function',
    ]);
  });
});

test('a template with a condition is refused as legacy RML, unless it makes literals', async () => {
  const condition = 'condition: { function: equal, parameters: [[str1, $(town)], [str2, Ghent]] }';
  const findings = async (text: string): Promise<readonly string[]> => {
    const { diagnostics } = await convertMapping([{ name: 'a.yml', text }], 'legacy', { baseIri: 'http://base/' });
    return diagnostics.map(({ origin, message }) => `${origin.line} ${message}`);
  };
  const refused = '9 legacy RML cannot say a condition of a template that encodes its values';
  expect(await findings(YARRRML.replace('    po:', `    ${condition}\n    po:`))).toEqual([refused]);
  const call = 'o: { function: grel:toUpperCase, parameters: [[grel:valueParameter, $(name)]] }';
  expect(YARRRML).toContain(call);
  expect(await findings(YARRRML.replace(call, 'o: "$(name)!"'))).toEqual([]);
});
