/** Finds the records that make some statements, by running the rules that can make them. */
import { fromBytes, unescapeTerm } from '../core/text.ts';
import type { Origin } from '../mapping/model/model.ts';
import { blankReifier, isReifier, reifiedLines, reifiedTriple } from '../nquads/reified.ts';
import { isTripleTerm, termsOfQuoted } from '../nquads/terms.ts';
import type { MapInfo, Scan } from '../plan/algebra.ts';
import { Builder } from '../plan/build/operators.ts';
import { buildRules } from '../plan/build/rules.ts';
import { ViewBuilder } from '../plan/build/views.ts';
import { planAlgebra } from '../plan/planning.ts';
import { executeScans } from '../run/execute/scans.ts';
import { prepareWithDeadline } from '../run/prepare/deadline.ts';
import type { RunHooks, RunRequest } from '../run/request.ts';
import { candidatesFor, canMake, gathering, type PartMatch, type StatementTerms } from './statement.ts';
import { type Made, type RowWitness, WITNESS, type Witness, witnessesOf } from './witnesses.ts';

/** A record, with the values that the rule reads of it. */
export interface FoundRecord {
  readonly map: MapInfo;
  readonly places: readonly FoundPlace[];
  readonly values: readonly { readonly name: string; readonly values: readonly string[] }[];
}

export interface FoundPlace {
  /** The document as the run names it; undefined: it is not known which of the source's documents. */
  readonly input: string | undefined;
  readonly scan: Scan;
  /** 0-based; undefined: a left join found none. */
  readonly record: number | undefined;
  /** 0-based positions of the items within the record, from the outside to the inside. */
  readonly items: readonly { readonly name: string; readonly index: number }[];
}

/** A record that makes the statement; for a join with the record of the parent. */
export interface FoundRow {
  readonly record: FoundRecord;
  readonly parent: FoundRecord | undefined;
}

/** A rule that can make the statement. */
export interface FoundRule {
  readonly map: MapInfo;
  /** Of its object; of the triples map, where that gathers. */
  readonly origin: Origin;
  /** Empty: it can make it as a part of what it gathers. */
  readonly parts: readonly PartMatch[];
}

export interface FoundRows {
  /** Whether a record makes the statement by them or not. */
  readonly rules: readonly FoundRule[];
  /** The first `MAX_SHOWN`. */
  readonly rows: readonly FoundRow[];
  readonly count: number;
  /** One side of a join has more records than are held: others may make the statement, too. */
  readonly partial: boolean;
}

/** Rows of a statement that are given back, and records of each side of a join that are held. */
const MAX_SHOWN = 20;
const MAX_HELD = 10_000;
const MAX_VALUES = 20;

/**
 * Reads the sources of the rules that can make the statements. Memory: that of a run, and a bounded number of records.
 *
 * Rejected records make nothing; a run under the policy `strict` would have ended at the first of them.
 *
 * @param request `distinct`, `threads`, `onError`, `maxRejected` and `slice` do not matter
 * @returns for each statement, by its index
 * @throws Fault as `executeRun` does
 */
export async function findRecords(
  request: RunRequest,
  statements: readonly StatementTerms[],
  hooks: Pick<RunHooks, 'signal' | 'limit' | 'reject'>,
): Promise<readonly FoundRows[]> {
  const searches = statements.map((statement) => new Search(statement));
  const prepared = await prepareWithDeadline({ ...request, slice: undefined }, hooks, {}, (mapping, base, metadata) => {
    const builder = new Builder();
    const maps = buildRules(mapping, base, builder, new ViewBuilder(mapping.triplesMaps, builder));
    const wanted = searches.map(({ statement }) => [
      ...candidatesFor(statement, maps, termsOfQuoted)
        .filter(canMake)
        .map(({ rules, emit, parts }) => ({ rules, of: emit, origin: emit.object.origin, parts })),
      ...gathering(statement, maps).map((rules) => ({ rules, of: rules.collects, origin: rules.map.origin, parts: [] })),
    ]);
    const witnesses = witnessesOf(
      maps,
      [...new Map<Made, (typeof wanted)[number][number]>(wanted.flat().map((one) => [one.of, one])).values()],
      builder,
    );
    for (const [i, search] of searches.entries()) {
      const own = new Set<Made>((wanted[i] ?? []).map(({ of }) => of));
      search.take(
        witnesses.filter(({ of }) => own.has(of)),
        (wanted[i] ?? []).map(({ rules: { map }, origin, parts }) => ({ map, origin, parts })),
      );
    }
    return planAlgebra({ maps: witnesses.map((witness) => witness.rules), checks: [] }, metadata);
  });
  try {
    const all = prepared.plan.scans.map((_, position) => ({ position, range: undefined }));
    const exact: RunRequest = {
      ...request,
      slice: undefined,
      distinct: false,
      threads: 1,
      onError: 'skip',
      maxRejected: Number.MAX_SAFE_INTEGER,
    };
    await executeScans(
      exact,
      prepared,
      all,
      { write: () => undefined },
      {
        ...hooks,
        row: (map, lines, input) => {
          const text = neededOf(lines, searches);
          for (const search of searches) search.row(map, text, input);
        },
      },
    );
  } finally {
    await prepared.close();
  }
  return searches.map((search) => search.found());
}

/** The lines of a row that matter. One with very many statements comes in pieces. */
function neededOf(lines: Iterable<string>, searches: readonly Search[]): string {
  if (Array.isArray(lines)) return lines.join('');
  let needed = '';
  for (const piece of lines) {
    for (const line of piece.split(/(?<=\n)/)) if (searches.some((search) => search.needs(line))) needed += line;
  }
  return needed;
}

/** One side of a join. */
interface Held {
  readonly record: FoundRecord;
  readonly keys: readonly (readonly string[])[];
  /** Whether it makes the statement with whatever record it meets; with false, the other side must. */
  readonly makes: boolean;
}

interface Sides {
  readonly children: Held[];
  readonly parents: Held[];
  partial: boolean;
}

class Search {
  readonly statement: StatementTerms;
  readonly #witnesses = new Map<MapInfo, Witness>();
  readonly #joins = new Map<Made, Sides>();
  readonly #rows: FoundRow[] = [];
  /** undefined: the statement is in RDF-star. */
  readonly #linesOf: ((line: string) => readonly string[]) | undefined;
  #rules: readonly FoundRule[] = [];
  #count = 0;

  constructor(statement: StatementTerms) {
    this.statement = statement;
    this.#linesOf = isReifier(statement.subject) || isTripleTerm(statement.object) ? reifiedLines : undefined;
  }

  take(witnesses: readonly Witness[], rules: readonly FoundRule[]): void {
    this.#rules = rules;
    for (const witness of witnesses) {
      this.#witnesses.set(witness.rules.map, witness);
      if (witness.kind !== 'rule') this.#joins.set(witness.of, { children: [], parents: [], partial: false });
    }
  }

  needs(line: string): boolean {
    const { subject, predicate, object } = this.statement;
    if (line.includes(` <${WITNESS}`)) return true;
    return (this.#linesOf?.(line) ?? [line]).some((one) => one.startsWith(`${subject} ${predicate} ${object} `));
  }

  /** @param text the statements of a row of a witness */
  row(map: MapInfo, text: string, input: string | undefined): void {
    const witness = this.#witnesses.get(map);
    if (witness === undefined) return;
    const lines =
      this.#linesOf === undefined
        ? text
        : text
            .split(/(?<=\n)/)
            .flatMap(this.#linesOf)
            .join('');
    const { subject, predicate, object, graph } = this.statement;
    const end = graph === '' ? ' .\n' : ` ${graph} .\n`;
    const { kind } = witness;
    const triple = reifiedTriple(this.statement);
    switch (kind) {
      case 'rule':
        if (hasLine(lines, `${subject} ${predicate} ${object}${end}`))
          this.#add({ record: recordOf(witness, lines, input), parent: undefined });
        return;
      case 'child':
        // Either side may name a reifier: the child as its subject, the parent within the object.
        if (triple !== undefined) this.#hold(witness, 'children', lines, input, hasLine(lines, `${subject} ${predicate} ${object}${end}`));
        else if (hasLine(lines, `${subject} ${predicate} <${WITNESS}child>${end}`)) this.#hold(witness, 'children', lines, input);
        return;
      case 'parent': {
        const told = (term: string): boolean => hasLine(lines, `${term} <${WITNESS}parent> <${WITNESS}parent> .\n`);
        // As the subject of what it states, the object is a reifier.
        if (triple === undefined) {
          if (told(isTripleTerm(object) ? blankReifier(object) : object)) this.#hold(witness, 'parents', lines, input);
        } else {
          const makes = hasLine(lines, `${subject} ${predicate} ${object} .\n`) && !told(subject);
          this.#hold(witness, 'parents', lines, input, makes);
        }
        return;
      }
    }
  }

  found(): FoundRows {
    let partial = false;
    for (const sides of this.#joins.values()) {
      partial ||= sides.partial;
      for (const child of sides.children)
        for (const parent of sides.parents)
          if ((child.makes || parent.makes) && meet(child, parent)) this.#add({ record: child.record, parent: parent.record });
    }
    return { rules: this.#rules, rows: this.#rows, count: this.#count, partial };
  }

  #add(row: FoundRow): void {
    this.#count++;
    if (this.#rows.length < MAX_SHOWN) this.#rows.push(row);
  }

  #hold(witness: Witness, side: 'children' | 'parents', lines: string, input: string | undefined, makes = true): void {
    const sides = this.#joins.get(witness.of) as Sides;
    if (sides[side].length >= MAX_HELD) {
      sides.partial = true;
      return;
    }
    const keys = keysOf(lines, witness.keys);
    sides[side].push({ record: recordOf(witness, lines, input), keys, makes });
  }
}

/** Of several values, any may be equal. */
const meet = (child: Held, parent: Held): boolean =>
  child.keys.every((values, i) => values.some((value) => parent.keys[i]?.includes(value)));

const hasLine = (lines: string, line: string): boolean => lines.startsWith(line) || lines.includes(`\n${line}`);

/** The keys of a join that a witness states: for each condition its values. */
export const keysOf = (lines: string, count: number): readonly (readonly string[])[] =>
  Array.from({ length: count }, (_, i) => [...objectsOf(lines, `key/${i}`)]);

/** What the statements of a witness say about a row. */
export function recordOf(witness: RowWitness, lines: string, input: string | undefined): FoundRecord {
  const number = (what: string): number | undefined => {
    const [found] = objectsOf(lines, what);
    return found === undefined ? undefined : Number(found);
  };
  const places = witness.places.map(({ scan, items }, i): FoundPlace => {
    const found = items.flatMap((name, k) => {
      const index = number(`item/${i}/${k}`);
      return index === undefined ? [] : [{ name, index }];
    });
    return { input: i === 0 ? input : undefined, scan, record: number(`place/${i}`), items: found };
  });
  const values = witness.values.map((name, i) => ({
    name,
    values: [...new Set(objectsOf(lines, `value/${i}`))].slice(0, MAX_VALUES).map(fromBytes),
  }));
  return { map: witness.map, places, values };
}

/** The texts of the literals that a witness states. */
function* objectsOf(lines: string, what: string): Iterable<string> {
  // No literal holds this, since its quotes are escaped.
  const start = ` <${WITNESS}${what}> "`;
  for (let at = lines.indexOf(start); at >= 0; at = lines.indexOf(start, at + 1)) {
    const end = lines.indexOf('\n', at);
    const literal = lines.slice(at + start.length, end);
    yield unescapeTerm(literal.slice(0, literal.lastIndexOf('"')));
  }
}
