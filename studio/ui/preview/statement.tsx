/** What makes a statement: the rule, the records, and the values that the rule reads of them. */
import { type ReactNode, useEffect, useState } from 'react';
import type { StudioPreviewStatement, StudioStatement } from '../../../client/types.ts';
import { saidOf, type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { StatementRecords } from '../parts/statements/records.tsx';
import { useEscape } from '../store/page/escape.ts';
import { useVisit } from '../store/visit.ts';
import type { Previewed } from './follow.ts';
import { WORDS } from './words.ts';

interface DetailProps {
  readonly statement: StudioPreviewStatement;
  readonly previewed: Previewed;
  readonly onClose: () => void;
}

export function StatementDetail({ statement, previewed: { request, preview }, onClose }: DetailProps): ReactNode {
  const { service } = useVisit();
  const [found, setFound] = useState<StudioStatement | Trouble | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    service.studio.findStatement({ ...request, statement: statement.text }, { signal: controller.signal }).then(setFound, (error) => {
      const trouble = troubleOf(error);
      if (!controller.signal.aborted) setFound(trouble);
    });
    return () => controller.abort();
  }, [service, request, statement.text]);
  useEscape(true, onClose);
  const [maker] = statement.by;
  const map = maker === undefined ? undefined : preview.triplesMaps[maker.map];
  return (
    <section className="statement-detail" aria-label={statement.text}>
      <Button kind="quiet" icon="close" label={WORDS.close} onClick={onClose} />
      <code>{statement.text}</code>
      {map !== undefined && <p>{WORDS.madeBy(map.name, map.line)}</p>}
      {found === undefined ? (
        <p role="status">{WORDS.finding}</p>
      ) : 'sentence' in found ? (
        <p role="alert">{saidOf(found)}</p>
      ) : found.rows.length === 0 ? (
        <p>{found.late.length > 0 ? WORDS.noRecordYet : WORDS.noRecord}</p>
      ) : (
        <>
          <p>{WORDS.count(found.count)}</p>
          <StatementRecords rows={found.rows} />
        </>
      )}
    </section>
  );
}
