/**
 * A graph of a mapping in one dialect → the statements that mean the same in another.
 *
 * Terms are renamed by the tables of the vocabulary. Where dialects say something with other nodes (files, tables, functions, conditions), those
 * are made again. Statements of other vocabularies stay as they are. What the dialect cannot say is an error at its place.
 */

import { XSD } from '../../core/value.ts';
import type { Report } from '../model/diagnostics.ts';
import { type Graph, type GraphNode, nodeId, type Statement } from '../model/graph.ts';
import type { Dialect, Origin, RdfTerm } from '../model/model.ts';
import { lookUp, termOf, USUAL_PREFIXES } from '../vocabulary/namespaces.ts';
import type { Individual, Property } from '../vocabulary/vocabulary.ts';

const RDF_TYPE = `${USUAL_PREFIXES.rdf}type`;
const FNO_EXECUTES = 'https://w3id.org/function/ontology#executes';
const CSVW = USUAL_PREFIXES.csvw as string;
const IDLAB = 'https://w3id.org/imec/idlab/function#';

/** Names of dialects in messages. */
const NAMES: Readonly<Record<Dialect, string>> = { rml: "today's RML", legacy: 'legacy RML', r2rml: 'R2RML' };

export interface ConvertedNode {
  readonly term: RdfTerm;
  readonly origin: Origin;
  readonly statements: { readonly property: string; readonly object: RdfTerm }[];
}

/**
 * Logical sources of rows in whose dialect an empty cell has no value, and in the other dialect is an empty text unless the source says so:
 * the texts that mean null in them, by `originKey`.
 */
export type EmptyCells = ReadonlyMap<string, readonly string[]>;

export const originKey = (origin: Origin): string => JSON.stringify(origin);

/**
 * The nodes of the other dialect, in the order of the graph.
 *
 * @param emptyCells which sources are to say that an empty cell has no value
 */
export function convertGraph(graph: Graph, to: Dialect, report: Report, emptyCells: EmptyCells = new Map()): readonly ConvertedNode[] {
  return new Converter(graph, to, report, emptyCells).convert();
}

const iri = (value: string): RdfTerm => ({ kind: 'iri', value });
const stringLiteral = (value: string): RdfTerm => ({ kind: 'literal', value, datatype: `${XSD}string`, language: undefined });

const nameOf = ({ property }: Statement): Property | undefined => lookUp('properties', property)?.name;

class Converter {
  readonly #graph: Graph;
  readonly #to: Dialect;
  readonly #report: Report;
  readonly #nodes = new Map<string, ConvertedNode>();
  /** Nodes that are written together with a node that leads to them. */
  readonly #done = new Set<string>();
  /** By the node of the graph: expressions may share one call. */
  readonly #calls = new Map<string, ConvertedNode>();
  /** Id of a term map → the property that leads to it. */
  readonly #roles = new Map<string, Property>();
  /** Arguments of functions, of which today's RML has the expression alone. */
  readonly #arguments = new Set<string>();
  /** Whether references are SQL identifiers here, and names of columns there, or the other way round. */
  readonly #quoting: 'remove' | 'add' | undefined;
  /** Whether it has been said that the case of columns counts. */
  #tellsCase = false;
  readonly #emptyCells: EmptyCells;
  /** Nodes that say it: several logical sources may share one. */
  readonly #withNulls = new Set<string>();
  #made = 0;
  /** Made when it is asked for: a few mappings need it. */
  #users: Map<string, string[]> | undefined;

  constructor(graph: Graph, to: Dialect, report: Report, emptyCells: EmptyCells) {
    this.#graph = graph;
    this.#emptyCells = emptyCells;
    this.#to = to;
    this.#report = report;
    const isTables = [...graph.values()].some(({ statements }) => statements.some((one) => nameOf(one) === 'logicalTable'));
    this.#quoting = isTables === (to === 'r2rml') ? undefined : isTables ? 'remove' : 'add';
  }

  convert(): readonly ConvertedNode[] {
    const calls = this.#callNodes();
    const sources = new Set<string>();
    const ofCalls = new Set<string>();
    for (const node of this.#graph.values()) {
      for (const statement of node.statements) {
        const name = nameOf(statement);
        const id = nodeId(statement.object) ?? '';
        if (name !== undefined && ROLES.has(name)) this.#roles.set(id, name);
        if (name === 'logicalSource' || name === 'logicalTable' || name === 'viewOn') (calls.has(node.id) ? ofCalls : sources).add(id);
        if (calls.has(node.id) && name === 'predicateObjectMap') {
          for (const part of this.#graph.get(id)?.statements ?? [])
            if (nameOf(part) === 'objectMap') this.#arguments.add(nodeId(part.object) ?? '');
        }
        // The parts of a call are made again.
        if (calls.has(node.id) && (name === 'input' || name === 'predicateObjectMap')) this.#leaveOut(id);
      }
    }
    for (const id of calls) this.#leaveOut(id);
    // Calls name the source of their triples map again.
    for (const id of ofCalls) {
      if (sources.has(id)) continue;
      this.#leaveOut(id);
      for (const { object } of this.#graph.get(id)?.statements ?? []) if (object.kind === 'blank') this.#leaveOut(`_:${object.value}`);
    }
    if (this.#to !== 'rml') this.#refuseViews();
    for (const id of sources) if (!this.#done.has(id)) this.#logicalSource(id);
    for (const node of this.#graph.values()) if (!this.#done.has(node.id)) this.#node(node);
    return [...this.#nodes.values()].filter(({ statements }) => statements.length > 0);
  }

  /** Reports each view once, not each of its statements. */
  #refuseViews(): void {
    const leaveOut = (id: string): void => {
      if (this.#done.has(id)) return;
      this.#leaveOut(id);
      for (const { object } of this.#graph.get(id)?.statements ?? []) if (object.kind === 'blank') leaveOut(`_:${object.value}`);
    };
    for (const node of this.#graph.values()) {
      if (!node.statements.some((one) => nameOf(one) === 'viewOn')) continue;
      this.#cannot('a logical view', node.origin, "today's RML and YARRRML can");
      leaveOut(node.id);
    }
  }

  #callNodes(): ReadonlySet<string> {
    const calls = new Set<string>();
    for (const { statements } of this.#graph.values())
      for (const statement of statements)
        if (['functionValue', 'functionExecution'].includes(nameOf(statement) ?? '')) calls.add(nodeId(statement.object) ?? '');
    return calls;
  }

  /** Reports the arguments of a legacy call that come from another source than the triples maps that lead to it read. */
  #checkSource(call: GraphNode): void {
    const own = call.statements.find((one) => nameOf(one) === 'logicalSource');
    if (own === undefined) return;
    const reached = new Set<string>([call.id]);
    for (const id of reached) for (const user of this.#usersOf(id)) reached.add(user);
    const others = [...reached]
      .flatMap((id) => (id === call.id ? [] : (this.#graph.get(id)?.statements ?? [])))
      .filter((one) => nameOf(one) === 'logicalSource');
    if (others.some(({ object }) => this.#described(object) !== this.#described(own.object)))
      this.#cannot('arguments of a function from another logical source', own.origin);
  }

  /** The nodes with statements that lead to a node. */
  #usersOf(id: string): readonly string[] {
    if (this.#users === undefined) {
      this.#users = new Map();
      for (const node of this.#graph.values()) {
        for (const { object } of node.statements) {
          const used = nodeId(object) ?? '';
          const known = this.#users.get(used);
          if (known === undefined) this.#users.set(used, [node.id]);
          else known.push(node.id);
        }
      }
    }
    return this.#users.get(id) ?? [];
  }

  /** Equal for terms that are described alike. */
  #described(term: RdfTerm, depth = 0): string {
    const statements = term.kind === 'blank' && depth < 8 ? this.#graph.get(`_:${term.value}`)?.statements : undefined;
    return statements === undefined
      ? `${term.kind} ${term.value}`
      : JSON.stringify(statements.map(({ property, object }) => [property, this.#described(object, depth + 1)]).sort());
  }

  #open(node: GraphNode): ConvertedNode {
    const known = this.#nodes.get(node.id);
    if (known !== undefined) return known;
    const term: RdfTerm = node.id.startsWith('_:') ? { kind: 'blank', value: node.id.slice(2) } : iri(node.id);
    const opened: ConvertedNode = { term, origin: node.origin, statements: [] };
    this.#nodes.set(node.id, opened);
    return opened;
  }

  /** A node that is said in another way: whether it was passed already, or comes later. */
  #leaveOut(id: string): void {
    this.#done.add(id);
    this.#nodes.delete(id);
  }

  /** A new blank node. */
  #new(origin: Origin): ConvertedNode {
    const value = `c${this.#made++}`;
    const node: ConvertedNode = { term: { kind: 'blank', value }, origin, statements: [] };
    this.#nodes.set(`_:${value}`, node);
    return node;
  }

  #set(node: ConvertedNode, name: Property, object: RdfTerm, origin: Origin): void {
    const property = termOf(this.#to, 'properties', name);
    if (property === undefined) this.#cannot(`rml:${name}`, origin);
    else node.statements.push({ property, object });
  }

  #cannot(what: string, origin: Origin, hint?: string): void {
    this.#report.error('not-supported', origin, `${NAMES[this.#to]} cannot say ${what}`, hint);
  }

  #individual(name: Individual, origin: Origin): RdfTerm {
    const found = termOf(this.#to, 'individuals', name);
    if (found === undefined) this.#cannot(`rml:${name}`, origin);
    return iri(found ?? '');
  }

  #node(node: GraphNode): void {
    const converted = this.#open(node);
    const call = node.statements.find((one) => ['functionValue', 'functionExecution'].includes(nameOf(one) ?? ''));
    const condition = this.#to === 'rml' ? undefined : node.statements.find((one) => nameOf(one) === 'condition');
    for (const statement of node.statements) {
      const isWithoutEffect = this.#to === 'rml' && this.#arguments.has(node.id) && TERM_ONLY.has(nameOf(statement) ?? '');
      if (isWithoutEffect) {
        const map = nodeId(statement.object);
        if (map?.startsWith('_:')) this.#leaveOut(map);
      } else if (condition === undefined && this.#isUsual(node, statement)) continue;
      else if (statement === condition) this.#condition(node, statement, converted);
      else if (condition !== undefined && isExpression(statement)) continue;
      else if (statement === call) this.#call(statement, converted);
      else this.#statement(statement, converted);
    }
  }

  /** Whether a term type is that which the term map has without it. People leave it out, and YARRRML states each. */
  #isUsual(node: GraphNode, statement: Statement): boolean {
    if (nameOf(statement) !== 'termType' || node.origin.key === undefined) return false;
    const type = statement.object.kind === 'iri' ? lookUp('individuals', statement.object.value)?.name : undefined;
    const expression = node.statements.find(isExpression);
    const kind = expression === undefined ? undefined : nameOf(expression);
    if (expression === undefined || node.statements.some((one) => nameOf(one) === 'gather')) return false;
    if (kind === 'constant') return expression.object.kind === (type === 'IRI' ? 'iri' : type === 'Literal' ? 'literal' : '');
    const isObject = this.#roles.get(node.id) === 'objectMap';
    if (!isObject) return this.#roles.has(node.id) && type === 'IRI';
    const isMarked = node.statements.some((one) => ['language', 'languageMap', 'datatype', 'datatypeMap'].includes(nameOf(one) ?? ''));
    return type === (kind === 'template' && !isMarked ? 'IRI' : 'Literal');
  }

  #statement(statement: Statement, node: ConvertedNode): void {
    const { property, object, origin } = statement;
    if (property === RDF_TYPE && object.kind === 'iri') {
      const known = lookUp('classes', object.value);
      const renamed = known?.name === undefined ? undefined : termOf(this.#to, 'classes', known.name);
      // Where there is no such class, the properties say the same, or are reported.
      if (known === undefined) node.statements.push({ property, object });
      else if (renamed !== undefined) node.statements.push({ property, object: iri(renamed) });
      else if (known.name === 'NonAssertedTriplesMap') this.#cannot(known.short, origin);
      return;
    }
    const known = lookUp('properties', property);
    if (known === undefined) {
      node.statements.push({ property, object });
      return;
    }
    if (known.name === undefined) {
      this.#cannot(known.short, origin);
      return;
    }
    if (known.name === 'inverseExpression' && this.#to !== 'r2rml') return;
    if (known.name === 'null' && this.#to === 'legacy' && isTable(this.#graph.get(nodeId(node.term) ?? ''))) {
      node.statements.push({ property: `${CSVW}null`, object });
      return;
    }
    if (known.name === 'logicalTable' || known.name === 'logicalSource') {
      this.#set(node, this.#to === 'r2rml' ? 'logicalTable' : 'logicalSource', object, origin);
      return;
    }
    if (this.#shortcut(known.name, statement, node)) return;
    const isConstant = CONSTANTS.has(known.name) && !(known.name === 'constant' && this.#roles.get(nodeId(node.term) ?? '') === 'graphMap');
    const term = object.kind === 'iri' && !isConstant ? lookUp('individuals', object.value) : undefined;
    const renamed = term?.name === undefined ? object : this.#individual(term.name as Individual, origin);
    this.#set(node, known.name, this.#requoted(known.name, renamed, origin), origin);
  }

  /** R2RML refers to columns by SQL identifiers, which a product may fold unless they are quoted; RML by their names. */
  #requoted(name: Property, object: RdfTerm, origin: Origin): RdfTerm {
    if (this.#quoting === undefined || object.kind !== 'literal' || !['reference', 'template', 'child', 'parent'].includes(name))
      return object;
    const one = (column: string): string => {
      if (this.#quoting === 'add') {
        if (!this.#tellsCase && column !== column.toLowerCase()) {
          this.#tellsCase = true;
          const told = `R2RML finds the column ${column} in these letters alone, RML also one that differs from it in upper and lower case`;
          this.#report.warning('changed-meaning', origin, told, 'compare the names of columns with those that the database has');
        }
        return `"${column.replaceAll('"', '""')}"`;
      }
      if (/^".*"$/s.test(column)) return column.slice(1, -1).replaceAll('""', '"');
      const message = `the column ${column} is not quoted, so a database may have it in other letters`;
      this.#report.warning('older-term', origin, message, 'write it in quotes as the database has it');
      return column;
    };
    const value =
      name === 'template'
        ? object.value.replace(/(?<!\\)\{((?:\\.|[^\\}])*)\}/g, (_, column: string) => `{${one(column)}}`)
        : one(object.value);
    return { ...object, value };
  }

  /** `rml:childMap [ rml:reference "id" ]` as `rr:child "id"`, `rml:languageMap [ rml:constant "en" ]` as `rr:language "en"`, and the like. */
  #shortcut(name: Property, { object, origin }: Statement, node: ConvertedNode): boolean {
    const short = SHORTCUTS[name];
    const id = nodeId(object);
    const described = id === undefined ? undefined : this.#graph.get(id);
    const isSaid = (one: Statement): boolean => one.property !== RDF_TYPE && !this.#isUsual(described as GraphNode, one);
    const [only, ...others] = described?.statements.filter(isSaid) ?? [];
    if (short === undefined || only === undefined || others.length > 0 || nameOf(only) !== short.expression) return false;
    const takes: readonly RdfTerm['kind'][] = short.takes ?? ['iri'];
    if (!takes.includes(only.object.kind) || termOf(this.#to, 'properties', short.property) === undefined) return false;
    this.#leaveOut(id as string);
    this.#statement({ ...only, property: termOf(this.#to, 'properties', short.property) as string, origin }, node);
    return true;
  }

  // ---------------------------------------------------------------- sources

  #logicalSource(id: string): void {
    const node = this.#graph.get(id);
    if (node === undefined || node.statements.some((one) => ['viewOn', 'subjectMap', 'subject'].includes(nameOf(one) ?? ''))) return;
    this.#done.add(id);
    const converted = this.#open(node);
    const one = (name: Property): Statement | undefined => node.statements.find((statement) => nameOf(statement) === name);
    const source = one('source');
    const sourceNode = source === undefined ? undefined : this.#graph.get(nodeId(source.object) ?? '');
    const isService =
      sourceNode?.statements.some(({ property, object }) => `${property} ${object.value}`.includes(USUAL_PREFIXES.sd as string)) ?? false;
    const formulation = one('referenceFormulation');
    const kind = formulation?.object.kind === 'iri' ? lookUp('individuals', formulation.object.value)?.name : undefined;
    const table = one('tableName') ?? (kind === 'SQL2008Table' ? one('iterator') : undefined);
    const isDatabase = sourceNode?.statements.some(({ property }) => property.startsWith(USUAL_PREFIXES.d2rq as string)) ?? false;
    const query = one('sqlQuery') ?? one('query') ?? (kind === 'SQL2008Query' ? one('iterator') : undefined);
    if (!isService && (table !== undefined || query !== undefined || isDatabase)) {
      this.#database(converted, source, query, query === undefined ? table : undefined, one('sqlVersion'));
      return;
    }
    if (this.#to === 'r2rml') {
      this.#cannot('a logical source that is no table and no query', node.origin, 'load the data into a database');
      return;
    }
    for (const statement of node.statements) {
      if (statement === source) this.#file(statement, converted, kind === 'CSV', this.#emptyCells.get(originKey(node.origin)));
      else if (isService && nameOf(statement) === 'iterator' && this.#to === 'legacy' && one('query') === undefined)
        this.#set(converted, 'query', statement.object, statement.origin);
      else this.#statement(statement, converted);
    }
  }

  #database(
    node: ConvertedNode,
    source: Statement | undefined,
    query: Statement | undefined,
    table: Statement | undefined,
    version: Statement | undefined,
  ): void {
    const content = query ?? table;
    if (content === undefined) return;
    if (source !== undefined && this.#to === 'r2rml') {
      const hint = 'give the database with --jdbc-url';
      this.#report.warning('unused-term', source.origin, `${NAMES.r2rml} names no database: it is that of the run`, hint);
      this.#leaveOut(nodeId(source.object) ?? '');
    } else if (source !== undefined) this.#set(node, 'source', source.object, source.origin);
    if (this.#to === 'rml') {
      this.#set(
        node,
        'referenceFormulation',
        this.#individual(query === undefined ? 'SQL2008Table' : 'SQL2008Query', node.origin),
        node.origin,
      );
      this.#set(node, 'iterator', content.object, content.origin);
      return;
    }
    this.#set(node, query === undefined ? 'tableName' : this.#to === 'legacy' ? 'query' : 'sqlQuery', content.object, content.origin);
    if (version !== undefined) this.#statement(version, node);
    else if (query !== undefined) this.#set(node, 'sqlVersion', this.#individual('SQL2008', node.origin), node.origin);
  }

  /**
   * Files: a text in legacy RML, a node in today's.
   *
   * @param nulls texts that mean null, which the dialect of the graph does not need to say
   */
  #file(statement: Statement, node: ConvertedNode, isCsv: boolean, nulls: readonly string[] | undefined): void {
    const { object, origin } = statement;
    const described = this.#graph.get(nodeId(object) ?? '');
    if (this.#to === 'rml' && (object.kind === 'literal' || (nulls !== undefined && described === undefined))) {
      const file = this.#new(origin);
      const type = termOf('rml', 'classes', 'FilePath') as string;
      file.statements.push({ property: RDF_TYPE, object: iri(type) });
      this.#set(file, 'root', this.#individual('MappingDirectory', origin), origin);
      this.#set(file, 'path', stringLiteral(object.value), origin);
      for (const text of nulls ?? []) this.#set(file, 'null', stringLiteral(text), origin);
      this.#set(node, 'source', file.term, origin);
      return;
    }
    if (described !== undefined && nulls !== undefined) this.#addNulls(described, nulls);
    const path = described?.statements.find((one) => nameOf(one) === 'path');
    if (this.#to !== 'legacy' || described === undefined || path === undefined) {
      this.#set(node, 'source', object, origin);
      return;
    }
    this.#leaveOut(described.id);
    const said = described.statements.filter((one) => isCsv && nameOf(one) === 'null');
    this.#set(node, 'source', said.length === 0 ? path.object : this.#table(path, said), origin);
    const root = described.statements.find((one) => nameOf(one) === 'root');
    const isMapping = root?.object.kind === 'iri' && lookUp('individuals', root.object.value)?.name === 'MappingDirectory';
    if (!isMapping && !/^(?:[a-z][a-z0-9+.-]+:|\/)/i.test(path.object.value)) {
      const hint = 'write rml:root rml:MappingDirectory: legacy RML has paths relative to the mapping';
      this.#cannot('a path relative to another directory than that of the mapping', (root ?? path).origin, hint);
    }
    for (const other of described.statements) {
      const name = nameOf(other);
      if (name !== undefined && !['path', 'root'].includes(name) && !said.includes(other))
        this.#cannot(`rml:${name} of a file`, other.origin);
    }
  }

  /** Legacy RML has texts that mean null in tables of CSVW alone. */
  #table(path: Statement, nulls: readonly Statement[]): RdfTerm {
    const table = this.#new(path.origin);
    table.statements.push({ property: RDF_TYPE, object: iri(`${CSVW}Table`) }, { property: `${CSVW}url`, object: path.object });
    for (const { object } of nulls) table.statements.push({ property: `${CSVW}null`, object });
    return table.term;
  }

  /** On a table of CSVW by its own property, as rml:null would take the place of all that CSVW says. */
  #addNulls(described: GraphNode, nulls: readonly string[]): void {
    if (this.#withNulls.has(described.id)) return;
    this.#withNulls.add(described.id);
    const isOfCsvw = isTable(described) && !described.statements.some((one) => nameOf(one) === 'null');
    const property = isOfCsvw ? `${CSVW}null` : (termOf(this.#to, 'properties', 'null') as string);
    const isSaid = (text: string): boolean =>
      described.statements.some((one) => (isOfCsvw ? one.property === property : nameOf(one) === 'null') && one.object.value === text);
    const { statements } = this.#open(described);
    for (const text of nulls) if (!isSaid(text)) statements.push({ property, object: stringLiteral(text) });
  }

  // ---------------------------------------------------------------- functions

  /** The function, its parameters and their values, from either way to say it. */
  #call(statement: Statement, node: ConvertedNode): void {
    const described = this.#graph.get(nodeId(statement.object) ?? '');
    if (described === undefined) return;
    if (this.#to === 'r2rml') {
      this.#cannot('a function', statement.origin);
      return;
    }
    const property = this.#to === 'rml' ? 'functionExecution' : 'functionValue';
    const known = this.#calls.get(described.id);
    const call = known ?? this.#new(described.origin);
    this.#calls.set(described.id, call);
    this.#set(node, property, call.term, statement.origin);
    if (known !== undefined) return;
    this.#checkSource(described);
    for (const part of described.statements) {
      const name = nameOf(part);
      if (name === 'function' || name === 'functionMap')
        this.#pair(call, iri(FNO_EXECUTES), this.#valueOf(part, 'functionMap'), part.origin);
      else if (name === 'input') this.#input(part, call);
      else if (name === 'predicateObjectMap') this.#legacyPair(part, call);
    }
  }

  #input(statement: Statement, call: ConvertedNode): void {
    const input = this.#graph.get(nodeId(statement.object) ?? '');
    if (input === undefined) return;
    this.#leaveOut(input.id);
    const parameter = input.statements.find((one) => ['parameter', 'parameterMap'].includes(nameOf(one) ?? ''));
    const value = input.statements.find((one) => ['inputValue', 'inputValueMap'].includes(nameOf(one) ?? ''));
    if (parameter === undefined || value === undefined) return;
    const named = this.#valueOf(parameter, 'parameterMap');
    if ('term' in named) this.#pair(call, named.term, this.#valueOf(value, 'inputValueMap'), statement.origin);
  }

  #legacyPair(statement: Statement, call: ConvertedNode): void {
    const pair = this.#graph.get(nodeId(statement.object) ?? '');
    if (pair === undefined) return;
    this.#leaveOut(pair.id);
    const predicate = pair.statements.find((one) => ['predicate', 'predicateMap'].includes(nameOf(one) ?? ''));
    if (predicate === undefined) return;
    const named = this.#valueOf(predicate, 'predicateMap');
    for (const one of pair.statements) {
      if (['object', 'objectMap'].includes(nameOf(one) ?? '') && 'term' in named)
        this.#pair(call, named.term, this.#valueOf(one, 'objectMap'), one.origin);
    }
  }

  /** The constant that a statement or the map of `map` names, else that map. */
  #valueOf(statement: Statement, map: Property): { readonly term: RdfTerm } | { readonly map: RdfTerm } {
    if (nameOf(statement) !== map) return { term: statement.object };
    const described = this.#graph.get(nodeId(statement.object) ?? '');
    const constant = described?.statements.find((one) => nameOf(one) === 'constant');
    if (described === undefined || constant === undefined) return { map: statement.object };
    this.#leaveOut(described.id);
    return { term: constant.object };
  }

  #pair(call: ConvertedNode, parameter: RdfTerm, value: { readonly term: RdfTerm } | { readonly map: RdfTerm }, origin: Origin): void {
    const isFunction = /^https?:\/\/w3id\.org\/function\/ontology#executes$/.test(parameter.value);
    if (this.#to === 'rml' && isFunction) {
      if ('term' in value) this.#set(call, 'function', iri(value.term.value), origin);
      return;
    }
    const pair = this.#new(origin);
    if (this.#to === 'rml') {
      this.#set(call, 'input', pair.term, origin);
      this.#set(pair, 'parameter', parameter, origin);
    } else {
      this.#set(call, 'predicateObjectMap', pair.term, origin);
      this.#set(pair, 'predicate', parameter, origin);
    }
    const [constant, map] = this.#to === 'rml' ? (['inputValue', 'inputValueMap'] as const) : (['object', 'objectMap'] as const);
    this.#set(pair, 'term' in value ? constant : map, 'term' in value ? value.term : value.map, origin);
  }

  /** Legacy RML has conditions as a function that gives the value where the condition is true. */
  #condition(node: GraphNode, statement: Statement, converted: ConvertedNode): void {
    const { origin } = statement;
    if (this.#to === 'r2rml') {
      this.#cannot('a condition', origin, 'write it into the query');
      return;
    }
    const expression = node.statements.filter(isExpression);
    const call = this.#new(origin);
    this.#set(converted, 'functionValue', call.term, origin);
    this.#pair(call, iri(FNO_EXECUTES), { term: iri(`${IDLAB}trueCondition`) }, origin);
    this.#pair(call, iri(`${IDLAB}strBoolean`), { map: statement.object }, origin);
    const value = this.#new(origin);
    for (const part of expression) {
      const { object } = part;
      if (['functionValue', 'functionExecution'].includes(nameOf(part) ?? '')) this.#call(part, value);
      else if (object.kind === 'literal' && object.datatype !== `${XSD}string`) {
        // The argument of a function is a text: the term map says the language or the datatype.
        this.#statement({ ...part, object: stringLiteral(object.value) }, value);
        if (object.language === undefined) this.#set(converted, 'datatype', iri(object.datatype), part.origin);
        else this.#set(converted, 'language', stringLiteral(object.language), part.origin);
      } else this.#statement(part, value);
    }
    this.#pair(call, iri(`${IDLAB}str`), { map: value.term }, origin);
    if (expression.length === 0) this.#cannot('a condition of a blank node without a value', origin);
    const hasType = node.statements.some((one) =>
      ['termType', 'language', 'languageMap', 'datatype', 'datatypeMap'].includes(nameOf(one) ?? ''),
    );
    const template = expression.find((part) => nameOf(part) === 'template');
    const isIri = template !== undefined || expression.some((part) => nameOf(part) === 'constant' && part.object.kind === 'iri');
    if (!hasType && isIri) this.#set(converted, 'termType', this.#individual('IRI', origin), origin);
    const termType = node.statements.find((one) => nameOf(one) === 'termType')?.object.value ?? '';
    const isLiteral = hasType && (termType === '' || lookUp('individuals', termType)?.name === 'Literal');
    // The argument of a function is a text, in which nothing is encoded.
    if (template !== undefined && !isLiteral)
      this.#cannot(
        'a condition of a template that encodes its values',
        template.origin,
        'write the IRI into the data, or the condition on other terms',
      );
  }
}

/** Whether a node is described as a table of CSVW. */
const isTable = (node: GraphNode | undefined): boolean =>
  node?.statements.some(
    ({ property, object }) => property === `${CSVW}url` || (property === RDF_TYPE && object.value === `${CSVW}Table`),
  ) ?? false;

const isExpression = (statement: Statement): boolean =>
  ['constant', 'reference', 'template', 'functionValue', 'functionExecution'].includes(nameOf(statement) ?? '');

const ROLES: ReadonlySet<Property> = new Set(['subjectMap', 'predicateMap', 'objectMap', 'graphMap']);

/** Properties whose objects are terms of the data, not of the vocabulary, apart from the default graph. */
const CONSTANTS: ReadonlySet<Property> = new Set([
  'constant',
  'subject',
  'predicate',
  'object',
  'class',
  'language',
  'datatype',
  'inputValue',
  'function',
  'parameter',
  'return',
]);

/** What a term has, and the text of an argument has not. */
const TERM_ONLY: ReadonlySet<string> = new Set(['termType', 'datatype', 'datatypeMap', 'language', 'languageMap']);

/** Maps with one expression alone, and the properties that say the same. Older dialects lack some of the maps. */
const SHORTCUTS: Partial<
  Record<Property, { readonly expression: Property; readonly property: Property; readonly takes?: readonly RdfTerm['kind'][] }>
> = {
  subjectMap: { expression: 'constant', property: 'subject' },
  predicateMap: { expression: 'constant', property: 'predicate' },
  objectMap: { expression: 'constant', property: 'object', takes: ['iri', 'literal'] },
  graphMap: { expression: 'constant', property: 'graph' },
  childMap: { expression: 'reference', property: 'child', takes: ['literal'] },
  parentMap: { expression: 'reference', property: 'parent', takes: ['literal'] },
  languageMap: { expression: 'constant', property: 'language', takes: ['literal'] },
  datatypeMap: { expression: 'constant', property: 'datatype' },
  returnMap: { expression: 'constant', property: 'return' },
};
