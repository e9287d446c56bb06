/** What every section needs: the document, the editor, and whether it may be changed. */
import type { ArgumentOf, CommandName } from '../../core/commands/all.ts';
import type { StudioDocument } from '../../core/document.ts';
import type { Schema } from '../../core/elements/schema.ts';
import { useEditor, useEditorState } from '../store/context.tsx';
import type { Editor } from '../store/editor.ts';
import { WORDS } from './words.ts';

export interface Access {
  readonly editor: Editor;
  readonly document: StudioDocument;
  readonly schema: Schema;
  readonly readOnly: boolean;
  /** Why buttons cannot be used. */
  readonly locked: string | undefined;
  /** Carries a command out. @returns the sentence of the refusal */
  tell<N extends CommandName>(name: N, argument: ArgumentOf<N>): string | undefined;
}

export function useAccess(): Access {
  const editor = useEditor();
  const document = useEditorState(({ session }) => session.document);
  const schema = useEditorState((state) => state.schema);
  const readOnly = useEditorState(({ role }) => role === 'viewer');
  return {
    editor,
    document,
    schema,
    readOnly,
    locked: readOnly ? WORDS.readOnly : undefined,
    tell: (name, argument) => editor.dispatch(name, argument)?.sentence,
  };
}
