/** The records that make a statement, with what its rule reads of them. */
import type { ReactNode } from 'react';
import type { StudioRecord, StudioStatement } from '../../../../client/types.ts';
import './statements.css';
import { WORDS } from './words.ts';

/** The last step of a path or URL. */
export const fileOf = (input: string | undefined): string | undefined => input?.slice(input.lastIndexOf('/') + 1);

export const StatementRecords = ({ rows }: Pick<StudioStatement, 'rows'>): ReactNode => (
  <ul>
    {rows.map(({ record, parent }) => (
      <li key={JSON.stringify([record.places, parent?.places])}>
        <RecordText record={record} />
        {parent !== undefined && (
          <>
            <p>{WORDS.parent}</p>
            <RecordText record={parent} />
          </>
        )}
      </li>
    ))}
  </ul>
);

function RecordText({ record: { places, values } }: { readonly record: StudioRecord }): ReactNode {
  return (
    <>
      <p>
        {places
          .filter(({ record }) => record !== undefined)
          .map(({ record, input }) => WORDS.record(record as number, fileOf(input)))
          .join(', ')}
      </p>
      <dl>
        {values.map(({ name, values: texts }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{texts.length === 0 ? WORDS.noValue : texts.join(', ')}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
