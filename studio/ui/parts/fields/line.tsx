import type { ReactNode } from 'react';
import type { Holds, SchemaField } from '../../../core/elements/schema.ts';
import { Icon, type IconName } from '../icon.tsx';
import './fields.css';
import { keySign, nullShare } from './rows.ts';
import { WORDS } from './words.ts';

const SIGNS: Readonly<Record<Holds, IconName>> = { value: 'value', list: 'list', object: 'object' };

/** What is seen of a field: its sign, its name, and what samples show of it. */
export function FieldLine({ field, text }: { readonly field: SchemaField; readonly text: string }): ReactNode {
  const { sample, holds, kind = sample?.kind } = field;
  const key = keySign(field);
  const share = nullShare(field);
  return (
    // The name of the row says all of it.
    <span className="line field-line" aria-hidden="true">
      <span className="sign">
        <Icon name={SIGNS[holds]} />
      </span>
      <span className="name">{text}</span>
      {key !== undefined && (
        <span className="key" title={key}>
          <Icon name="key" />
        </span>
      )}
      {sample !== undefined && (
        <>
          <span className="example">{sample.examples[0]}</span>
          {share !== undefined && (
            <span className="small muted share" title={share}>
              {share.replace(/ have.*/, '')} ∅
            </span>
          )}
        </>
      )}
      {kind !== undefined && <span className="small kind">{WORDS.kinds[kind]}</span>}
    </span>
  );
}
