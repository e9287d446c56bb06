/** Operators, each once: asked twice for the same operator, the builder returns the same object. */
import { FORMULATIONS } from '../../core/input/formats.ts';
import type { Dialect, LogicalSource, SqlSource, WebRequest } from '../../mapping/model/model.ts';
import type { Column, Expression, MapInfo, Operator, Project, Scan, Term } from '../algebra.ts';
import { expressionKey, termKey } from '../expressions.ts';

export class Builder {
  #columns = 0;
  readonly #scans = new Map<string, Scan>();
  readonly #projects = new Map<string, Project>();
  readonly #sides = new Map<Operator, Map<string, Project>>();

  column(name: string): Column {
    return { id: this.#columns++, name };
  }

  scan(source: LogicalSource, mapDialect: Dialect): Scan {
    const dialect = mapDialect === 'rml' ? 'rml' : 'legacy';
    const file = source.kind === 'file' && !FORMULATIONS[source.formulation].hasRows ? source : undefined;
    const key = JSON.stringify([sourceKey(source, dialect), file?.iterator]);
    const known = this.#scans.get(key);
    if (known !== undefined) return known;
    const origin = source.kind === 'sql' ? source.content.origin : (file?.iteratorOrigin ?? source.origin);
    const scan: Scan = {
      kind: 'scan',
      source,
      dialect,
      iterator: file?.iterator,
      origin,
      records: [this.column('')],
      index: this.column('#'),
      identity: this.column('identity'),
    };
    this.#scans.set(key, scan);
    return scan;
  }

  /**
   * Children with the same parent and the same parent keys share one.
   *
   * @param counts whether each row of the parent counts, also beside equal ones
   */
  project(input: Operator, map: MapInfo, keys: readonly Expression[], term: Term, counts: boolean): Project {
    const key = JSON.stringify([map.id, keys.map(expressionKey), termKey(term), counts]);
    const known = this.#projects.get(key);
    if (known !== undefined) return known;
    const project: Project = {
      kind: 'project',
      input,
      map,
      keys: keys.map((value, i) => ({ column: this.column(`key ${i + 1}`), value })),
      columns: [{ column: this.column('term'), value: term }],
      counts,
    };
    this.#projects.set(key, project);
    return project;
  }

  /** The right side of a join of views, which joins share. */
  side(
    input: Operator,
    keys: readonly Expression[],
    fields: readonly { readonly name: string; readonly value: Expression }[],
    counts: boolean,
  ): Project {
    const known = this.#sides.get(input) ?? new Map<string, Project>();
    this.#sides.set(input, known);
    const key = JSON.stringify([keys.map(expressionKey), fields.map(({ name, value }) => [name, expressionKey(value)]), counts]);
    const project: Project = known.get(key) ?? {
      kind: 'project',
      input,
      map: undefined,
      keys: keys.map((value, i) => ({ column: this.column(`key ${i + 1}`), value })),
      columns: fields.map(({ name, value }) => ({ column: this.column(name), value })),
      counts,
    };
    known.set(key, project);
    return project;
  }
}

/** Equal for documents that one pass can read: the same source with the same read options. */
export function sourceKey(source: Scan['source'], dialect: string): string {
  if (source.kind === 'sql-pairs') return JSON.stringify([source.kind, source.reader]);
  if (source.kind === 'sql') return JSON.stringify([sqlKey(source), source.nulls]);
  const { path, sheet, root, formulation, nulls, encoding, compression, namespaces, csv, request } = source;
  const asked = request?.kind === 'select' ? [request.query, request.results] : askedOf(request);
  return JSON.stringify([
    path,
    sheet,
    root,
    formulation,
    nulls,
    encoding,
    compression,
    namespaces,
    csv,
    asked,
    dialect,
    source.origin.document,
  ]);
}

/** Equal for sources with the same rows and the same reference syntax. */
export function sqlKey({ connection, content, references }: SqlSource): string {
  const database =
    connection === undefined ? null : [connection.jdbcUrl, connection.driver, connection.user, connection.password?.reveal()];
  switch (content.kind) {
    case 'table':
      return JSON.stringify([database, references, 'table', content.name]);
    case 'query':
      return JSON.stringify([database, references, 'query', content.sql]);
  }
}

const askedOf = (request: Exclude<WebRequest, { kind: 'select' }> | undefined): unknown => {
  if (request?.kind === 'topic') return [request.changes, request.content];
  return request === undefined ? undefined : [request.headers, request.mediaType, { ...request.paging, origin: undefined }];
};
