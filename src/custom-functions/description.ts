/**
 * An FnO description in Turtle → functions, the code that each is bound to, and its examples.
 *
 * @see https://w3id.org/function/spec and https://fno.io/vocabulary/implementation/index-en.html
 */
import { Fault } from '../core/fault.ts';
import { XSD } from '../core/value.ts';
import type { Example, FunctionDefinition, Need, Parameter, ParameterType, Return } from '../functions/definition.ts';
import { shortName } from '../functions/names.ts';
import { findParameter, findReturn } from '../functions/registry.ts';
import { formatDiagnostic, Report } from '../mapping/model/diagnostics.ts';
import { type Graph, type GraphNode, nodeId, type Statement } from '../mapping/model/graph.ts';
import { formatOrigin, type RdfTerm } from '../mapping/model/model.ts';
import { parseDocuments } from '../mapping/parse/document.ts';

/** A function of a description. */
export interface Binding {
  readonly definition: Omit<FunctionDefinition, 'call' | 'callAll'>;
  readonly code: Code;
  /** `document:line:column`. */
  readonly origin: string;
}

export type Code =
  /** `url` undefined: the file of the option. */
  | { readonly kind: 'module'; readonly url: string | undefined; readonly name: string }
  | { readonly kind: 'jar'; readonly url: string | undefined; readonly className: string; readonly method: string };

const FNO = ['https://w3id.org/function/ontology#', 'http://w3id.org/function/ontology#'];
const FNOI = ['https://w3id.org/function/vocabulary/implementation#'];
const FNOM = ['https://w3id.org/function/vocabulary/mapping#'];
const DOAP = ['http://usefulinc.com/ns/doap#'];
const LIB = ['http://example.com/library#'];
const DCTERMS = ['http://purl.org/dc/terms/'];
const RDFS = ['http://www.w3.org/2000/01/rdf-schema#'];
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

/** Where the code of an implementation is, in the words of different engines. */
const DOWNLOADS = [...DOAP.flatMap((doap) => ['download-url', 'download-page', 'file-release'].map((name) => doap + name))];

/** Whether a URL names a JavaScript module. */
export const isModule = (url: string): boolean => /\.m?js(?:[?#].*)?$/i.test(url);

/**
 * Reads a description.
 *
 * @param url absolute: base of its relative IRIs, and its name in messages
 * @throws Fault functions/invalid — the message lists all that is wrong, with line and column
 */
export function readDescription(text: string, url: string): readonly Binding[] {
  const { graph, findings } = parseDocuments([{ name: url, text }], { baseIri: url });
  const report = new Report();
  for (const { origin, message, hint } of findings) report.error('syntax', origin, message, hint);
  const bindings = findings.length > 0 ? [] : new DescriptionReader(graph, report).bindings();
  const diagnostics = report.sorted([url]);
  if (diagnostics.length > 0) throw new Fault('functions/invalid', diagnostics.map(formatDiagnostic).join('\n'));
  if (bindings.length > 0) return bindings;
  throw new Fault('functions/invalid', `${url} binds no function to code`, {
    hint: 'Add an fno:Mapping with fno:function, fno:implementation and fno:methodMapping; docs/custom-functions.md has an example',
  });
}

class DescriptionReader {
  readonly #graph: Graph;
  readonly #report: Report;

  constructor(graph: Graph, report: Report) {
    this.#graph = graph;
    this.#report = report;
  }

  bindings(): readonly Binding[] {
    const bound = new Map<string, { readonly code: Code; readonly node: GraphNode }>();
    for (const node of this.#graph.values()) {
      const mapped = this.#one(node, FNO, 'implementation') === undefined ? undefined : this.#one(node, FNO, 'function');
      const provided = this.#one(node, LIB, 'providedBy');
      const iri = mapped !== undefined ? this.#iri(mapped) : provided === undefined ? undefined : node.id;
      if (iri === undefined) continue;
      const code = mapped !== undefined ? this.#codeOfMapping(node) : this.#codeOfLibrary(node);
      if (code === undefined) continue;
      const other = bound.get(iri);
      if (other === undefined) bound.set(iri, { code, node });
      else if (JSON.stringify(other.code) !== JSON.stringify(code)) {
        this.#error(node, `${shortName(iri)} is bound to code twice`, `the other place is ${formatOrigin(other.node.origin)}`);
      }
    }
    const examples = this.#examples();
    return [...bound].flatMap(([iri, { code, node }]) => {
      const described = this.#graph.get(iri) ?? { id: iri, origin: node.origin, statements: [] };
      const definition = this.#definition(described, code, node, examples.get(iri) ?? []);
      return definition === undefined ? [] : [{ definition, code, origin: formatOrigin(described.origin) }];
    });
  }

  #error(at: GraphNode | Statement, message: string, hint: string): undefined {
    this.#report.error('invalid-call', at.origin, message, hint);
    return undefined;
  }

  #all(node: GraphNode | undefined, namespaces: readonly string[], name: string): readonly Statement[] {
    return node?.statements.filter(({ property }) => namespaces.some((namespace) => property === namespace + name)) ?? [];
  }

  #one(node: GraphNode | undefined, namespaces: readonly string[], name: string): Statement | undefined {
    const [first, second] = this.#all(node, namespaces, name);
    if (second !== undefined) this.#error(second, `${name} is given twice`, 'give it once');
    return first;
  }

  #node({ object }: Statement): GraphNode | undefined {
    const id = nodeId(object);
    return id === undefined ? undefined : this.#graph.get(id);
  }

  #iri(statement: Statement): string | undefined {
    if (statement.object.kind === 'iri') return statement.object.value;
    return this.#error(statement, 'a function has no IRI', 'name it by an IRI in <…>');
  }

  #text(statement: Statement | undefined): string | undefined {
    return statement?.object.kind === 'literal' || statement?.object.kind === 'iri' ? statement.object.value : undefined;
  }

  /** `fno:Mapping`: function, implementation and method. */
  #codeOfMapping(mapping: GraphNode): Code | undefined {
    const statement = this.#one(mapping, FNO, 'implementation') as Statement;
    const implementation = this.#node(statement);
    if (implementation === undefined) {
      return this.#error(statement, 'the implementation is not described', 'describe it: a fnoi:JavaClass, or a file of JavaScript');
    }
    const methods = this.#one(mapping, FNO, 'methodMapping');
    const method = this.#text(methods && this.#one(this.#node(methods), FNOM, 'method-name'));
    if (method === undefined) {
      return this.#error(mapping, 'the mapping names no method', 'add fno:methodMapping [ fnom:method-name "…" ]');
    }
    const className = this.#text(this.#one(implementation, FNOI, 'class-name'));
    const url = this.#download(implementation);
    if (className !== undefined) return { kind: 'jar', url, className, method };
    const isScript = this.#all(implementation, [RDF], 'type').some(({ object }) => /JavaScript/.test(object.value));
    if (isScript || (url !== undefined && isModule(url))) return { kind: 'module', url, name: method };
    return this.#error(
      implementation,
      'the implementation is neither a Java class nor a JavaScript module',
      'add fnoi:class-name "…" for Java, or doap:download-url <….mjs> for JavaScript',
    );
  }

  #download(implementation: GraphNode): string | undefined {
    const [first] = implementation.statements.filter(({ property }) => DOWNLOADS.includes(property));
    return this.#text(first);
  }

  /** As early descriptions for RMLMapper have it: `lib:providedBy [ lib:localLibrary "x.jar"; lib:class "X"; lib:method "m" ]`. */
  #codeOfLibrary(node: GraphNode): Code | undefined {
    const statement = this.#one(node, LIB, 'providedBy') as Statement;
    const library = this.#node(statement);
    const [className, method] = ['class', 'method'].map((name) => this.#text(this.#one(library, LIB, name)));
    if (className === undefined || method === undefined) {
      return this.#error(statement, 'the library names no class and method', 'add lib:class "…" and lib:method "…"');
    }
    return { kind: 'jar', url: this.#text(this.#one(library, LIB, 'localLibrary')), className, method };
  }

  #definition(node: GraphNode, code: Code, mapping: GraphNode, examples: readonly GraphNode[]): Binding['definition'] | undefined {
    const expects = this.#list(this.#one(node, FNO, 'expects'));
    const returned = this.#list(this.#one(node, FNO, 'returns'));
    const parameters = expects.flatMap((statement) => this.#parameter(statement, code) ?? []);
    const returns = returned.flatMap((statement) => this.#return(statement) ?? []);
    if (node.statements.length === 0) {
      return this.#error(
        mapping,
        `the function ${shortName(node.id)} is not described`,
        'describe it: a fno:Function with fno:expects and fno:returns',
      );
    }
    if (returns.length > 1) {
      return this.#error(returned[1] as Statement, "a function of one's own has one result", 'leave the others out');
    }
    const label = ['description'].map((name) => this.#text(this.#one(node, DCTERMS, name)))[0];
    const name = this.#text(this.#one(node, FNO, 'name')) ?? this.#text(this.#one(node, RDFS, 'label'));
    return {
      iri: node.id,
      aliases: [],
      name: shortName(node.id),
      does: label ?? name ?? "A function of one's own.",
      parameters,
      returns: returns.length > 0 ? returns : [{ name: 'result', iri: `${node.id}#result`, aliases: [], type: 'string' }],
      on: code.kind === 'jar' ? 'bytes' : 'characters',
      deterministic: true,
      total: false,
      examples: examples.flatMap((example) => this.#example(example, parameters, returns) ?? []),
    };
  }

  /** The members of an RDF list; statements so that each has its place. */
  #list(statement: Statement | undefined): readonly Statement[] {
    const members: Statement[] = [];
    const seen = new Set<GraphNode>();
    for (let next = statement; next !== undefined && next.object.value !== `${RDF}nil`; ) {
      const cell = this.#node(next);
      const first = this.#one(cell, [RDF], 'first');
      if (cell === undefined || first === undefined || seen.has(cell)) {
        this.#error(next, 'this is not a list', 'write ( … )');
        break;
      }
      seen.add(cell);
      members.push(first);
      next = this.#one(cell, [RDF], 'rest');
    }
    return members;
  }

  #parameter(statement: Statement, code: Code): Parameter | undefined {
    const node = this.#node(statement);
    const iri = nodeId(statement.object) as string;
    const known = findParameter(iri);
    if (node === undefined || this.#all(node, FNO, 'predicate').length + this.#all(node, FNO, 'type').length === 0) {
      if (known === undefined) {
        return this.#error(
          statement,
          `the parameter ${shortName(iri)} is not described`,
          'describe it: a fno:Parameter with fno:predicate and fno:type',
        );
      }
      return { ...known, type: typeOf(undefined, known.type, code), needs: 'value', default: undefined };
    }
    const predicate = this.#text(this.#one(node, FNO, 'predicate'));
    const required = this.#text(this.#one(node, FNO, 'required'));
    const needs: Need = required === 'false' || required === '0' ? 'nothing' : 'value';
    const aliases = [...(predicate === undefined ? [] : [predicate]), ...(known?.aliases ?? [])];
    const type = typeOf(this.#text(this.#one(node, FNO, 'type')), known?.type, code);
    const name = this.#text(this.#one(node, FNO, 'name')) ?? localName(predicate ?? iri);
    return { name, iri, aliases, type, needs, default: undefined };
  }

  #return(statement: Statement): Return | undefined {
    const node = this.#node(statement);
    const iri = nodeId(statement.object) as string;
    const known = findReturn(iri);
    const predicate = this.#text(this.#one(node, FNO, 'predicate'));
    if (node === undefined && known === undefined) {
      return this.#error(
        statement,
        `the output ${shortName(iri)} is not described`,
        'describe it: a fno:Output with fno:predicate and fno:type',
      );
    }
    const aliases = [...(predicate === undefined ? [] : [predicate]), ...(known?.aliases ?? [])];
    return { name: localName(predicate ?? iri), iri, aliases, type: 'string' };
  }

  /** Executions of the description, by function: arguments and result of a call. */
  #examples(): ReadonlyMap<string, readonly GraphNode[]> {
    const found = new Map<string, GraphNode[]>();
    for (const node of this.#graph.values()) {
      const iri = this.#text(this.#one(node, FNO, 'executes'));
      if (iri !== undefined) found.set(iri, [...(found.get(iri) ?? []), node]);
    }
    return found;
  }

  #example(node: GraphNode, parameters: readonly Parameter[], returns: readonly Return[]): Example | undefined {
    const valuesOf = ({ iri, aliases }: Parameter | Return): readonly string[] =>
      node.statements
        .filter(({ property }) => property === iri || aliases.includes(property))
        .flatMap((one) => (this.#isList(one.object) ? this.#list(one).map(({ object }) => object.value) : [one.object.value]));
    const given = parameters.map((parameter) => {
      const values = valuesOf(parameter);
      return parameter.type === 'list' ? values : (values[0] ?? null);
    });
    const [output] = returns;
    const results = output === undefined ? [] : valuesOf(output);
    return { given, gives: results.length > 1 ? results : (results[0] ?? null) };
  }

  #isList(term: RdfTerm): boolean {
    const id = nodeId(term);
    return term.value === `${RDF}nil` || (id !== undefined && this.#all(this.#graph.get(id), [RDF], 'first').length > 0);
  }
}

const localName = (iri: string): string => /[^#/]*$/.exec(iri)?.[0] || iri;

const INTEGERS: ReadonlySet<string> = new Set(
  ['integer', 'int', 'long', 'short', 'byte', 'nonNegativeInteger', 'positiveInteger', 'unsignedInt', 'unsignedLong'].map(
    (name) => XSD + name,
  ),
);
const NUMBERS: ReadonlySet<string> = new Set(['decimal', 'double', 'float'].map((name) => XSD + name));
const LISTS: ReadonlySet<string> = new Set([`${RDF}List`, `${RDF}Seq`, `${RDF}Bag`]);

/** What the code sees of an argument. Java converts texts itself, to the type of the method's parameter. */
function typeOf(type: string | undefined, known: ParameterType | undefined, code: Code): ParameterType {
  const named = type === undefined ? known : namedType(type);
  if (named === 'list') return 'list';
  return code.kind === 'jar' || named === undefined || named === 'any' || named === 'lazy' ? 'string' : named;
}

function namedType(type: string): ParameterType {
  if (INTEGERS.has(type)) return 'integer';
  if (NUMBERS.has(type)) return 'number';
  if (type === `${XSD}boolean`) return 'boolean';
  return LISTS.has(type) ? 'list' : 'string';
}
