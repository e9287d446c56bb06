/** What a mapping reads that can be followed: its tables, and what it says of their columns. */
import { createHash } from 'node:crypto';
import { Fault } from '../../core/fault.ts';
import { callsChance } from '../../datasets/records/reasons.ts';
import { formatDiagnostic } from '../../mapping/model/diagnostics.ts';
import { allSourcesOf, type ErrorPolicy, type Mapping, mapsIn, policyOf, type SqlSource } from '../../mapping/model/model.ts';
import type { Plan } from '../../plan/plan.ts';
import { planMapping } from '../../plan/planning.ts';
import { loadMapping } from '../../run/prepare/load.ts';
import { OpenedRun } from '../../run/prepare/open.ts';
import { DEFAULT_BASE, type RunRequest } from '../../run/request.ts';
import { readingsIn, type TopicReading } from '../topics/readings.ts';
import { type DeclaredType, declaredType } from './columns.ts';

export interface FollowedMapping {
  /** Each reads a table; several may read the same one. */
  readonly sources: readonly SqlSource[];
  /** Where there is no table, at least one. */
  readonly topics: readonly TopicReading[];
  /** As the mapping writes them. */
  readonly references: ReadonlyMap<SqlSource, readonly string[]>;
  /** By reference: the datatype of a literal that is made of it. */
  readonly declared: ReadonlyMap<SqlSource, ReadonlyMap<string, DeclaredType>>;
  /** Whether equal rows make an equal graph: no other input is read, and no function gives values by chance or of the time. */
  readonly isRepeatable: boolean;
  /** Of messages that are no changes. */
  readonly policy: ErrorPolicy;
  /** Of the documents, and of the options that the statements depend on. */
  readonly digest: string;
}

/**
 * Reads the mapping of a follower.
 *
 * @param wrongQuery what is said of a query
 * @throws Fault mapping/invalid — with a line for each source that cannot be followed; those of `loadMapping`
 */
export async function followedMapping(
  request: RunRequest,
  signal: AbortSignal | undefined,
  wrongQuery = 'a query cannot be followed: its changes are in no log',
): Promise<FollowedMapping> {
  const { workingDirectory, reach, web } = request;
  const base = request.base ?? DEFAULT_BASE;
  const opened = new OpenedRun();
  try {
    await opened.openFunctions(request);
    const read = { baseIri: base, separate: false, functions: opened.functions };
    const { mapping, documents } = await loadMapping(request.mappings, read, {
      workingDirectory,
      reach,
      s3: web.s3,
      ...(signal && { signal }),
    });
    const { onError, datatypeCheck, rdf, xmlDefaultNamespace, inputs, inputOptions, database } = request;
    const options = [
      base,
      onError,
      datatypeCheck,
      rdf,
      xmlDefaultNamespace,
      inputs,
      inputOptions,
      database?.jdbcUrl,
      opened.functions?.version,
    ];
    const plan = planMapping(mapping, base);
    const topics = readingsIn(plan);
    return {
      sources: tablesIn(mapping, topics, wrongQuery),
      topics,
      references: referencesIn(plan),
      declared: declaredIn(mapping),
      isRepeatable: allSourcesOf(mapping).every(({ kind }) => kind === 'sql') && !callsChance(plan),
      policy: mapping.triplesMaps.some(({ dialect }) => policyOf(dialect, onError) === 'strict') ? 'strict' : (onError ?? 'skip'),
      digest: createHash('sha256')
        .update(JSON.stringify([documents, options]))
        .digest('hex'),
    };
  } finally {
    await opened.close();
  }
}

function tablesIn(mapping: Mapping, topics: readonly TopicReading[], wrongQuery: string): readonly SqlSource[] {
  const sources = [...new Set(allSourcesOf(mapping))].filter((source) => source.kind === 'sql');
  const queries = sources.filter(({ content }) => content.kind === 'query');
  if (queries.length > 0) throw refused(queries, wrongQuery, QUERY_HINT);
  if (sources.length === 0 && topics.length === 0)
    throw new Fault('mapping/invalid', 'The mapping reads no table and no topic, so there is nothing to follow', {
      hint: 'Follow reads rr:tableName, rml:SQL2008Table with a table in rml:iterator, and topics (docs/streams.md); quadmill run --dataset reads files',
    });
  return sources;
}

const QUERY_HINT = 'name its tables (rr:tableName), and join them in the mapping (rr:joinCondition)';

/** A fault with a line for each source. */
export const refused = (sources: readonly SqlSource[], message: string, hint: string): Fault =>
  new Fault(
    'mapping/invalid',
    sources
      .map(({ content: { origin } }) => formatDiagnostic({ severity: 'error', code: 'contradiction', origin, message, hint }))
      .join('\n'),
  );

function referencesIn({ scans }: Plan): ReadonlyMap<SqlSource, readonly string[]> {
  const found = new Map<SqlSource, string[]>();
  for (const { source, iterations } of scans) {
    if (source.kind !== 'sql') continue;
    const own = found.get(source) ?? [];
    found.set(source, own);
    for (const { references } of iterations) own.push(...references);
  }
  return found;
}

function declaredIn(mapping: Mapping): ReadonlyMap<SqlSource, ReadonlyMap<string, DeclaredType>> {
  const found = new Map<SqlSource, Map<string, DeclaredType>>();
  for (const map of mapping.triplesMaps) {
    const { source } = map;
    if (source.kind !== 'sql') continue;
    const own = found.get(source) ?? new Map<string, DeclaredType>();
    found.set(source, own);
    for (const one of mapsIn(map)) {
      if (one.kind !== 'term' || one.expression.kind !== 'reference' || one.datatype?.expression.kind !== 'constant') continue;
      const declared = declaredType(one.datatype.expression.term.value);
      if (declared !== undefined) own.set(one.expression.reference, declared);
    }
  }
  return found;
}
