/** The editor of the page, for all views below it. */
import { createContext, type ReactNode, useContext } from 'react';
import type { StudioDocument } from '../../core/document.ts';
import type { Editor, EditorState } from './editor.ts';
import { useStore } from './store.ts';

const EditorContext = createContext<Editor | undefined>(undefined);

export const EditorProvider = ({ editor, children }: { readonly editor: Editor; readonly children: ReactNode }): ReactNode => (
  <EditorContext value={editor}>{children}</EditorContext>
);

/** @throws Error — there is no editor above the view */
export function useEditor(): Editor {
  const editor = useContext(EditorContext);
  if (editor === undefined) throw new Error('this view needs an EditorProvider above it');
  return editor;
}

/** What a view needs of the state; it renders again when that is another value. */
export const useEditorState = <T,>(select: (state: EditorState) => T, same?: (a: T, b: T) => boolean): T =>
  useStore(useEditor(), select, same);

export const useDocument = (): StudioDocument => useEditorState(({ session }) => session.document);
