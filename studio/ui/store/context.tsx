/** The editor of the page, for all views below it. */
import { createContext, type ReactNode, useContext } from 'react';
import type { StudioDocument } from '../../core/document.ts';
import type { Editor, EditorState } from './editor.ts';
import type { Samples } from './samples.ts';
import { useStore } from './store.ts';

const SamplesContext = createContext<Samples | undefined>(undefined);
const EditorContext = createContext<Editor | undefined>(undefined);

interface ProviderProps {
  readonly editor: Editor;
  readonly samples: Samples;
  readonly children: ReactNode;
}

export const EditorProvider = ({ editor, samples, children }: ProviderProps): ReactNode => (
  <EditorContext value={editor}>
    <SamplesContext value={samples}>{children}</SamplesContext>
  </EditorContext>
);

/** @throws Error — there is no editor above the view */
export function useSamples(): Samples {
  const samples = useContext(SamplesContext);
  if (samples === undefined) throw new Error('this view needs an EditorProvider above it');
  return samples;
}

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
