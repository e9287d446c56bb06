/**
 * What a random mapping gives: nested loops over everything into a set of lines, those for logical targets with `t<number> ` in front. It knows
 * nothing of plans, tables or joins.
 */
import { isXsdForm, XSD } from '../../../support/xsd.ts';
import type { Field, RandomMap, RandomMapping, Reference, Rule, Scalar, Source, Template, Term } from './mapping.ts';
import { absolute, beyondAscii, escaped, guarded, iriPart, label, same, uriPart } from './texts.ts';

type Values = Source['records'][number];

/** undefined: the default of the language. */
export interface Policies {
  readonly onError?: 'strict' | 'skip' | 'quarantine' | undefined;
  readonly datatypeCheck?: 'error' | 'warn' | 'off' | undefined;
}

/** Values of a term map that are wrong in records that are not rejected. */
export interface Wrong {
  /** `left-out 0 1 object`: the kind, and the place as `turtle` writes it. */
  readonly key: string;
  /** Equal values of a record count once. */
  count: number;
  /** Each value counts. */
  most: number;
  /** Position of the first record. */
  readonly first: number;
}

export interface Outcome {
  readonly lines: ReadonlySet<string>;
  /** Records that are rejected by a triples map, as `<source> <position>`. */
  readonly rejected: readonly string[];
  /** Whether one of them ends the run. */
  readonly ends: boolean;
  readonly wrong: ReadonlyMap<string, Wrong>;
  /** Records of a triples map that lose statements. */
  readonly losses: number;
}

export const evaluate = (mapping: RandomMapping): ReadonlySet<string> => outcomeOf(mapping, {}).lines;

/** What a term map makes of a record. */
interface Made {
  readonly tokens: readonly string[];
  /** Values of which no valid term can be made, each by its part of the term map. */
  readonly invalid: readonly Part[];
  /** Literals that are written although they are ill-typed. */
  readonly illTyped: number;
  /** Wrong values beside equal ones of the record. */
  readonly repeated: number;
}
type Part = '' | ' language';
const NOTHING: Made = { tokens: [], invalid: [], illTyped: 0, repeated: 0 };

export function outcomeOf({ base, sources, maps }: RandomMapping, { onError, datatypeCheck }: Policies): Outcome {
  const lines = new Set<string>();
  const rejected: string[] = [];
  const wrong = new Map<string, Wrong>();
  let [ends, losses] = [false, 0];
  const sourceOf = ({ source }: RandomMap): Source => sources[source] as Source;
  const isLegacy = (map: RandomMap): boolean => sourceOf(map).isLegacy === true;
  const make = (term: Term, of: RandomMap, record: Values): Made =>
    made(term, record, base, isLegacy(of), datatypeCheck ?? (isLegacy(of) ? 'warn' : 'error'));
  const isJoin = (object: Rule['object']): object is Exclude<Rule['object'], Term> => 'parent' in object && object.on.length > 0;
  /** The records of a triples map as parents of a join. One without a valid subject or key is in none. */
  const parentsOf = ({ parent, on }: Exclude<Rule['object'], Term>) => {
    const map = maps[parent] as RandomMap;
    return sourceOf(map).records.map((record) => {
      const subjects = make(map.subject, map, record);
      const fields = on.map((one) => one.parent);
      return { tokens: subjects.invalid.length > 0 ? [] : subjects.tokens, keys: keys(fields, record) ?? [] };
    });
  };
  const joins = new Map(maps.flatMap(({ rules }) => rules.flatMap(({ object }) => (isJoin(object) ? [[object, parentsOf(object)]] : []))));
  /** For each triples map, the fields by which others join it. */
  const keysOfParent = maps.map((_, i) =>
    [...joins.keys()].flatMap(({ parent, on }) => (parent === i ? [on.map((one) => one.parent)] : [])),
  );

  for (const [number, map] of maps.entries()) {
    const policy = onError ?? (isLegacy(map) ? 'skip' : 'strict');
    const leavesOut = isLegacy(map) && policy === 'skip';
    for (const [position, record] of sourceOf(map).records.entries()) {
      const subjects = make(map.subject, map, record);
      const flaws: string[] = [];
      const more: string[] = [];
      const found: string[] = [];
      let isRejected =
        subjects.invalid.length > 0 || (subjects.tokens.length > 0 && keysOfParent[number]?.some((on) => keys(on, record) === undefined));
      for (const [at, { predicate, object, graph }] of subjects.tokens.length === 0 ? [] : map.rules.entries()) {
        /** @param isKept the record is not rejected for a value that is invalid */
        const tokens = ({ tokens: valid, invalid, illTyped, repeated }: Made, where: string, isKept: boolean): readonly string[] => {
          if (invalid.length > 0 && !isKept) isRejected = true;
          flaws.push(...invalid.map((part) => `left-out ${where}${part}`));
          flaws.push(...new Array(illTyped).fill(`ill-typed ${where}`));
          more.push(...new Array(repeated).fill(`${illTyped > 0 ? 'ill-typed' : 'left-out'} ${where}`));
          return valid;
        };
        const term = 'parent' in object ? (maps[object.parent] as RandomMap).subject : object;
        const place = 'parent' in object ? `${object.parent} subject` : `${number} ${at} object`;
        let objects: readonly string[] = [];
        if (isJoin(object)) {
          const own = object.on.map(({ child }) => child);
          const child = keys(own, record);
          if (child === undefined) isRejected = true;
          else
            objects = (joins.get(object) ?? []).flatMap((parent) =>
              child.every((values, i) => values.some((value) => parent.keys[i]?.includes(value))) ? parent.tokens : [],
            );
        } else objects = tokens(make(term, map, record), place, leavesOut);
        const predicates = tokens(make(predicate, map, record), `${number} ${at} predicate`, leavesOut && !isJoin(object));
        const graphs =
          graph === undefined ? [''] : tokens(make(graph, map, record), `${number} ${at} graph`, false).map((token) => ` ${token}`);
        const targets = [map.subject, predicate, term, graph].flatMap((one) => one?.targets ?? []);
        const outputs = targets.length === 0 ? [''] : targets.map((target) => `t${target} `);
        for (const p of predicates)
          for (const o of objects)
            for (const g of graphs)
              for (const s of subjects.tokens) for (const output of outputs) found.push(`${output}${s} ${p} ${o}${g} .`);
      }
      if (isRejected === true) {
        rejected.push(`${map.source} ${position}`);
        ends ||= policy === 'strict';
        continue;
      }
      for (const line of found) lines.add(line);
      if (flaws.some((flaw) => flaw.startsWith('left-out'))) losses++;
      for (const key of flaws) {
        const known = wrong.get(key) ?? { key, count: 0, most: 0, first: position };
        wrong.set(key, known);
        known.count++;
        known.most++;
      }
      for (const key of more) (wrong.get(key) as Wrong).most++;
    }
  }
  return { lines, rejected, ends, wrong, losses };
}

/** The values of fields of a join, up to one without a value; undefined: one cannot be read. */
function keys(fields: readonly Field[], record: Values): readonly (readonly string[])[] | undefined {
  const found: (readonly string[])[] = [];
  for (const field of fields) {
    const values = record[field];
    if (values.some(({ isObject }) => isObject)) return undefined;
    if (values.length === 0) return fields.map(() => []);
    found.push(values.map(({ written }) => written));
  }
  return found;
}

class Unreadable extends Error {}

/** A term of which one value cannot be read is invalid as a whole. Blank nodes by their value: the engine's labels are its own affair. */
function made(term: Term, record: Values, base: string, isLegacy: boolean, check: 'error' | 'warn' | 'off'): Made {
  const { value, language, datatype } = term;
  const valid = (tokens: readonly string[]): Made => ({ ...NOTHING, tokens });
  if (value.kind === 'constant') return valid([value.token]);
  try {
    if (value.type === 'BlankNode') return valid(texts(value, record, same).map((text) => `_:${label(text)}`));
    if (value.type !== 'Literal') {
      const all = iris(value, record, base);
      const good = value.type.startsWith('Unsafe') ? all : all.filter((iri) => !/[\u0000-\u0020<>"{}|^`\\]/.test(iri));
      return { ...NOTHING, tokens: good.map((iri) => `<${iri}>`), invalid: all.slice(good.length).map(() => '') };
    }
    const plain = texts(value, record, same);
    if (language !== undefined) {
      const tags = typeof language === 'string' ? [language] : written(record[language.field]);
      const good = tags.filter((tag) => /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(tag));
      const tokens = plain.flatMap((text) => good.map((tag) => `"${escaped(text)}"@${tag}`));
      const bad = plain.flatMap(() => tags.slice(good.length).map((): Part => ' language'));
      return { ...NOTHING, tokens, invalid: bad };
    }
    if (datatype !== undefined) {
      const types = typeof datatype === 'string' ? [datatype] : iris(datatype, record, base);
      const all = plain.flatMap((text) => types.map((type) => [text, type] as const));
      const [good, bad] = [all.filter(([text, type]) => isXsdForm(text, type)), all.filter(([text, type]) => !isXsdForm(text, type))];
      const tokens = (check === 'error' ? good : all).map(
        ([text, type]) => `"${escaped(text)}"${type === `${XSD}string` ? '' : `^^<${type}>`}`,
      );
      const repeated =
        value.kind === 'reference' ? record[value.field].filter(({ written: text }) => bad.some(([one]) => one === text)).length : 0;
      const more = { ...NOTHING, tokens, repeated: Math.max(0, repeated - bad.length) };
      return check === 'error'
        ? { ...more, invalid: bad.map(() => '') }
        : check === 'warn'
          ? { ...more, illTyped: bad.length }
          : { ...NOTHING, tokens };
    }
    if (value.kind === 'template' || isLegacy) return valid(plain.map((text) => `"${escaped(text)}"`));
    return valid(record[value.field].map(({ literal }) => literal));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { ...NOTHING, invalid: [''] };
  }
}

function written(values: readonly Scalar[]): readonly string[] {
  if (values.some(({ isObject }) => isObject)) throw new Unreadable();
  return [...new Set(values.map(({ written: text }) => text))];
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

/** For each choice of a value for each field, the text with these values. Fields are read in their order, up to one without a value. */
function texts(value: Template | Reference, record: Values, encode: (text: string) => string): readonly string[] {
  const parts = value.kind === 'reference' ? [{ field: value.field }] : value.parts;
  const fields = [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field])))];
  let choices: readonly ReadonlyMap<Field, string>[] = [new Map()];
  for (const field of fields) {
    if (choices.length === 0) break;
    const values = written(record[field]);
    choices = choices.flatMap((choice) => values.map((text) => new Map([...choice, [field, text]])));
  }
  const all = choices.map((choice) =>
    parts.map((part) => (typeof part === 'string' ? part : encode(choice.get(part.field) as string))).join(''),
  );
  return [...new Set(all)];
}
