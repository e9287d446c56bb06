/** Diagnostics as text for people, as JSON for programs, and as SARIF for code scanning services. */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../../src/config/version.ts';
import { DIAGNOSTIC_CODES } from '../../src/mapping/model/codes.ts';
import { formatDiagnostic } from '../../src/mapping/model/diagnostics.ts';
import type { Diagnostic } from '../../src/mapping/model/model.ts';

export const DIAGNOSTIC_FORMATS = ['text', 'json', 'sarif'] as const;
export type DiagnosticFormat = (typeof DIAGNOSTIC_FORMATS)[number];

/** @param triplesMaps the number of triples maps without error */
export function printedDiagnostics(diagnostics: readonly Diagnostic[], triplesMaps: number, format: DiagnosticFormat): string {
  switch (format) {
    case 'text':
      return [...diagnostics.map(formatDiagnostic), summaryOf(diagnostics, triplesMaps)].join('\n');
    case 'json':
      return JSON.stringify(diagnostics.map(rowOf), undefined, 2);
    case 'sarif':
      return JSON.stringify(sarifOf(diagnostics), undefined, 2);
  }
}

function summaryOf(diagnostics: readonly Diagnostic[], triplesMaps: number): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const maps = plural(triplesMaps, 'triples map');
  if (diagnostics.length === 0) return `${maps}, nothing wrong`;
  return `${plural(errors, 'error')}, ${plural(warnings, 'warning')}, ${maps} without error`;
}

const plural = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? '' : 's'}`;

/** `docs/diagnostics.md` describes the members; they stay as they are. */
const rowOf = ({ severity, code, origin: { document, line, column, key }, message, hint }: Diagnostic): object => ({
  severity,
  code,
  document,
  line,
  column,
  key: key ?? null,
  message,
  hint: hint ?? null,
});

const CODES = Object.entries(DIAGNOSTIC_CODES);
const INDEXES = new Map(CODES.map(([code], index) => [code, index]));

/** @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html */
function sarifOf(diagnostics: readonly Diagnostic[]): object {
  const rules = CODES.map(([id, { severity, summary }]) => ({
    id,
    shortDescription: { text: summary.replace(/(?<=\.) .*$/s, '') },
    fullDescription: { text: summary },
    defaultConfiguration: { level: severity === 'warning' ? 'warning' : 'error' },
  }));
  const results = diagnostics.map(({ severity, code, origin, message, hint }) => ({
    ruleId: code,
    ruleIndex: INDEXES.get(code),
    level: severity,
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(origin.document) },
          region: { startLine: origin.line, startColumn: origin.column },
        },
        ...(origin.key === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: origin.key }] }),
      },
    ],
  }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'Quadmill', version: VERSION, rules } }, columnKind: 'utf16CodeUnits', results }],
  };
}

/** A document as a URI: relative to the working directory, if the command line names it so. */
function uriOf(document: string): string {
  if (/^[a-z][a-z\d+.-]+:/i.test(document)) return document;
  if (isAbsolute(document)) return pathToFileURL(document).href;
  return document.split(/[/\\]/).map(encodeURIComponent).join('/');
}
