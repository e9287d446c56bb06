/** What is shown of an answer: it is on its way, something is wrong, or it is there. */
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import type { Asked } from './asking.ts';
import { WORDS } from './words.ts';

interface AnsweredProps<T> {
  readonly asked: Asked<T>;
  readonly children: (answer: T) => ReactNode;
}

export function Answered<T>({ asked: { answer, trouble, again }, children }: AnsweredProps<T>): ReactNode {
  if (trouble !== undefined) {
    return (
      <Empty title={trouble.sentence} actions={<Button onClick={again}>{WORDS.tryAgain}</Button>}>
        {trouble.hint}
      </Empty>
    );
  }
  return answer === undefined ? <p className="muted">{WORDS.loading}</p> : children(answer);
}
