/** The guided example: a card for each step, beside the real screen. It waits for what is asked, and goes back when that is undone. */
import { type ReactNode, useEffect, useState } from 'react';
import { saidOf, type Trouble, troubleOf } from '../../client/service.ts';
import { upload } from '../../client/upload.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { announce } from '../store/announcements.ts';
import { useDocument, useEditor, useEditorState } from '../store/context.tsx';
import { GUIDED, guide, HAS_RUN } from '../store/page/guide.ts';
import { useStore } from '../store/store.ts';
import { EXAMPLE_FILES } from './files.ts';
import './guide.css';
import { STEPS, type StepName } from './steps.ts';
import { WORDS } from './words.ts';

export default function Guide(): ReactNode {
  const name = useEditorState(({ origin }) => origin.name);
  return useStore(GUIDED, (guided) => guided === name) ? <Card /> : null;
}

function Card(): ReactNode {
  const editor = useEditor();
  const document = useDocument();
  const canUndo = useEditorState(({ session }) => session.done.length > 0);
  const hasRun = useStore(HAS_RUN, (all) => all);
  const [skipped, setSkipped] = useState<ReadonlySet<StepName>>(new Set());
  const at = STEPS.findIndex(({ name, isDone }) => !skipped.has(name) && !isDone(document, hasRun));
  const step = STEPS[at]?.name;
  const title = step === undefined ? WORDS.done : WORDS.steps[step].title;
  useEffect(() => announce(step === undefined ? title : `${WORDS.step(at + 1, STEPS.length)}: ${title}`), [step, title, at]);
  return (
    <aside className="guide" aria-label={WORDS.label}>
      {step !== undefined && <p className="small muted">{WORDS.step(at + 1, STEPS.length)}</p>}
      <h2>{title}</h2>
      <p>{step === undefined ? WORDS.doneText : WORDS.steps[step].text}</p>
      {step !== undefined && <p className="muted">{WORDS.steps[step].hint}</p>}
      {step === 'add' && <AddFiles />}
      <div className="guide-buttons">
        {canUndo && (
          <Button kind="quiet" onClick={() => editor.undo()}>
            {WORDS.undo}
          </Button>
        )}
        {step !== undefined && (
          <Button kind="quiet" onClick={() => setSkipped(new Set([...skipped, step]))}>
            {WORDS.skip}
          </Button>
        )}
        <Button onClick={() => guide(undefined)}>{WORDS.leave}</Button>
      </div>
    </aside>
  );
}

function AddFiles(): ReactNode {
  const editor = useEditor();
  const [state, setState] = useState<'adding' | Trouble | undefined>(undefined);
  const add = async (): Promise<void> => {
    setState('adding');
    try {
      for (const { name, format, content } of EXAMPLE_FILES) {
        if (recordsOf(editor.get().session.document, 'input').some((input) => input.name === name)) continue;
        const { url } = await upload(new File([content], name), name, () => undefined, new AbortController().signal);
        editor.dispatch('add-input', { name, location: { kind: 'upload', url }, format });
      }
      setState(undefined);
    } catch (error) {
      setState(troubleOf(error));
    }
  };
  return (
    <>
      {typeof state === 'object' && (
        <p className="trouble" role="alert">
          {saidOf(state)}
        </p>
      )}
      <Button kind="primary" disabled={state === 'adding' && WORDS.adding} onClick={() => void add()}>
        {WORDS.addFiles}
      </Button>
    </>
  );
}
