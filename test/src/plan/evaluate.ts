/**
 * What an algebra gives: nested loops over arrays. It says what operators, expressions and terms mean, and knows nothing of how they are
 * carried out: no index, no spill, no order, no bytes.
 */
import type {
  Algebra,
  Check,
  Collection,
  Column,
  Emit,
  Expression,
  Join,
  MapRules,
  Operator,
  Project,
  QuotedTriple,
  RowTerm,
  Scan,
  Term,
} from '../../../src/plan/algebra.ts';
import { absolute, beyondAscii, escaped, guarded, iriPart, label, same, uriPart } from '../run/random/texts.ts';

/** A value as its source writes it, and the literal that it is by itself. */
export interface Value {
  readonly written: string;
  readonly literal: string;
}

/** The records of sources. What a node is, only this knows. */
export interface Data {
  /** For each record, a node for each of `scan.records`. */
  records(scan: Scan): readonly (readonly unknown[])[];
  values(node: unknown, reference: string): readonly Value[];
  items(node: unknown, iterator: string): readonly unknown[];
  /** The records of the document that a text is. */
  within(text: string, formulation: string, iterator: string | undefined): readonly unknown[];
}

/** What an algebra gives. Lists in the order of their texts. */
export interface Result {
  /** Distinct, those for logical targets with the path of the target in front. */
  readonly statements: readonly string[];
  /** Each collection that a row makes or adds to, as often as it does. */
  readonly collected: readonly string[];
  /** Broken promises of views, each once, and the values that break them. */
  readonly broken: readonly string[];
  /** Rows of triples maps that were rejected because a term was invalid; each row only once. */
  readonly rejected: number;
}

/** Text, a record, or the whole terms that stand in a cell. */
type Cell =
  | { readonly kind: 'values'; readonly values: readonly Value[] }
  | { readonly kind: 'node'; readonly node: unknown }
  | { readonly kind: 'terms'; readonly tokens: readonly string[] };

type Row = ReadonlyMap<Column, Cell>;

class Invalid extends Error {}

export function evaluateAlgebra(algebra: Algebra, data: Data): Result {
  const statements = new Set<string>();
  const collected: string[] = [];
  let rejected = 0;
  const evaluator = new Evaluator(data);
  for (const rules of algebra.maps) {
    for (const [position, row] of evaluator.rows(rules.rows).entries()) {
      try {
        const made = evaluator.rulesOf(rules, row, position);
        for (const statement of made.statements) statements.add(statement);
        collected.push(...made.collected);
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
        rejected++;
      }
    }
  }
  const broken = new Set(algebra.checks.flatMap((check) => evaluator.broken(check)));
  return { statements: [...statements].sort(), collected: collected.sort(), broken: [...broken].sort(), rejected };
}

/** The rows of an operator, as texts without the column `without`. Build sides have the records of `builds`. */
export const evaluateRows = (of: Operator, data: Data, builds: Data, without?: Column): readonly string[] =>
  new Evaluator(data, builds).rows(of).map((row) => textOfRow([...row].filter(([column]) => column !== without)));

/** The rows of a build side, as texts. */
export const evaluateSide = (of: Project, data: Data, builds: Data): readonly string[] =>
  new Evaluator(data, builds).projected(of).map(({ keys, cells }) => JSON.stringify([[...keys.values()], cells.map(cellText)]));

/** By row: the subjects and the statements that a triples map makes; none of a row that is rejected. */
export function evaluateMap(
  rules: MapRules,
  data: Data,
  builds: Data,
): readonly (readonly [subjects: readonly string[], statements: readonly string[]])[] {
  const evaluator = new Evaluator(data, builds);
  return evaluator.rows(rules.rows).map((row, position) => {
    try {
      return [evaluator.subjectsOf(rules, row, position), evaluator.rulesOf(rules, row, position).statements];
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      return [[], []];
    }
  });
}

const textOfRow = (cells: readonly (readonly [Column, Cell])[]): string =>
  JSON.stringify(cells.map(([{ id }, cell]) => [id, cellText(cell)]).sort());

const nodes = new Map<unknown, number>();

/** Records by number: equal ones are two. */
function cellText(cell: Cell): unknown {
  if (cell.kind !== 'node') return cell;
  const number = nodes.get(cell.node) ?? nodes.size;
  nodes.set(cell.node, number);
  return `node ${number}`;
}

class Evaluator {
  readonly #data: Data;
  readonly #builds: Evaluator;

  constructor(data: Data, builds = data) {
    this.#data = data;
    this.#builds = builds === data ? this : new Evaluator(builds);
  }

  subjectsOf({ subject }: MapRules, row: Row, position: number): readonly string[] {
    return this.#tokens(subject, row, position);
  }

  rows(of: Operator): readonly Row[] {
    switch (of.kind) {
      case 'scan':
        return this.#data
          .records(of)
          .map(
            (nodes, i) => new Map([...nodes.map((node, at) => [of.records[at] as Column, nodeOf(node)] as const), [of.index, number(i)]]),
          );
      case 'unnest':
        return this.rows(of.input).flatMap((row, position) => {
          const { items, item, index } = of;
          const cells =
            items.of === 'values' ? this.#values(items.expression, row, position).map(one) : this.#items(items, row).map(nodeOf);
          return cells.length === 0
            ? [new Map([...row, [item, NULL], [index, NULL]])]
            : cells.map((cell, i) => new Map([...row, [item, cell], [index, number(i)]]));
        });
      case 'extend':
        return this.rows(of.input).map((row, position) => {
          const cells = of.columns.map(({ column, value }) => [column, this.#cell(value, row, position)] as const);
          return new Map([...row, ...cells]);
        });
      case 'number':
        return this.rows(of.input).map((row, position) => new Map([...row, [of.column, number(position)]]));
      case 'join':
        return this.rows(of.left).flatMap((row, position) => {
          const met = this.#matches(of, row, position);
          const found: readonly (Cell[] | undefined)[] = met.length === 0 && of.type === 'left' ? [undefined] : met;
          return found.map((cells, i) => {
            const joined = new Map(row);
            for (const [at, column] of of.columns.entries()) joined.set(column, cells?.[at] ?? NULL);
            if (of.ordinal !== undefined) joined.set(of.ordinal, cells === undefined ? NULL : number(i));
            return joined;
          });
        });
    }
  }

  #items(items: { readonly within: Column; readonly formulation: string | undefined; readonly iterator: string | undefined }, row: Row) {
    const cell = row.get(items.within) as Cell;
    if (items.formulation === undefined) return cell.kind === 'node' ? this.#data.items(cell.node, items.iterator ?? '') : [];
    const { formulation, iterator } = items;
    return valuesIn(cell).flatMap(({ written }) => this.#data.within(written, formulation, iterator));
  }

  /** The cells of the rows on the right side that a row meets. */
  #matches(join: Join, row: Row, position: number): readonly Cell[][] {
    const keys = join.on.map(({ left }) => this.#texts(left, row, position, same));
    return this.#builds
      .projected(join.right)
      .filter((right) => join.on.every(({ right: column }, i) => keys[i]?.some((key) => right.keys.get(column)?.includes(key))))
      .map(({ cells }) => cells);
  }

  projected(project: Project): readonly { readonly keys: ReadonlyMap<Column, readonly string[]>; readonly cells: Cell[] }[] {
    const rows = this.rows(project.input).flatMap((row, position) => {
      const keys = new Map(project.keys.map(({ column, value }) => [column, this.#texts(value, row, position, same)]));
      try {
        const cells = project.columns.map(({ value }) => this.#cell(value, row, position));
        // A term with several texts is as many rows.
        const [only] = cells;
        if (only?.kind === 'terms') return only.tokens.map((token) => ({ keys, cells: [{ kind: 'terms', tokens: [token] } as Cell] }));
        return [{ keys, cells }];
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
        return [];
      }
    });
    if (project.counts) return rows;
    return [...new Map(rows.map((row) => [JSON.stringify([[...row.keys.values()], row.cells]), row])).values()];
  }

  #cell(value: Expression | Term, row: Row, position: number): Cell {
    if (isTerm(value)) return { kind: 'terms', tokens: this.#tokens(value, row, position) };
    return { kind: 'values', values: this.#values(value, row, position) };
  }

  // -------------------------------------------------------------- expressions

  #values(expression: Expression, row: Row, position: number): readonly Value[] {
    switch (expression.kind) {
      case 'read': {
        const cell = row.get(expression.record) as Cell;
        return cell.kind === 'node' ? this.#data.values(cell.node, expression.reference) : [];
      }
      case 'cell':
        return valuesIn(row.get(expression.column) as Cell);
      case 'conditional':
        return this.#texts(expression.condition, row, position, same).includes('true') ? this.#values(expression.value, row, position) : [];
      default:
        return this.#texts(expression, row, position, same).map(text);
    }
  }

  #texts(expression: Expression, row: Row, position: number, encode: (text: string) => string): readonly string[] {
    switch (expression.kind) {
      case 'constant':
        return [expression.text];
      case 'row':
        return [`${expression.map} ${position}`];
      case 'call':
        throw new Error('functions are tested elsewhere');
      case 'conditional':
        return this.#texts(expression.condition, row, position, same).includes('true')
          ? this.#texts(expression.value, row, position, encode)
          : [];
      case 'template': {
        // A reference has one value in all its places.
        const keyOf = (part: Exclude<(typeof expression.parts)[number], string>): string =>
          part.kind === 'read' ? `${part.record.id} ${part.reference}` : `${part.column.id}`;
        const parts = expression.parts.filter((part) => typeof part !== 'string');
        let choices: readonly ReadonlyMap<string, string>[] = [new Map()];
        for (const [key, part] of new Map(parts.map((part) => [keyOf(part), part])))
          choices = choices.flatMap((choice) =>
            this.#values(part, row, position).map(({ written }) => new Map([...choice, [key, encode(written)]])),
          );
        return choices.map((choice) =>
          expression.parts.map((part) => (typeof part === 'string' ? part : (choice.get(keyOf(part)) as string))).join(''),
        );
      }
      default:
        return this.#values(expression, row, position).map(({ written }) => encode(written));
    }
  }

  // -------------------------------------------------------------- terms

  #tokens(term: Term, row: Row, position: number): readonly string[] {
    return [...new Set(this.#tokensOf(term, row, position))];
  }

  #tokensOf(term: Term, row: Row, position: number): readonly string[] {
    switch (term.kind) {
      case 'constant':
        return [constantToken(term)];
      case 'encoded': {
        const cell = row.get(term.column) as Cell;
        return cell.kind === 'terms' ? cell.tokens : [];
      }
      case 'blank':
        return this.#texts(term.value, row, position, same).map((one) => `_:${label(one)}`);
      case 'iri':
        return this.#iris(term, row, position);
      case 'literal':
        return this.#literals(term, row, position);
      case 'quoted':
        return term.triples.flatMap((triple) => this.#triples(triple, row, position).map((inner) => `<< ${inner} >>`));
      case 'head':
        return this.#heads(term.collection, row, position);
    }
  }

  #triples({ subject, predicate, object }: QuotedTriple, row: Row, position: number): readonly string[] {
    const subjects = this.#tokens(subject, row, position);
    // Of a row without a subject nothing is made.
    if (subjects.length === 0) return [];
    const [predicates, objects] = [predicate, object].map((term) => this.#tokens(term, row, position)) as [
      readonly string[],
      readonly string[],
    ];
    return subjects.flatMap((s) => predicates.flatMap((p) => objects.map((o) => `${s} ${p} ${o}`)));
  }

  #iris({ type, value, base }: Extract<RowTerm, { kind: 'iri' }>, row: Row, position: number): readonly string[] {
    const [unsafe, uri] = [type.startsWith('unsafe'), type.endsWith('uri')];
    const encode = withoutConditions(value).kind === 'template' && !unsafe ? (uri ? uriPart : iriPart) : uri ? beyondAscii : same;
    return this.#texts(value, row, position, encode).map((one) => {
      const iri = absolute(one, base);
      if (unsafe) return `<${guarded(iri)}>`;
      if (/[\u0000-\u0020<>"{}|^`\\]/.test(iri)) throw new Invalid(iri);
      return `<${iri}>`;
    });
  }

  #literals({ value, language, datatype }: Extract<RowTerm, { kind: 'literal' }>, row: Row, position: number): readonly string[] {
    const literals = (): readonly string[] => this.#texts(value, row, position, same).map((one) => `"${escaped(one)}"`);
    if (language !== undefined) {
      const tags = this.#texts(language, row, position, same);
      if (tags.some((tag) => !/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(tag))) throw new Invalid(tags.join());
      return literals().flatMap((literal) => tags.map((tag) => `${literal}@${tag}`));
    }
    if (datatype !== undefined) {
      const types = this.#tokens(datatype, row, position);
      return literals().flatMap((literal) => types.map((type) => (type === STRING ? literal : `${literal}^^${type}`)));
    }
    const { kind } = withoutConditions(value);
    if (kind !== 'read' && kind !== 'cell') return literals();
    return this.#values(value, row, position).map(({ literal }) => literal);
  }

  /** Without a named head, a collection is known by its row. */
  #heads({ head, as, number: count, row: of, members, allowEmpty }: Collection, row: Row, position: number): readonly string[] {
    const isEmpty = members.every((member) => this.#members(member, row, position).length === 0);
    if (isEmpty && !allowEmpty) return [];
    if (isEmpty && as === 'list') return ['<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>'];
    if (head !== undefined) return this.#tokens(head, row, position);
    return this.#texts(of, row, position, same).map((one) => `_:${label(one)}g${count}`);
  }

  /** All members of a row, equal ones as often as they come; those of a collection within it as one text. */
  #members(member: Collection['members'][number], row: Row, position: number): readonly string[] {
    switch (member.kind) {
      case 'term':
        return this.#tokensOf(member.term, row, position);
      case 'gather':
        return [this.#collectionText(member.collection, row, position)];
      case 'joined':
        return this.#matches(member.join, row, position).flatMap(([cell]) => (cell?.kind === 'terms' ? cell.tokens : []));
    }
  }

  #collectionText(collection: Collection, row: Row, position: number): string {
    const { as, members, strategy } = collection;
    return JSON.stringify([this.#heads(collection, row, position), as, strategy, members.map((one) => this.#members(one, row, position))]);
  }

  // -------------------------------------------------------------- rules

  rulesOf({ rows, subject, emits, collects, checks }: MapRules, row: Row, position: number) {
    const statements: string[] = [];
    const collected: string[] = [];
    const subjects = this.#tokens(subject, row, position);
    if (subjects.length === 0) return { statements, collected };
    for (const check of checks) this.#tokens(check, row, position);
    for (const { input, predicate, object, graph, target } of emits) {
      const objects = input === rows ? this.#tokens(object, row, position) : this.#joined({ input, object }, rows, row, position);
      const predicates = this.#tokens(predicate, row, position);
      for (const place of this.#places({ graph, target }, row, position))
        for (const s of subjects)
          for (const p of predicates) for (const o of objects) statements.push(`${place.target}${s} ${p} ${o}${place.graph} .`);
    }
    for (const { collection, places } of collects)
      for (const place of places.flatMap((one) => this.#places(one, row, position)))
        collected.push(`${place.target}${place.graph} ${this.#collectionText(collection, row, position)}`);
    return { statements, collected };
  }

  /** The objects that a join brings to a row of its left side. */
  #joined({ input, object }: Pick<Emit, 'input' | 'object'>, rows: Operator, row: Row, position: number): readonly string[] {
    if (input.kind !== 'join' || input.left !== rows || object.kind !== 'encoded') throw new Error('a statement of other rows');
    const at = input.columns.indexOf(object.column);
    return this.#matches(input, row, position).flatMap((cells) => (cells[at] as Extract<Cell, { kind: 'terms' }>).tokens);
  }

  #places({ graph, target }: Pick<Emit, 'graph' | 'target'>, row: Row, position: number) {
    const graphs = graph === undefined ? [''] : this.#tokens(graph, row, position).map((token) => ` ${token}`);
    return graphs.map((one) => ({ graph: one, target: target === undefined ? '' : `${target.path} ` }));
  }

  // -------------------------------------------------------------- promises of views

  broken({ kind, name, view, rows, fields, target }: Check): readonly string[] {
    const keys = this.rows(rows).map((row, position) => ({
      values: fields.map(({ value }) => this.#values(value, row, position)[0] ?? null),
      found: target === undefined ? undefined : valuesIn(row.get(target.found) as Cell),
    }));
    const whole = keys.filter(({ values }) => !values.includes(null));
    const texts = (values: readonly (Value | null)[]): string => JSON.stringify([name, view, values]);
    switch (kind) {
      case 'not-null':
        return keys.filter(({ values }) => values.includes(null)).map(({ values }) => texts(values));
      case 'iri-safe':
        return keys
          .filter(({ values }) => values.some((value) => value !== null && iriPart(value.written) !== value.written))
          .map(({ values }) => texts(values));
      case 'unique': {
        const all = whole.map(({ values }) => texts(values));
        return all.filter((text, i) => all.indexOf(text) < i);
      }
      case 'inclusion':
        return whole.filter(({ found }) => found?.length === 0).map(({ values }) => texts(values));
    }
  }
}

const STRING = '<http://www.w3.org/2001/XMLSchema#string>';

const one = (value: Value): Cell => ({ kind: 'values', values: [value] });
const nodeOf = (node: unknown): Cell => ({ kind: 'node', node });
const NULL: Cell = { kind: 'values', values: [] };
const text = (written: string): Value => ({ written, literal: `"${escaped(written)}"` });
const number = (n: number): Cell => one({ written: String(n), literal: `"${n}"^^<http://www.w3.org/2001/XMLSchema#integer>` });

const valuesIn = (cell: Cell): readonly Value[] => (cell.kind === 'values' ? cell.values : []);

const isTerm = (value: Expression | Term): value is Term =>
  value.kind === 'constant' ? 'term' in value : ['iri', 'blank', 'literal', 'quoted', 'head', 'encoded'].includes(value.kind);

const withoutConditions = (value: Expression): Expression => (value.kind === 'conditional' ? withoutConditions(value.value) : value);

function constantToken({ term, type, base }: Extract<RowTerm, { kind: 'constant' }>): string {
  if (type === 'blank') return `_:${label(term.value)}`;
  if (term.kind !== 'literal' || type !== 'literal') {
    const iri = absolute(term.value, base);
    return `<${type.startsWith('unsafe') ? guarded(iri) : iri}>`;
  }
  const literal = `"${escaped(term.value)}"`;
  if (term.language !== undefined) return `${literal}@${term.language}`;
  const type_ = `<${absolute(term.datatype, base)}>`;
  return type_ === STRING ? literal : `${literal}^^${type_}`;
}
