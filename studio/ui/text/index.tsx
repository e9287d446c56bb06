/** The text of the mapping, as it would be saved. It is not edited here. */
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { announce } from '../store/announcements.ts';
import { useDocument, useEditorState } from '../store/context.tsx';
import { type CurrentText, textOf } from '../store/text.ts';
import './text.css';
import { WORDS } from './words.ts';

export default function TextRegion(): ReactNode {
  const document = useDocument();
  const kept = useEditorState(({ origin }) => origin.kept);
  const [current, setCurrent] = useState<CurrentText | 'failed' | undefined>(undefined);
  useEffect(() => {
    let isShown = true;
    textOf(document, kept).then(
      (text) => isShown && setCurrent(text),
      () => isShown && setCurrent('failed'),
    );
    return () => {
      isShown = false;
    };
  }, [document, kept]);
  if (current === undefined) return <p role="status">{WORDS.reading}</p>;
  if (current === 'failed') return <p role="alert">{WORDS.failed}</p>;
  const { text, diagnostics } = current;
  if (text === undefined) {
    return (
      <div className="mapping-text">
        <p>{WORDS.cannotPrint}</p>
        <ul>
          {[...new Set(diagnostics.map(({ message }) => message))].map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      </div>
    );
  }
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => announce(WORDS.copied),
      () => announce(WORDS.notCopied),
    );
  };
  return (
    <div className="mapping-text">
      <div className="mapping-text-bar">
        <span>{WORDS.readOnly}</span>
        <Button onClick={copy}>{WORDS.copy}</Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and by keyboard too */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
