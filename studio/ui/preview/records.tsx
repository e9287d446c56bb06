/** The first records of a triples map: what its rules read of each, and what it gives. */
import { type ReactNode, useEffect, useState } from 'react';
import type { StudioPreviewMap, StudioRecords } from '../../../client/types.ts';
import { saidOf, type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { fileOf } from '../parts/statements/records.tsx';
import { useVisit } from '../store/visit.ts';
import type { Previewed } from './follow.ts';
import { WORDS } from './words.ts';

const SHOWN = 100;

export function Records({ previewed: { request, preview } }: { readonly previewed: Previewed }): ReactNode {
  const { service } = useVisit();
  // In the order of the text.
  const triplesMaps = [...preview.triplesMaps].sort((a, b) => a.line - b.line || a.column - b.column);
  const [wanted, setWanted] = useState<string | undefined>(undefined);
  const [isEmptyOnly, setEmptyOnly] = useState(false);
  const [shown, setShown] = useState(SHOWN);
  const [found, setFound] = useState<StudioRecords | Trouble | undefined>(undefined);
  const map = triplesMaps.find(({ id }) => id === wanted) ?? triplesMaps[0];
  const id = map?.id;
  useEffect(() => {
    if (id === undefined) return undefined;
    const controller = new AbortController();
    service.studio.listRecords({ ...request, triplesMap: id }, { signal: controller.signal }).then(
      (records) => !controller.signal.aborted && setFound(records),
      (error) => {
        const trouble = troubleOf(error);
        if (!controller.signal.aborted) setFound(trouble);
      },
    );
    return () => controller.abort();
  }, [service, request, id]);
  if (map === undefined) return <p className="preview-none">{WORDS.noMaps}</p>;
  return (
    <div className="preview-records">
      <div className="preview-graph-bar">
        <label>
          {WORDS.recordsOf}
          <select
            value={map.id}
            onChange={({ target }) => {
              setWanted(target.value);
              setFound(undefined);
              setShown(SHOWN);
            }}
          >
            {triplesMaps.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={isEmptyOnly} onChange={({ target }) => setEmptyOnly(target.checked)} />
          {WORDS.emptyOnly}
        </label>
        {map.without === undefined && <span>{WORDS.withoutJoins}</span>}
      </div>
      {found === undefined ? (
        <p className="preview-none" role="status">
          {WORDS.readingRecords}
        </p>
      ) : 'sentence' in found ? (
        <p className="preview-none" role="alert">
          {saidOf(found)}
        </p>
      ) : (
        <Table found={found} map={map} isEmptyOnly={isEmptyOnly} shown={shown} onMore={() => setShown(shown + SHOWN)} />
      )}
    </div>
  );
}

interface TableProps {
  readonly found: StudioRecords;
  readonly map: StudioPreviewMap;
  readonly isEmptyOnly: boolean;
  readonly shown: number;
  readonly onMore: () => void;
}

function Table({ found, map, isEmptyOnly, shown, onMore }: TableProps): ReactNode {
  const rows = found.rows.filter(({ statements }) => !isEmptyOnly || statements === 0);
  const late = found.late.map((input) => <p key={input}>{WORDS.late(fileOf(input) ?? input)}</p>);
  if (rows.length === 0)
    return <div className="preview-none">{late.length > 0 ? late : <p>{isEmptyOnly ? WORDS.noneEmpty : WORDS.noRecords}</p>}</div>;
  const names = found.rows[0]?.record.values.map(({ name }) => name) ?? [];
  const hasSeveralInputs = new Set(found.rows.map(({ record }) => record.places[0]?.input)).size > 1;
  return (
    // A scrolled part is reached by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className="preview-table" tabIndex={0} aria-label={WORDS.recordsTable(map.name)}>
      <table>
        <thead>
          <tr>
            <th scope="col">{WORDS.recordNumber}</th>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">{WORDS.gives}</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <tr key={JSON.stringify(row.record.places)} className={row.statements === 0 ? 'empty' : undefined}>
              <th scope="row">{recordLabel(row, hasSeveralInputs)}</th>
              {row.record.values.map(({ name, values }) => (
                <td key={name}>{values.length === 0 ? WORDS.noValue : values.join(', ')}</td>
              ))}
              <td>
                {row.statements}
                {row.statements === 0 && <small>{whyNone(row, map)}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && <Button onClick={onMore}>{WORDS.showMore(rows.length - shown)}</Button>}
      {found.more && <p>{WORDS.moreRecords}</p>}
      {late}
    </section>
  );
}

type Row = StudioRecords['rows'][number];

/** From 1, as people count; an item of a record has its position behind it. */
function recordLabel({ record: { places } }: Row, hasSeveralInputs: boolean): string {
  const [place] = places;
  const items = (place?.items ?? []).map(({ name, index }) => ` ${name} ${index + 1}`).join('');
  const number = place?.record === undefined ? '' : `${place.record + 1}`;
  return `${number}${items}${hasSeveralInputs ? ` ${fileOf(place?.input) ?? ''}` : ''}`;
}

function whyNone({ record: { values }, fault }: Row, { without }: StudioPreviewMap): string {
  if (fault !== undefined) return WORDS.rejectedBecause((fault as { readonly message?: string }).message ?? '');
  const missing = values.filter((one) => one.values.length === 0).map(({ name }) => name);
  if (missing.length > 0) return WORDS.missing(missing);
  return without === undefined ? '' : WORDS.noReason;
}
