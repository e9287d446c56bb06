/** The preview: what the model makes of the first records, and what is wrong with it. */
import { type ReactNode, useMemo, useState } from 'react';
import type { StudioPreview, StudioPreviewStatement } from '../../../client/types.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { useDocument, useEditorState } from '../store/context.tsx';
import { useVisit } from '../store/visit.ts';
import { compactor } from './compact.ts';
import { type Previewed, usePreview } from './follow.ts';
import './preview.css';
import { Problems, problemsOf } from './problems.tsx';
import { StatementDetail } from './statement.tsx';
import { WORDS } from './words.ts';

const SHOWN = 200;

export default function PreviewRegion(): ReactNode {
  const { service, user } = useVisit();
  const document = useDocument();
  const origin = useEditorState((state) => state.origin);
  const hasEntity = recordsOf(document, 'entity').length > 0 || origin.kept === 'text';
  const mayPreview = user.role !== 'viewer';
  const preview = usePreview(service, origin, document, mayPreview && hasEntity);
  const [tab, setTab] = useState<'statements' | 'problems'>('statements');
  if (!mayPreview) return <Empty title={WORDS.title}>{WORDS.viewer}</Empty>;
  if (!hasEntity) return <Empty title={WORDS.title}>{WORDS.empty}</Empty>;
  const problems = problemsOf(preview);
  const { last, isAsking } = preview;
  const isOlder = last !== undefined && (preview.trouble !== undefined || preview.unprintable.length > 0);
  return (
    <div className="preview" aria-busy={isAsking}>
      <div className="preview-bar">
        <fieldset className="modes">
          <legend className="hidden">{WORDS.tabs}</legend>
          <Button kind="quiet" aria-pressed={tab === 'statements'} onClick={() => setTab('statements')}>
            {WORDS.statements}
          </Button>
          <Button kind="quiet" aria-pressed={tab === 'problems'} onClick={() => setTab('problems')}>
            {WORDS.problems(problems.length)}
          </Button>
        </fieldset>
        <span className="preview-summary" role="status">
          {isAsking ? WORDS.asking : last === undefined ? '' : isOlder ? WORDS.older : summaryOf(last.preview)}
        </span>
        {isAsking ? (
          <Button kind="quiet" onClick={preview.stop}>
            {WORDS.stop}
          </Button>
        ) : (
          <Button kind="quiet" onClick={preview.ask}>
            {WORDS.again}
          </Button>
        )}
      </div>
      {tab === 'problems' ? (
        <Problems problems={problems} />
      ) : last === undefined ? null : (
        <Statements previewed={last} isDimmed={isAsking || isOlder} />
      )}
    </div>
  );
}

const summaryOf = ({ statements, records, more, cut }: StudioPreview): string =>
  WORDS.summary(statements.length, records, more, cut.length > 0);

function Statements({ previewed, isDimmed }: { readonly previewed: Previewed; readonly isDimmed: boolean }): ReactNode {
  const document = useDocument();
  const compact = useMemo(() => compactor(document), [document]);
  const [shown, setShown] = useState(SHOWN);
  const [chosen, setChosen] = useState<StudioPreviewStatement | undefined>(undefined);
  const { statements, triplesMaps } = previewed.preview;
  if (statements.length === 0) {
    return (
      <div className="preview-none">
        <p>{WORDS.none}</p>
        <ul>{triplesMaps.map(({ id, name, empty }) => empty !== undefined && <li key={id}>{WORDS.why(name, empty)}</li>)}</ul>
      </div>
    );
  }
  const left = statements.length - shown;
  // A statement of an earlier preview may be gone.
  const detail = statements.find(({ text }) => text === chosen?.text);
  return (
    <div className={`preview-columns${isDimmed ? ' dimmed' : ''}`}>
      <ul className="preview-statements" aria-label={WORDS.statements}>
        {statements.slice(0, shown).map((statement) => (
          <li key={statement.text}>
            <button
              type="button"
              title={statement.text}
              aria-pressed={statement.text === detail?.text}
              onClick={() => setChosen(statement)}
            >
              {compact(statement.text)}
            </button>
          </li>
        ))}
        {left > 0 && (
          <li>
            <Button onClick={() => setShown(shown + SHOWN)}>{WORDS.showMore(left)}</Button>
          </li>
        )}
      </ul>
      {detail !== undefined && (
        <StatementDetail key={detail.text} statement={detail} previewed={previewed} onClose={() => setChosen(undefined)} />
      )}
    </div>
  );
}
