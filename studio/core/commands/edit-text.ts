/** The edited text of the mapping takes the place of the one before, with all that it says. */
import type { StudioDocument } from '../document.ts';
import { always, type Command } from './command.ts';

/** `document`: what `readEdited` gives for the present document. */
export const editText: Command<{ readonly document: StudioDocument }> = {
  name: 'edit-text',
  label: () => 'Edit the text',
  role: 'operator',
  enabled: always,
  perform: (_, { document }) => document,
  said: () => 'The model follows the text',
  recorded: true,
};
