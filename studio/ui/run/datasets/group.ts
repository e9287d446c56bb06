/** Changed statements by their subjects. */
import { type StatementTerms, termsOf } from '../../parts/statements/terms.ts';

/** Statements that the version before does not have, or those that it alone has. */
export type Which = 'added' | 'removed';

export interface ChangedStatement extends StatementTerms {
  /** A line of N-Quads. */
  readonly text: string;
}

export interface ChangedSubject {
  /** As N-Quads writes it. */
  readonly subject: string;
  readonly statements: readonly ChangedStatement[];
}

/** In the order in which subjects come first. */
export function bySubject(texts: readonly string[]): readonly ChangedSubject[] {
  const groups = new Map<string, ChangedStatement[]>();
  for (const text of texts) {
    const terms = termsOf(text);
    const statement = { text, ...terms };
    const group = groups.get(terms.subject);
    if (group === undefined) groups.set(terms.subject, [statement]);
    else group.push(statement);
  }
  return [...groups].map(([subject, statements]) => ({ subject, statements }));
}

/**
 * What a person types to find subjects → a part of the subjects, as the service looks for it: a short name becomes its IRI.
 *
 * @param prefixes IRIs by their names
 * @returns undefined: nothing is looked for
 */
export function subjectPart(typed: string, prefixes: ReadonlyMap<string, string>): string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const [, name, local] = /^([\w.-]*):(?!\/\/)(.*)$/s.exec(text) ?? [];
  const iri = name === undefined ? undefined : prefixes.get(name);
  return iri === undefined ? text : `<${iri}${local}`;
}
