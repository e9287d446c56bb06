/** `quadmill check`: what its formats hold. The words of diagnostics are in `messages/cases`. */

import { describe, expect, test } from '@jest/globals';
import { Parser } from 'n3';
import { DIAGNOSTIC_CODES } from '../../src/mapping/model/codes.ts';
import { type Files, withFiles } from './faults/trial.ts';
import { quadmillHere } from './messages/in-process.ts';

const PREFIXES = '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .';
const WRONG: Files = {
  'maps/a b.ttl': `${PREFIXES}
<#Person> rml:logicalSource <#people> ; rml:subjectMap [ rml:templat "http://example.com/{id}" ] .
<#people> rml:source "people.csv" .
`,
  'more.ttl': `${PREFIXES}
# 𝄞 takes two code units
<#City> rml:logicalSource <#people> ; # no subject
  rml:predicateObjectMap [ rml:predicate "𝄞" ; rml:object "x" ] .
`,
};
const GOOD: Files = {
  'good.ttl': `${PREFIXES} <#P> rml:logicalSource [ rml:source [ rml:path "people.csv" ] ] ; rml:subject ex:it .`,
};

const check = (files: Files, ...args: readonly string[]) =>
  withFiles(files, (directory) => quadmillHere(directory, 'check', ...Object.keys(files), ...args));

describe('--format json', () => {
  test('is an array of rows, sorted by document, line and column', async () => {
    const { code, out, err } = await check(WRONG, '--format', 'json');
    expect([code, err]).toEqual([2, '']);
    expect(JSON.parse(out)).toEqual([
      {
        severity: 'error',
        code: 'unknown-term',
        document: 'maps/a b.ttl',
        line: 2,
        column: 58,
        message: 'there is no property rml:templat',
        hint: 'did you mean rml:template?',
        key: null,
      },
      expect.objectContaining({ severity: 'warning', code: 'legacy-source', line: 3, column: 22 }),
      expect.objectContaining({ code: 'missing-subject-map', document: 'more.ttl', line: 3, column: 1 }),
      expect.objectContaining({ code: 'wrong-value', document: 'more.ttl', line: 4, column: 42 }),
    ]);
  });

  test('is an empty array where nothing is wrong', async () => {
    expect(await check(GOOD, '--format', 'json')).toEqual({ code: 0, out: '[]\n', err: '' });
  });
});

interface Log {
  readonly $schema: string;
  readonly version: string;
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly name: string; readonly version: string; readonly rules: readonly Rule[] } };
    readonly columnKind: string;
    readonly results: readonly Result[];
  }[];
}
interface Rule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
  readonly fullDescription: { readonly text: string };
  readonly defaultConfiguration: { readonly level: string };
}
interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number; readonly startColumn: number };
    };
  }[];
}

/** @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html */
describe('--format sarif', () => {
  const read = async (files: Files): Promise<Log['runs'][number] & { readonly code: number }> => {
    const { code, out } = await check(files, '--format', 'sarif');
    const log = JSON.parse(out) as Log;
    expect([log.version, log.runs.length]).toEqual(['2.1.0', 1]);
    return { code, ...(log.runs[0] as Log['runs'][number]) };
  };

  test('has a rule for each code, with a description', async () => {
    const { code, tool, columnKind, results } = await read(GOOD);
    expect([code, columnKind, results]).toEqual([0, 'utf16CodeUnits', []]);
    const { name, version, rules } = tool.driver;
    expect([name, version]).toEqual(['Quadmill', expect.stringMatching(/^\d+\.\d+\.\d+/)]);
    expect(rules.map(({ id }) => id)).toEqual(Object.keys(DIAGNOSTIC_CODES));
    for (const { shortDescription, fullDescription, defaultConfiguration } of rules) {
      expect(shortDescription.text).toMatch(/^[A-Z].*\.$/);
      expect(fullDescription.text.startsWith(shortDescription.text)).toBe(true);
      expect(['error', 'warning']).toContain(defaultConfiguration.level);
    }
  });

  test('has a result for each diagnostic, at a URI, with line and column', async () => {
    const { code, tool, results } = await read(WRONG);
    expect([code, results.length]).toEqual([2, 4]);
    for (const { ruleId, ruleIndex, level, message } of results) {
      expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
      expect(['error', 'warning']).toContain(level);
      expect(message.text).not.toBe('');
    }
    const [first, , , last] = results.map(({ locations }) => locations[0]?.physicalLocation);
    expect(first).toEqual({ artifactLocation: { uri: 'maps/a%20b.ttl' }, region: { startLine: 2, startColumn: 58 } });
    expect(last).toEqual({ artifactLocation: { uri: 'more.ttl' }, region: { startLine: 4, startColumn: 42 } });
    expect(results[0]?.message.text).toBe('there is no property rml:templat\ndid you mean rml:template?');
  });
});

test('columns count UTF-16 code units, as the parser of Turtle does', () => {
  const columns: number[] = [];
  const parser = new Parser();
  parser.parse('<a> <b> "𝄞", "x" .', { onToken: ({ start }: { start: number }) => columns.push(start) } as never);
  expect(columns).toContain('<a> <b> "𝄞", '.length);
});

test('a format that is misspelt is answered with the right one', async () => {
  const { code, err } = await check(GOOD, '--format', 'sarf');
  expect([code, err]).toEqual([
    2,
    "quadmill: --format is 'sarf', expected is one of text, json, sarif; did you mean sarif? (see quadmill check --help)\n",
  ]);
});
