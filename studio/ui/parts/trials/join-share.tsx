/** How many of the first records find a partner by a join, asked of the service while the join is made. */
import { type ReactNode, useEffect, useState } from 'react';
import type { QuadmillClient } from '../../../../client/client.ts';
import type { StudioJoin } from '../../../../client/types.ts';
import { troubleOf } from '../../../client/service.ts';
import type { Id, StudioDocument } from '../../../core/document.ts';
import { joinOf, recordOf } from '../../../core/elements/records.ts';
import { useDocument, useEditorState } from '../../store/context.tsx';
import { useVisit } from '../../store/visit.ts';
import { trialOf } from './trial.ts';
import { WORDS } from './words.ts';

const CHILD = 'urn:quadmill:child';
const PARENT = 'urn:quadmill:parent';
const PREDICATE = 'urn:quadmill:joined';
const RECORDS = 100;
/** A person who types is not interrupted. */
const PAUSE_MS = 300;
const AGAIN_MS = 3_000;

/** Nothing for an edge that is no join, or has no condition yet, and for a viewer, who sees no values of inputs. */
export function JoinShare({ edge }: { readonly edge: Id }): ReactNode {
  const document = useDocument();
  const name = useEditorState(({ origin }) => origin.name);
  const { service, user } = useVisit();
  const [said, setSaid] = useState<{ readonly share: StudioJoin | undefined; readonly trouble?: string } | undefined>(undefined);
  const isOn = user.role !== 'viewer' && (joinOf(document, edge)?.conditions.length ?? 0) > 0;
  const { records } = document;
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the document only its records matter
  useEffect(() => {
    setSaid(undefined);
    if (!isOn) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout>;
    const ask = (): void => {
      shareOf(service, name, document, edge, signal).then(
        (share) => !signal.aborted && setSaid({ share }),
        (error) => {
          const trouble = troubleOf(error);
          if (trouble === undefined || signal.aborted) return;
          setSaid({ share: undefined, trouble: trouble.sentence });
          // The service is busy, or starts again.
          if (trouble.kind === 'away') timer = setTimeout(ask, AGAIN_MS);
        },
      );
    };
    timer = setTimeout(ask, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [isOn, service, name, records, edge]);
  if (!isOn) return null;
  if (said === undefined) return <output className="muted">{WORDS.asking}</output>;
  const { share, trouble } = said;
  if (share === undefined) return <output className="muted">{trouble === undefined ? WORDS.unknown : WORDS.failed(trouble)}</output>;
  const text = (keys: StudioJoin['without']): string => keys.map((key) => key.map((values) => values.join(' | ')).join(' + ')).join(', ');
  return (
    <output className={share.found === 0 ? 'trouble' : 'muted'}>
      <span>{WORDS.share(share)}</span>
      {share.without.length > 0 && <span>{WORDS.without(text(share.without), text(share.examples))}</span>}
    </output>
  );
}

/** @returns undefined: the join cannot be tried alone */
async function shareOf(
  { studio }: QuadmillClient,
  name: string,
  document: StudioDocument,
  id: Id,
  signal: AbortSignal,
): Promise<StudioJoin | undefined> {
  const edge = recordOf(document, 'edge', id);
  const join = joinOf(document, id);
  const child = edge && recordOf(document, 'entity', edge.from);
  const parent = edge && recordOf(document, 'entity', edge.to);
  const inputs = [child, parent].map((one) => one && recordOf(document, 'input', one.input));
  const [from, to] = inputs;
  if (edge === undefined || join === undefined || child === undefined || parent === undefined || from === undefined || to === undefined)
    return undefined;
  // Two of one input are one element.
  const trial = await trialOf(name, document, [
    from,
    to,
    { ...child, classes: [], graphs: [], parts: [CHILD] },
    { ...parent, classes: [], graphs: [], parts: child.id === parent.id ? [CHILD] : [PARENT] },
    { ...edge, predicates: [PREDICATE], graphs: [], part: CHILD },
    join,
  ]);
  if (trial === undefined || signal.aborted) return undefined;
  const request = { ...trial, child: CHILD, parent: child.id === parent.id ? CHILD : PARENT, records: RECORDS };
  return (await studio.joins(request, { signal }))[0];
}
