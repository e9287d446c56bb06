/** Statements as text, each to be chosen. */
import { type ReactNode, useState } from 'react';
import type { StudioPreviewStatement } from '../../../client/types.ts';
import { Button } from '../parts/button.tsx';
import { announce } from '../store/announcements.ts';
import type { Line } from './turtle.ts';
import { WORDS } from './words.ts';

interface LinesProps {
  readonly label: string;
  readonly lines: readonly Line[];
  readonly chosen: StudioPreviewStatement | undefined;
  readonly onChoose: (statement: StudioPreviewStatement) => void;
}

const SHOWN = 200;

export function Lines({ label, lines, chosen, onChoose }: LinesProps): ReactNode {
  const [shown, setShown] = useState(SHOWN);
  const left = lines.length - shown;
  return (
    <div className="preview-text">
      <ul className="preview-statements" aria-label={label}>
        {lines.slice(0, shown).map(({ text, statement }) => (
          <li key={statement === undefined ? text : statement.text}>
            {statement === undefined ? (
              <code>{text}</code>
            ) : (
              <button
                type="button"
                title={statement.text}
                aria-pressed={statement.text === chosen?.text}
                onClick={() => onChoose(statement)}
              >
                {text}
              </button>
            )}
          </li>
        ))}
        {left > 0 && (
          <li>
            <Button onClick={() => setShown(shown + SHOWN)}>{WORDS.showMore(left)}</Button>
          </li>
        )}
      </ul>
      <CopyButton lines={lines} />
    </div>
  );
}

/** A page that is not served over TLS, or from this computer, has no clipboard. */
function CopyButton({ lines }: { readonly lines: readonly Line[] }): ReactNode {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(`${lines.map(({ text }) => text).join('\n')}\n`);
      announce(WORDS.copied);
    } catch {
      announce(WORDS.notCopied, 'assertive');
    }
  };
  return (
    <Button kind="quiet" disabled={navigator.clipboard === undefined && WORDS.noClipboard} onClick={() => void copy()}>
      {WORDS.copy}
    </Button>
  );
}
