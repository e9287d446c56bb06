/**
 * What a random mapping gives: nested loops over everything into a set of lines, those for logical targets with `t<number> ` in front. It knows
 * nothing of plans, tables or joins.
 */
import type { Field, RandomMap, RandomMapping, Reference, Rule, Scalar, Source, Template, Term } from './mapping.ts';
import { absolute, beyondAscii, escaped, guarded, iriPart, label, same, uriPart } from './texts.ts';

type Values = Source['records'][number];

export function evaluate({ base, sources, maps }: RandomMapping): Set<string> {
  const lines = new Set<string>();
  const recordsOf = ({ source }: RandomMap) => (sources[source] as Source).records;
  const objects = (object: Rule['object'], record: Values): readonly string[] => {
    if (!('parent' in object)) return tokens(object, record, base);
    const parent = maps[object.parent] as RandomMap;
    if (object.on.length === 0) return tokens(parent.subject, record, base);
    const meets = (other: Values): boolean =>
      object.on.every((on) => record[on.child].some(({ written }) => other[on.parent].some((value) => value.written === written)));
    return recordsOf(parent)
      .filter(meets)
      .flatMap((other) => tokens(parent.subject, other, base));
  };
  for (const map of maps) {
    for (const record of recordsOf(map)) {
      const subjects = tokens(map.subject, record, base);
      if (subjects.length === 0) continue;
      for (const { predicate, object, graph } of map.rules) {
        const made = 'parent' in object ? (maps[object.parent] as RandomMap).subject : object;
        const targets = [map.subject, predicate, made, graph].flatMap((term) => term?.targets ?? []);
        const outputs = targets.length === 0 ? [''] : targets.map((target) => `t${target} `);
        const graphs = graph === undefined ? [''] : tokens(graph, record, base).map((token) => ` ${token}`);
        for (const p of tokens(predicate, record, base))
          for (const o of objects(object, record))
            for (const g of graphs) for (const s of subjects) for (const output of outputs) lines.add(`${output}${s} ${p} ${o}${g} .`);
      }
    }
  }
  return lines;
}

/** Blank nodes by their value: the engine's labels are its own affair. */
function tokens({ value, language, datatype }: Term, record: Values, base: string): readonly string[] {
  if (value.kind === 'constant') return [value.token];
  if (value.type === 'BlankNode') return texts(value, record, same).map((text) => `_:${label(text)}`);
  if (value.type !== 'Literal') return iris(value, record, base).map((iri) => `<${iri}>`);
  const literals = texts(value, record, same).map((text) => `"${escaped(text)}"`);
  if (language !== undefined) {
    const tags = typeof language === 'string' ? [language] : record[language.field].map(({ written }) => written);
    return literals.flatMap((literal) => tags.map((tag) => `${literal}@${tag}`));
  }
  if (datatype !== undefined) {
    const types = typeof datatype === 'string' ? [datatype] : iris(datatype, record, base);
    return literals.flatMap((literal) => types.map((type) => `${literal}^^<${type}>`));
  }
  return value.kind === 'template' ? literals : record[value.field].map(({ literal }) => literal);
}

function iris(value: Template | Reference, record: Values, base: string): readonly string[] {
  const unsafe = value.type.startsWith('Unsafe');
  const uri = value.type.endsWith('URI');
  const encode = value.kind === 'template' && !unsafe ? (uri ? uriPart : iriPart) : uri ? beyondAscii : same;
  return texts(value, record, encode).map((text) => {
    const iri = absolute(text, base);
    return unsafe ? guarded(iri) : iri;
  });
}

/** For each choice of a value for each field, the text with these values. */
function texts(value: Template | Reference, record: Values, encode: (text: string) => string): readonly string[] {
  const parts = value.kind === 'reference' ? [{ field: value.field }] : value.parts;
  const fields = [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field])))];
  let choices: readonly ReadonlyMap<Field, Scalar>[] = [new Map()];
  for (const field of fields) choices = choices.flatMap((choice) => record[field].map((scalar) => new Map([...choice, [field, scalar]])));
  return choices.map((choice) =>
    parts.map((part) => (typeof part === 'string' ? part : encode((choice.get(part.field) as Scalar).written))).join(''),
  );
}
