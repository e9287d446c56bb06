/** Collects and prints what is wrong with a mapping: all of it at once, in the order of the documents. */
import { type Diagnostic, formatOrigin, type Origin } from './model.ts';

/** Gathers diagnostics while a mapping is read; `errors` grows with every error, so a reader sees whether a part of it was sound. */
export class Report {
  readonly #found = new Map<string, Diagnostic>();
  #errors = 0;

  get errors(): number {
    return this.#errors;
  }

  /** A finding that ends the mapping. The same finding at the same place is kept once: shared nodes are read more than once. */
  error(code: string, origin: Origin, message: string, hint?: string): void {
    this.#errors++;
    this.#add({ severity: 'error', code, origin, message, hint });
  }

  warning(code: string, origin: Origin, message: string, hint?: string): void {
    this.#add({ severity: 'warning', code, origin, message, hint });
  }

  #add(diagnostic: Diagnostic): void {
    const key = `${formatOrigin(diagnostic.origin)} ${diagnostic.code} ${diagnostic.message}`;
    if (!this.#found.has(key)) this.#found.set(key, diagnostic);
  }

  /** By document in the order of `documents`, then line, then column. */
  sorted(documents: readonly string[]): Diagnostic[] {
    const order = new Map(documents.map((name, i) => [name, i]));
    const rank = (d: Diagnostic) => order.get(d.origin.document) ?? documents.length;
    return [...this.#found.values()].sort(
      (a, b) => rank(a) - rank(b) || a.origin.line - b.origin.line || a.origin.column - b.origin.column,
    );
  }
}

/** `file:line:column: error: message`, then the hint on an indented line of its own where there is one. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { origin, severity, message, hint } = diagnostic;
  return `${formatOrigin(origin)}: ${severity}: ${message}${hint === undefined ? '' : `\n    ${hint}`}`;
}
