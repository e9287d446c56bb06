/** The editor of the text: CodeMirror, which gets what to show and what is wrong. It knows nothing of models. */
import { autocompletion, type CompletionSource, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, indentWithTab, redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, nextDiagnostic, openLintPanel, previousDiagnostic, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import type { Diagnostic } from '../../../../src/mapping/model/model.ts';
import type { Anchor } from '../../../core/document.ts';
import { difference } from '../../../core/history/edits.ts';
import { lineOffsets } from '../../../core/text/places.ts';
import { THEME } from './theme.ts';
import { turtle } from './turtle.ts';
import { yaml } from './yaml.ts';

export interface CodeHost {
  readonly label: string;
  readonly isYaml: boolean;
  readonly isReadOnly: boolean;
  readonly complete: CompletionSource;
  /** A person has changed the text. */
  changed(text: string): void;
  /** A person has put the caret somewhere. */
  moved(offset: number): void;
  /** There is nothing typed left to undo, or to redo. */
  undo(): void;
  redo(): void;
  /** Goes to the block of what the caret is in. */
  leave(): void;
}

export interface CodeView {
  readonly text: () => string;
  readonly hasFocus: () => boolean;
  /** Shows another text. The caret stays where its surroundings are the same; what was typed is no more undone here. */
  show(text: string): void;
  forgetTyping(): void;
  setProblems(diagnostics: readonly Diagnostic[]): void;
  /** Marks the ranges of what is selected elsewhere, and shows the first one. */
  mark(ranges: readonly Anchor[]): void;
  goTo(offset: number): void;
  focus(): void;
  destroy(): void;
}

/** A change that no person has typed. */
const shown = Annotation.define<true>();

const setMarks = StateEffect.define<readonly Anchor[]>();
const MARK = Decoration.mark({ class: 'cm-chosen-element' });
const marks = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    const effect = transaction.effects.find((one) => one.is(setMarks));
    if (effect === undefined) return value.map(transaction.changes);
    const ranges = (effect.value as readonly Anchor[]).filter(({ from, to }) => from < to && to <= transaction.newDoc.length);
    return Decoration.set(
      ranges.map(({ from, to }) => MARK.range(from, to)),
      true,
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Signs that are shown by a mark: control characters and those that turn the direction of text. A carriage return ends a line. */
const SPECIAL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffc]/g;

export function openCode(parent: HTMLElement, text: string, host: CodeHost): CodeView {
  const typing = new Compartment();
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
  const undoing = (view: EditorView): boolean => {
    if (undoDepth(view.state) > 0) return undo(view);
    host.undo();
    return true;
  };
  const redoing = (view: EditorView): boolean => {
    if (redoDepth(view.state) > 0) return redo(view);
    host.redo();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: EditorState.create({ extensions: [EditorState.lineSeparator.of('\n')] }).toText(text),
      extensions: [
        // A carriage return is a character like others, so that the text and its offsets stay as they are.
        EditorState.lineSeparator.of('\n'),
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ 'aria-label': host.label, tabindex: '0' }),
        EditorState.readOnly.of(host.isReadOnly),
        keymap.of([
          { key: 'Mod-z', run: undoing, preventDefault: true },
          { key: 'Mod-y', run: redoing, preventDefault: true },
          { key: 'Mod-Shift-z', run: redoing, preventDefault: true },
          { key: 'F8', run: nextDiagnostic, preventDefault: true },
          { key: 'Shift-F8', run: previousDiagnostic, preventDefault: true },
          { key: 'Mod-Shift-m', run: openLintPanel, preventDefault: true },
          {
            key: 'F12',
            preventDefault: true,
            run: () => {
              host.leave();
              return true;
            },
          },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...searchKeymap,
          ...(host.isReadOnly ? [] : [indentWithTab]),
          // Ctrl+Enter is for the preview.
          ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
        ]),
        typing.of(history()),
        lineNumbers(),
        lintGutter(),
        highlightSpecialChars({ specialChars: SPECIAL }),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightSelectionMatches(),
        autocompletion({ override: [host.complete], activateOnTyping: false, icons: false }),
        marks,
        host.isYaml ? yaml : turtle,
        THEME,
        EditorView.updateListener.of(({ transactions, docChanged, state }) => {
          const own = transactions.some((one) => one.annotation(shown) === undefined && (one.docChanged || one.selection !== undefined));
          if (!own) return;
          if (docChanged) host.changed(state.sliceDoc());
          else host.moved(state.selection.main.head);
        }),
      ],
    }),
  });
  const forgetTyping = (): void => {
    if (undoDepth(view.state) === 0 && redoDepth(view.state) === 0) return;
    view.dispatch({ effects: typing.reconfigure([]) });
    view.dispatch({ effects: typing.reconfigure(history()) });
  };
  return {
    text: () => view.state.sliceDoc(),
    hasFocus: () => view.hasFocus,
    show(next) {
      const [edit] = difference(view.state.sliceDoc(), next);
      if (edit === undefined) return;
      const changes = { from: edit.from, to: edit.to, insert: view.state.toText(edit.text) };
      view.dispatch({ changes, annotations: shown.of(true) });
      forgetTyping();
    },
    forgetTyping,
    setProblems: (diagnostics) => view.dispatch(setDiagnostics(view.state, problemsIn(view.state.sliceDoc(), diagnostics))),
    mark(ranges) {
      const [first] = ranges;
      const isThere = first !== undefined && first.to <= view.state.doc.length;
      view.dispatch({
        effects: [setMarks.of(ranges), ...(isThere && !view.hasFocus ? [EditorView.scrollIntoView(first.from, { y: 'center' })] : [])],
      });
    },
    goTo(offset) {
      const anchor = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }), annotations: shown.of(true) });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** The offset of a position that counts lines and columns from 1. */
export const offsetIn = (text: string, { line, column }: { readonly line: number; readonly column: number }): number =>
  Math.min(text.length, (lineOffsets(text)[line - 1] ?? text.length) + column - 1);

/** Diagnostics as ranges: a position is that of the token that begins there. */
function problemsIn(text: string, diagnostics: readonly Diagnostic[]) {
  const offsets = lineOffsets(text);
  return diagnostics.map(({ severity, origin, message, hint }) => {
    const from = Math.min(text.length, (offsets[origin.line - 1] ?? text.length) + origin.column - 1);
    const length = /^(?:"[^"\n]*"|<[^>\s]*>|[^\s;,()[\]]+)/.exec(text.slice(from, from + LONGEST))?.[0].length ?? 1;
    return { from, to: Math.min(text.length, from + length), severity, message: hint === undefined ? message : `${message}. ${hint}` };
  });
}

const LONGEST = 200;
