/** The text of the mapping, beside the canvas or alone. What is typed is read when the typing pauses; canvas and text follow each other. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Diagnostic } from '../../../src/mapping/model/model.ts';
import type { Anchor, Id, StudioDocument } from '../../core/document.ts';
import { matched } from '../../core/edit/matched.ts';
import { readingOf } from '../../core/read/language.ts';
import { Button } from '../parts/button.tsx';
import { announce } from '../store/announcements.ts';
import { useDocument, useEditor, useEditorState } from '../store/context.tsx';
import { termsOf } from '../store/terms.ts';
import { type CurrentText, keptOf, mappingText } from '../store/text.ts';
import { readBeside } from '../store/typing/reading.ts';
import { PAUSE_MS } from '../store/typing/typing.ts';
import { completionFor } from './code/completion.ts';
import { type CodeView, offsetIn, openCode } from './code/view.ts';
import './text.css';
import { WORDS } from './words.ts';

export default function TextRegion(): ReactNode {
  const current = useCurrentText();
  if (current === undefined) return <p role="status">{WORDS.reading}</p>;
  if (current === 'failed') return <p role="alert">{WORDS.failed}</p>;
  if (current.text !== undefined) return <Code text={current.text} of={current.of} />;
  return (
    <div className="mapping-text">
      <p>{WORDS.cannotPrint}</p>
      <ul>
        {[...new Set(current.diagnostics.map(({ message }) => message))].map((message) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </div>
  );
}

interface Shown extends CurrentText {
  /** The document that it is the text of. */
  readonly of: StudioDocument;
}

/** What the document stands for; while a text is printed, the one before. */
function useCurrentText(): Shown | 'failed' | undefined {
  const document = useDocument();
  const kept = useEditorState(keptOf);
  const [printed, setPrinted] = useState<Shown | 'failed' | undefined>(undefined);
  useEffect(() => {
    if (kept === 'text') return undefined;
    let isShown = true;
    mappingText(document, kept).then(
      (current) => isShown && setPrinted({ ...current, of: document }),
      () => isShown && setPrinted('failed'),
    );
    return () => {
      isShown = false;
    };
  }, [document, kept]);
  return kept === 'text' ? { text: document.text.text, diagnostics: [], of: document } : printed;
}

interface CodeProps {
  /** Of the document. */
  readonly text: string;
  readonly of: StudioDocument;
}

function Code({ text, of }: CodeProps): ReactNode {
  const editor = useEditor();
  const typed = useEditorState((state) => state.typed?.text);
  const isReadOnly = useEditorState(({ role }) => role === 'viewer');
  const isYaml = useEditorState(({ session }) => session.document.language === 'yarrrml');
  const selected = useEditorState(({ selection }) => selection.elements);
  const revealed = useEditorState((state) => state.revealed);
  const parent = useRef<HTMLDivElement>(null);
  const code = useRef<CodeView | undefined>(undefined);
  const shown = typed ?? text;
  const diagnostics = useDiagnostics(shown, typed !== undefined);
  const anchors = useAnchors(text, of);
  /** What the handlers of the editor look at, which is opened once. */
  const now = useRef({ text, anchors });
  now.current = { text, anchors };

  // biome-ignore lint/correctness/useExhaustiveDependencies: later texts are shown by the next effect
  useEffect(() => {
    const opened = openCode(parent.current as HTMLDivElement, shown, {
      label: WORDS.label,
      isYaml,
      isReadOnly,
      complete: completionFor(() => {
        const { session, schema } = editor.get();
        return { document: session.document, schema, terms: termsOf(session.document), anchors: now.current.anchors };
      }),
      changed: (next) => editor.type(next === now.current.text ? undefined : next),
      moved(offset) {
        const id = elementAt(now.current.anchors, offset, editor.get().session.document);
        const { elements, fields } = editor.get().selection;
        if (id !== undefined && (elements.length !== 1 || elements[0] !== id || fields.length > 0))
          editor.select({ elements: [id], fields: [] });
      },
      undo: () => editor.undo(),
      redo: () => editor.redo(),
      leave: () => (document.querySelector<HTMLElement>('#region-canvas, #region-inputs') as HTMLElement).focus(),
    });
    code.current = opened;
    return () => {
      opened.destroy();
      code.current = undefined;
    };
  }, [editor, isYaml, isReadOnly]);
  useEffect(() => code.current?.show(shown), [shown]);
  useEffect(() => {
    if (typed === undefined && of.text !== undefined) code.current?.forgetTyping();
  }, [typed, of.text]);
  useEffect(() => code.current?.setProblems(diagnostics), [diagnostics]);
  useEffect(() => {
    if (typed === undefined) code.current?.mark(selected.flatMap((id) => anchors.get(id) ?? []));
  }, [selected, anchors, typed]);
  useEffect(() => {
    if (revealed === undefined || code.current === undefined) return;
    if ('line' in revealed) code.current.goTo(offsetIn(shown, revealed));
    else {
      const [first] = anchors.get(revealed.of) ?? [];
      // The anchors of a printed text come after it.
      if (first === undefined && anchors.size === 0) return;
      if (first === undefined) code.current.focus();
      else code.current.goTo(first.from);
    }
    editor.reveal(undefined);
  }, [revealed, anchors, shown, editor]);

  const copy = (): void => {
    navigator.clipboard.writeText(code.current?.text() ?? shown).then(
      () => announce(WORDS.copied),
      () => announce(WORDS.notCopied),
    );
  };
  return (
    <div className="mapping-text">
      <div className="mapping-text-bar">
        <span>{isReadOnly ? WORDS.readOnly : WORDS.keys}</span>
        <Button onClick={copy}>{WORDS.copy}</Button>
      </div>
      <div className="mapping-text-code" ref={parent} />
    </div>
  );
}

const NO_DIAGNOSTICS: readonly Diagnostic[] = [];
type Anchors = ReadonlyMap<Id, readonly Anchor[]>;
const NO_ANCHORS: Anchors = new Map();

/** What the reader of mappings says of a text; of one that is typed, when the typing pauses. */
function useDiagnostics(text: string, isTyped: boolean): readonly Diagnostic[] {
  const editor = useEditor();
  const [diagnostics, setDiagnostics] = useState(NO_DIAGNOSTICS);
  useEffect(() => {
    let isShown = true;
    const read = (): void => {
      // An empty model is no fault.
      if (text.trim() === '') setDiagnostics(NO_DIAGNOSTICS);
      else
        readBeside(text, readingOf(editor.get().session.document)).then(
          (found) => isShown && setDiagnostics(found.diagnostics),
          () => isShown && announce(WORDS.notRead, 'assertive'),
        );
    };
    const timer = setTimeout(read, isTyped ? PAUSE_MS : 0);
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [text, isTyped, editor]);
  return diagnostics;
}

/** Where elements stand in the text of a document. A kept text has its anchors; those of a printed one are found by reading it. */
function useAnchors(text: string, of: StudioDocument): Anchors {
  const [found, setFound] = useState<{ readonly of: StudioDocument; readonly anchors: Anchors } | undefined>(undefined);
  const isKept = of.text.text === text;
  useEffect(() => {
    if (isKept) return undefined;
    let isShown = true;
    readBeside(text, readingOf(of)).then(
      (read) => isShown && setFound({ of, anchors: matched(of, read.document).text.anchors }),
      () => isShown && setFound(undefined),
    );
    return () => {
      isShown = false;
    };
  }, [text, of, isKept]);
  if (isKept) return of.text.anchors;
  return found?.of === of ? found.anchors : NO_ANCHORS;
}

/** The element whose range around an offset is the narrowest; for an attribute, the edge that leads to it is not meant. */
function elementAt(anchors: Anchors, offset: number, { records }: StudioDocument): Id | undefined {
  let best: { readonly id: Id; readonly length: number } | undefined;
  for (const [id, ranges] of anchors)
    for (const { from, to } of ranges)
      if (from <= offset && offset <= to && records.has(id) && to - from < (best?.length ?? Number.POSITIVE_INFINITY))
        best = { id, length: to - from };
  return best?.id;
}
