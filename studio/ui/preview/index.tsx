/** The preview: what the model makes of the first records, and what is wrong with it. */
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import type { StudioPreview, StudioPreviewStatement } from '../../../client/types.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { useDocument, useEditor, useEditorState } from '../store/context.tsx';
import { PREVIEW_RECORDS } from '../store/editor.ts';
import { keptOf } from '../store/text.ts';
import { useVisit } from '../store/visit.ts';
import { type Previewed, usePreview } from './follow.ts';
import { Lines } from './lines.tsx';
import './preview.css';
import { type Prefixes, prefixesOf } from '../parts/statements/terms.ts';
import { Problems, problemsOf, warningsIn } from './problems.tsx';
import { Records } from './records.tsx';
import { StatementDetail } from './statement.tsx';
import { turtleOf } from './turtle.ts';
import { WORDS } from './words.ts';

type Tab = 'graph' | 'turtle' | 'nquads' | 'records' | 'problems';
const TABS: readonly Tab[] = ['graph', 'turtle', 'nquads', 'records', 'problems'];

const GraphView = lazy(() => import('./graph.tsx').then((one) => ({ default: one.GraphView })));

export default function PreviewRegion(): ReactNode {
  const { service, user } = useVisit();
  const editor = useEditor();
  const document = useDocument();
  const origin = useEditorState((state) => state.origin);
  const kept = useEditorState(keptOf);
  const hasEntity = recordsOf(document, 'entity').length > 0 || kept === 'text';
  const mayPreview = user.role !== 'viewer';
  const preview = usePreview(service, { name: origin.name, kept }, document, mayPreview && hasEntity, editor);
  const records = useEditorState(({ previewed }) => previewed.records);
  const [tab, setTab] = useState<Tab>('turtle');
  if (!mayPreview) return <Empty title={WORDS.title}>{WORDS.viewer}</Empty>;
  if (!hasEntity) return <Empty title={WORDS.title}>{WORDS.empty}</Empty>;
  const problems = [...problemsOf(preview), ...warningsIn(document)];
  const { last, isAsking } = preview;
  const isOlder = last !== undefined && (preview.trouble !== undefined || preview.unprintable.length > 0);
  return (
    <div className="preview" aria-busy={isAsking}>
      <div className="preview-bar">
        <fieldset className="modes">
          <legend className="hidden">{WORDS.tabs}</legend>
          {TABS.map((one) => (
            <Button key={one} kind="quiet" aria-pressed={tab === one} onClick={() => setTab(one)}>
              {one === 'problems' ? WORDS.problems(problems.length) : WORDS.tab[one]}
            </Button>
          ))}
        </fieldset>
        <span className="preview-summary" role="status">
          {isAsking ? WORDS.asking : last === undefined ? '' : isOlder ? WORDS.older : summaryOf(last.preview)}
        </span>
        {isAsking ? (
          <Button kind="quiet" onClick={preview.stop}>
            {WORDS.stop}
          </Button>
        ) : (
          <>
            {records < PREVIEW_RECORDS && (
              <Button kind="quiet" onClick={() => editor.setPreviewed({ records: PREVIEW_RECORDS })}>
                {WORDS.more(PREVIEW_RECORDS)}
              </Button>
            )}
            <Button kind="quiet" onClick={preview.ask}>
              {WORDS.again}
            </Button>
          </>
        )}
      </div>
      {tab === 'problems' ? (
        <Problems problems={problems} />
      ) : last === undefined ? null : tab === 'records' ? (
        <Records previewed={last} />
      ) : (
        <Statements tab={tab} previewed={last} isDimmed={isAsking || isOlder} />
      )}
    </div>
  );
}

function summaryOf({ statements, records, more, cut, late, diagnostics, fault }: StudioPreview): string {
  if (fault !== undefined) return WORDS.ended(statements.length);
  const summary = WORDS.summary(statements.length, records, more, cut.length > 0);
  if (late.length > 0) return `${summary}; ${WORDS.noTime}`;
  return diagnostics.some(({ severity }) => severity === 'error') ? `${summary}; ${WORDS.leftOut}` : summary;
}

interface StatementsProps {
  readonly tab: Exclude<Tab, 'problems' | 'records'>;
  readonly previewed: Previewed;
  readonly isDimmed: boolean;
}

function Statements({ tab, previewed, isDimmed }: StatementsProps): ReactNode {
  const document = useDocument();
  const [chosen, setChosen] = useState<StudioPreviewStatement | undefined>(undefined);
  const { statements, triplesMaps } = previewed.preview;
  const { records, base } = document;
  // biome-ignore lint/correctness/useExhaustiveDependencies: names depend on the records of the document and its base alone
  const prefixes = useMemo(() => prefixesOf(document), [records, base]);
  if (statements.length === 0) {
    return (
      <div className="preview-none">
        <p>{WORDS.none}</p>
        <ul>{triplesMaps.map(({ id, name, empty }) => empty !== undefined && <li key={id}>{WORDS.why(name, empty)}</li>)}</ul>
      </div>
    );
  }
  // A statement of an earlier preview may be gone.
  const detail = statements.find(({ text }) => text === chosen?.text);
  const choosing = { chosen: detail, onChoose: setChosen };
  return (
    <div className={`preview-columns${isDimmed ? ' dimmed' : ''}`}>
      {tab === 'graph' ? (
        <Suspense fallback={null}>
          <GraphView statements={statements} compact={prefixes.compact} {...choosing} />
        </Suspense>
      ) : (
        <StatementLines key={tab} tab={tab} statements={statements} prefixes={prefixes} {...choosing} />
      )}
      {detail !== undefined && (
        <StatementDetail key={detail.text} statement={detail} previewed={previewed} onClose={() => setChosen(undefined)} />
      )}
    </div>
  );
}

interface StatementLinesProps {
  readonly tab: 'turtle' | 'nquads';
  readonly statements: readonly StudioPreviewStatement[];
  readonly prefixes: Prefixes;
  readonly chosen: StudioPreviewStatement | undefined;
  readonly onChoose: (statement: StudioPreviewStatement) => void;
}

function StatementLines({ tab, statements, prefixes, ...choosing }: StatementLinesProps): ReactNode {
  const lines = useMemo(
    () => (tab === 'turtle' ? turtleOf(statements, prefixes) : statements.map((statement) => ({ text: statement.text, statement }))),
    [tab, statements, prefixes],
  );
  return <Lines label={WORDS.tab[tab]} lines={lines} {...choosing} />;
}
