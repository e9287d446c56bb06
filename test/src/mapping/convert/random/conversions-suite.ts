/** Random mappings that are converted along every way between the languages: each text on the way makes the same statements, or is refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { convertMapping, type Language } from '../../../../../src/mapping/convert/convert.ts';
import { formatDiagnostic } from '../../../../../src/mapping/model/diagnostics.ts';
import { Random } from '../../../../support/random.ts';
import { reportedLines, withoutLabels } from '../../../run/random/engine.ts';
import { inventMapping } from './mapping.ts';

const WAYS: readonly (readonly Language[])[] = [
  ['rml'],
  ['yarrrml', 'yarrrml', 'rml'],
  ['legacy', 'rml'],
  ['legacy', 'yarrrml', 'legacy', 'rml'],
  ['yarrrml', 'legacy', 'yarrrml'],
];

const CHECKS = ['error', 'warn', 'off'] as const;

/** Each seed is a mapping; a failure has it in its name. */
export function conversions(seeds: readonly number[]): void {
  describe('random mappings make the same statements in every language', () => {
    let directory: string;
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-conversions-'));
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    const counts = { statements: 0, same: 0, refused: 0, rejected: 0, illTyped: 0 };

    test.each(seeds)('seed %d', async (seed) => {
      const { text, files } = inventMapping(new Random(seed));
      for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
      const datatypeCheck = CHECKS[seed % CHECKS.length] as (typeof CHECKS)[number];
      /** Statements, rejected records, and counts of ill-typed literals. */
      const made = async (name: string, mapping: string): Promise<readonly string[]> => {
        writeFileSync(join(directory, name), mapping);
        // The languages differ in their defaults, and under `skip` in what they leave out with an invalid object.
        const policies = { onError: 'quarantine', maxRejected: 1e9, datatypeCheck } as const;
        const { lines, report } = await reportedLines({ mappings: [join(directory, name)], workingDirectory: directory, ...policies });
        const wrong = (report.flaws ?? [])
          .filter(({ kind }) => kind === 'ill-typed')
          .map(({ count, first }) => `${count} × ${first.message}`);
        return [...withoutLabels(lines), `rejected: ${report.rejected}`, ...wrong.sort()];
      };
      const expected = await made('mapping.ttl', text);
      counts.rejected += expected.includes('rejected: 0') ? 0 : 1;
      counts.illTyped += expected.some((line) => line.includes(' × ')) ? 1 : 0;
      counts.statements += expected.length;
      for (const way of WAYS) {
        let document = { name: 'mapping.ttl', text };
        for (const [step, to] of way.entries()) {
          const { text: next, diagnostics } = await convertMapping([document], to, { baseIri: 'http://example.com/map' });
          const trail = [...way.slice(0, step + 1)].join(' → ');
          const errors = diagnostics.filter(({ severity }) => severity === 'error');
          // What a language cannot say is reported. A text that would mean something else is a fault of the conversion.
          const wrong = errors.filter(({ code }) => code !== 'not-supported').map(formatDiagnostic);
          expect({ seed, trail, wrong, document: wrong.length > 0 ? document.text : '' }).toEqual({ seed, trail, wrong: [], document: '' });
          if (next === undefined) {
            counts.refused++;
            expect(errors.length).toBeGreaterThan(0);
            break;
          }
          document = { name: to === 'yarrrml' ? `mapping-${step}.yml` : `mapping-${step}.ttl`, text: next };
          const found = await made(document.name, next).catch((error: Error) => [error.message]);
          if (JSON.stringify(found) !== JSON.stringify(expected))
            expect({ seed, trail, found, text: next }).toEqual({ seed, trail, found: expected, text });
          counts.same++;
        }
      }
    });

    test('most of them are said by all languages', () => {
      expect(counts.statements).toBeGreaterThan(3 * seeds.length);
      expect(counts.same).toBeGreaterThan(2 * counts.refused);
      for (const many of [counts.rejected, counts.illTyped]) expect(many).toBeGreaterThan(seeds.length / 100);
    });
  });
}
