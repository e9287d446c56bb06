import { type ReactNode, useMemo } from 'react';
import { around, lineDiff } from './line-diff.ts';

export interface DifferenceProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  /** Said where there is none. */
  readonly same: string;
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const;
const WORDS = { removed: 'removed: ', added: 'added: ', same: '' } as const;

/** Two texts in one column: lines that only the first has, and those that only the second has. */
export function Difference({ label, before, after, same }: DifferenceProps): ReactNode {
  const lines = useMemo(() => around(lineDiff(before, after)), [before, after]);
  if (before === after) return <p className="muted">{same}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard
    <section className="difference" aria-label={label} tabIndex={0}>
      {lines.map((line, i) =>
        line === 'gap' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: gaps have nothing else, and the list is rebuilt as a whole
          <div key={`gap-${i}`} className="gap">
            ⋯
          </div>
        ) : (
          <div key={`${line.before ?? ''}-${line.after ?? ''}`} className={line.kind}>
            <span className="number">{line.after ?? line.before}</span>
            <span aria-hidden="true">{SIGNS[line.kind]}</span>
            <span className="hidden">{WORDS[line.kind]}</span>
            <code>{line.text}</code>
          </div>
        ),
      )}
    </section>
  );
}
