/** Everything that is wrong with a model and its data, as far as the preview has seen it. */
import type { ReactNode } from 'react';
import type { StudioDocument } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { warningOf } from '../../core/rules/link.ts';
import { fileOf } from '../parts/statements/records.tsx';
import type { PreviewState } from './follow.ts';
import { WORDS } from './words.ts';

export interface Problem {
  readonly severity: 'error' | 'warning';
  /** From 1; undefined: it is not of the text. */
  readonly place?: { readonly line: number; readonly column: number };
  readonly message: string;
  readonly hint?: string | undefined;
}

/** In the order of the text; then what the data shows. */
export function problemsOf({ last, trouble, unprintable }: PreviewState): readonly Problem[] {
  const own: Problem[] = [];
  if (trouble !== undefined) own.push({ severity: 'error', message: trouble.sentence, hint: trouble.hint });
  for (const { message, hint } of unprintable) own.push({ severity: 'error', message: `${WORDS.cannotPrint} ${message}`, hint });
  if (last === undefined) return own;
  const { diagnostics, fault, late, rejected, warnings, triplesMaps } = last.preview;
  const placed = [...diagnostics]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .map(({ severity, line, column, message, hint }): Problem => ({ severity, place: { line, column }, message, hint }));
  return [
    ...own,
    ...placed,
    ...late.map((input): Problem => ({ severity: 'warning', message: WORDS.late(fileOf(input) ?? input), hint: WORDS.lateHint })),
    ...(fault === undefined ? [] : [problemOf(fault, '')]),
    ...rejected.map((one) => problemOf(one.fault, `${WORDS.rejected(one.triplesMap)}: `)),
    ...warnings.map((message): Problem => ({ severity: 'warning', message })),
    ...triplesMaps.flatMap(({ name, line, column, without = [], statements }): readonly Problem[] =>
      without.length === 0 || statements === 0
        ? []
        : [{ severity: 'warning', place: { line, column }, message: WORDS.withoutRecords(name, without.length) }],
    ),
  ];
}

/** Edges that break a modelling rule, as an expert has drawn or written them. */
export const warningsIn = (document: StudioDocument): readonly Problem[] =>
  recordsOf(document, 'edge').flatMap((edge): readonly Problem[] => {
    const warning = warningOf(document, edge);
    return warning === undefined ? [] : [{ severity: 'warning', message: `${nameOf(document, edge.id)}: ${warning}` }];
  });

interface Told {
  readonly message: string;
  readonly hint?: string;
  readonly place?: { readonly input?: string };
}

/** A fault, with the input that it is of. */
function problemOf(fault: unknown, before: string): Problem {
  const { message, hint, place } = fault as Told;
  const file = fileOf(place?.input);
  return { severity: 'error', message: `${before}${file === undefined || message.includes(file) ? '' : `${file}: `}${message}`, hint };
}

export function Problems({ problems }: { readonly problems: readonly Problem[] }): ReactNode {
  if (problems.length === 0) return <p className="preview-none">{WORDS.noProblems}</p>;
  return (
    <ul className="preview-problems">
      {problems.map(({ severity, place, message, hint }, i) => (
        // Two problems may say the same.
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is rebuilt each time
        <li key={i} className={severity}>
          <strong>{WORDS.severities[severity]}</strong>
          {place !== undefined && <span>{WORDS.at(place.line, place.column)}</span>}
          <span>
            {message}
            {hint !== undefined && <small>{hint}</small>}
          </span>
        </li>
      ))}
    </ul>
  );
}
