/** What a person has to know of the inputs: why one cannot be read, what of it is left out, and that it shows no field. */
import type { ReactNode } from 'react';
import { saidOf } from '../../client/service.ts';
import type { Id, Input } from '../../core/document.ts';
import { Button } from '../parts/button.tsx';
import { useSamples } from '../store/context.tsx';
import type { SampleStates } from '../store/samples.ts';
import { useStore } from '../store/store.ts';
import { WORDS } from './words.ts';

interface Note {
  readonly input: Id;
  readonly text: string;
  readonly isFault: boolean;
  /** More of it may show fields. */
  readonly mayReadMore: boolean;
}

export function InputNotes({ inputs }: { readonly inputs: readonly Input[] }): ReactNode {
  const samples = useSamples();
  const notes = notesOf(
    inputs,
    useStore(samples, (all) => all),
  );
  if (notes.length === 0) return null;
  return (
    // A scrolled part is reached by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className="input-notes" aria-label={WORDS.notes} tabIndex={0}>
      <ul>
        {notes.map(({ input, text, isFault, mayReadMore }) => (
          <li key={`${input} ${text}`}>
            <span className={isFault ? 'trouble' : 'muted'} role={isFault ? 'alert' : undefined}>
              {text}
            </span>
            {mayReadMore && <Button onClick={() => samples.read(input, true)}>{WORDS.deeper}</Button>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function notesOf(inputs: readonly Input[], states: SampleStates): readonly Note[] {
  return inputs.flatMap(({ id, name, location }): readonly Note[] => {
    const state = states.get(id);
    if (state?.kind === 'failed') return [{ input: id, text: `${name}: ${saidOf(state.trouble)}`, isFault: true, mayReadMore: false }];
    if (state?.kind !== 'read') return [];
    const { fields, complete, warnings, bytesRead, sheets = [], fault } = state.sample;
    const [sheet, ...others] = sheets;
    const isFirst = others.length > 0 && 'url' in location && !location.url.includes('#');
    const told = isFirst ? [...warnings, WORDS.sheets(sheet as string, others)] : warnings;
    const said = told.map(
      (one): Note => ({ input: id, text: `${name}: ${saidOf({ sentence: one })}`, isFault: false, mayReadMore: false }),
    );
    if (fault !== undefined)
      return [{ input: id, text: `${name}: ${saidOf(fault)} ${WORDS.untilFault}`, isFault: true, mayReadMore: false }, ...said];
    if (fields.length > 0) return said;
    const text = `${name}: ${complete ? WORDS.noFields : WORDS.noneWhole(bytesRead)}`;
    return [...said, { input: id, text, isFault: false, mayReadMore: !complete }];
  });
}
