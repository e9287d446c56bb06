/** Requests of bulk writes, and the statements that they write. */

import type { BulkRequest } from '../../../src/bulk/bulk.ts';
import { NO_LIMITS } from '../../../src/core/limits.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { TargetType } from '../../../src/targets/target.ts';

export function bulkRequest(
  directory: string,
  type: TargetType,
  endpoint: string,
  inputs: readonly string[],
  more: Partial<BulkRequest> = {},
  login?: { readonly username: string; readonly password: string },
): BulkRequest {
  return {
    runId: 'r1',
    inputs,
    workingDirectory: directory,
    target: {
      type,
      endpoint,
      username: login?.username,
      password: login && new Secret(login.password),
      ca: undefined,
      requestSeconds: 60,
      connectSeconds: 10,
      database: undefined,
      propertyGraph: { prefixes: {}, keepLanguage: true },
    },
    mode: 'insert',
    scope: 'property',
    blankNodes: 'skolem',
    skolemBase: 'http://example.com/.well-known/genid/',
    maxRejected: 10,
    patienceSeconds: 60,
    memoryBudgetBytes: 2 ** 26,
    limits: NO_LIMITS,
    spillDirectory: `${directory}/spill`,
    reach: undefined,
    resume: undefined,
    place: directory,
    loader: undefined,
    role: undefined,
    ...more,
  };
}

/** Statements with every kind of term, in two graphs and in none; each once. */
export const statements = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => {
    const objects = [
      `<http://example.com/s${(i * 7) % count}>`,
      `"text ${i}, \u00fcber \\"\u{1f600}\\" \\n"`,
      `"${i}"@en`,
      `"${i}"^^<http://www.w3.org/2001/XMLSchema#integer>`,
    ];
    const graph = i % 3 === 0 ? '' : ` <http://example.com/g${i % 3}>`;
    return `<http://example.com/s${i}> <http://example.com/p${i % 5}> ${objects[i % 4]}${graph} .`;
  });
