/** Sentences of this region. */
export const WORDS = {
  label: 'Text of the mapping',
  copy: 'Copy',
  copied: 'The text is copied.',
  notCopied: 'The browser did not let the page copy. Select the text and copy it by keyboard.',
  readOnly: 'Changing the text needs the role operator.',
  keys: 'Ctrl+Space completes, F8 goes to the next problem, Esc then Tab leaves the text',
  reading: 'The text is being written …',
  cannotPrint: 'The model cannot be written in this language yet:',
  failed: 'The part of the page that writes the text could not be loaded. Load the page again.',
  notRead: 'The part of the page that reads the text could not be loaded. Load the page again.',
} as const;
