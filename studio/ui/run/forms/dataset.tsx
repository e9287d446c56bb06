/** The dataset of which a run makes a version: a field with those that are there. */
import { type ReactNode, useEffect, useState } from 'react';
import { DATASET_NAME } from '../../../../src/core/text.ts';
import { troubleOf } from '../../../client/service.ts';
import { Field } from '../../parts/field.tsx';
import { useVisit } from '../../store/visit.ts';
import { WORDS } from '../words.ts';

const { version: words } = WORDS;

export interface DatasetChoice {
  readonly field: ReactNode;
  /** undefined: the run makes no version. */
  readonly name: string | undefined;
  /** Why the name cannot be taken. */
  readonly why: string | undefined;
}

export function useDatasetChoice(): DatasetChoice {
  const { service } = useVisit();
  const [typed, setTyped] = useState('');
  const [known, setKnown] = useState<readonly string[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    service.datasets.list({ signal: controller.signal }).then(
      (datasets) => setKnown(datasets.map(({ name }) => name)),
      // A name can be typed all the same; the rest of the dialog shows what is wrong with the service.
      (error: unknown) => void troubleOf(error),
    );
    return () => controller.abort();
  }, [service]);
  const text = typed.trim();
  const why = text === '' || DATASET_NAME.test(text) ? undefined : words.wrong;
  const field = (
    <Field
      label={words.name}
      value={typed}
      hint={words.hint}
      error={why}
      options={known.map((value) => ({ value }))}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
  return { field, name: text === '' ? undefined : text, why };
}
