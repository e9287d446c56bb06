/** Collects and prints everything that is wrong with a mapping, in document order. */
import type { DiagnosticCode } from './codes.ts';
import { type Diagnostic, formatOrigin, type Origin } from './model.ts';

/** Collects diagnostics while a mapping is read. `errors` grows with every error, so a parser knows whether a part was valid. */
export class Report {
  readonly #found = new Map<string, Diagnostic>();
  #errors = 0;

  get errors(): number {
    return this.#errors;
  }

  /** An error that prevents the mapping from running. Equal findings at one place are kept once, since shared nodes are read more than once. */
  error(code: DiagnosticCode, origin: Origin, message: string, hint?: string): void {
    this.#errors++;
    this.#add({ severity: 'error', code, origin, message, hint });
  }

  warning(code: DiagnosticCode, origin: Origin, message: string, hint?: string): void {
    this.#add({ severity: 'warning', code, origin, message, hint });
  }

  #add(diagnostic: Diagnostic): void {
    const key = `${formatOrigin(diagnostic.origin)} ${diagnostic.code} ${diagnostic.message}`;
    if (!this.#found.has(key)) this.#found.set(key, diagnostic);
  }

  /** Sorted by document (in the order of `documents`), line and column. */
  sorted(documents: readonly string[]): Diagnostic[] {
    const order = new Map(documents.map((name, i) => [name, i]));
    const rank = (d: Diagnostic) => order.get(d.origin.document) ?? documents.length;
    return [...this.#found.values()].sort(
      (a, b) => rank(a) - rank(b) || a.origin.line - b.origin.line || a.origin.column - b.origin.column,
    );
  }
}

/** `file:line:column: error: message`; in YARRRML `error: key: message`. The hint, if there is one, follows on an indented line. */
export function formatDiagnostic({ origin, severity, message, hint }: Diagnostic): string {
  const key = origin.key === undefined ? '' : `${origin.key}: `;
  return `${formatOrigin(origin)}: ${severity}: ${key}${message}${hint === undefined ? '' : `\n    ${hint}`}`;
}
