/** The look of the text: the colours of the studio, which follow its scheme. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: 'var(--small)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--chosen)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panel.cm-panel-lint ul [aria-selected], .cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--chosen) !important',
    color: 'var(--text) !important',
  },
  '.cm-panel button[name=close]': { minWidth: '24px', minHeight: '24px' },
  '.cm-completionDetail': { color: 'var(--muted)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warning-ground)', outline: '1px solid var(--warning)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--chosen)' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', color: 'var(--text)', borderColor: 'var(--edge)', fontSize: 'var(--small)' },
  '.cm-button': { backgroundColor: 'var(--surface)', backgroundImage: 'none', color: 'var(--text)', borderColor: 'var(--edge)' },
  // In place of pictures with fixed colours.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--danger)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecoration: 'underline wavy var(--warning)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warning)' },
  '.cm-chosen-element': { backgroundColor: 'var(--chosen)' },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.keyword, tags.bool, tags.number], color: 'var(--attribute)' },
  { tag: tags.propertyName, color: 'var(--entity)' },
  { tag: [tags.url, tags.variableName], color: 'var(--input)' },
  { tag: [tags.meta, tags.labelName, tags.operator], color: 'var(--warning)' },
]);

export const THEME = [look, syntaxHighlighting(colours)];
