/** The topics that a mapping reads, and how. */
import { createHash } from 'node:crypto';
import { redact } from '../../core/redact.ts';
import type { FileSource, TopicRequest } from '../../mapping/model/model.ts';
import type { Plan } from '../../plan/plan.ts';

/** A logical source over a topic. */
export type TopicSource = FileSource & { readonly request: TopicRequest };

export const isTopicSource = (source: { readonly kind: string; readonly request?: unknown }): source is TopicSource =>
  source.kind === 'file' && (source.request as TopicRequest | undefined)?.kind === 'topic';

/** A topic as a follower keeps it. Several logical sources may read it so. */
export interface TopicReading {
  /** By which the follower names what it keeps. */
  readonly table: string;
  /** Or the pattern of several. */
  readonly topic: string;
  /** `host:port`, sorted. */
  readonly brokers: readonly string[];
  readonly source: TopicSource;
  readonly dialect: 'rml' | 'legacy';
  /** A value is valid if all of them can be evaluated on it. */
  readonly iterators: readonly (string | undefined)[];
}

/** What is kept of a topic depends on all that decides how values are read. Two sources with equal texts share it. */
export function tableOf({ request, path, formulation, encoding, csv, namespaces }: TopicSource): string {
  const { changes, content, topic } = request;
  // A change of a row is read in one way.
  if (changes === 'debezium') return `${redact(path)} ${changes}`;
  const read = createHash('sha256')
    .update(JSON.stringify([path, encoding, csv, namespaces]))
    .digest('hex')
    .slice(0, 16);
  return `${topic} ${changes} ${content === 'text' ? 'text' : formulation} ${read}`;
}

/** Whether `tableOf` has made the name: those of tables have no space, or no such word. */
export const isTopicTable = (name: string): boolean => / (?:append|upsert) \S+ [0-9a-f]{16}$|^kafka:\S+ debezium$/.test(name);

/** The topics that a plan reads, each once. */
export function readingsIn({ scans }: Plan): readonly TopicReading[] {
  const found = new Map<string, TopicReading>();
  for (const { source, iterations, dialect } of scans) {
    if (source.kind !== 'file' || !isTopicSource(source)) continue;
    const table = tableOf(source);
    const iterators = [...new Set([...(found.get(table)?.iterators ?? []), ...iterations.map(({ iterator }) => iterator)])];
    const { topic, brokers } = source.request;
    found.set(table, { table, topic, brokers: [...brokers].sort(), source, dialect, iterators });
  }
  return [...found.values()];
}
