/** Sentences of this region. */
export const WORDS = {
  copy: 'Copy',
  copied: 'The text is copied.',
  notCopied: 'The browser did not let the page copy. Select the text and copy it by keyboard.',
  readOnly: 'The text is shown, and cannot be edited here yet.',
  reading: 'The text is being written …',
  cannotPrint: 'The model cannot be written in this language yet:',
  failed: 'The part of the page that writes the text could not be loaded. Load the page again.',
} as const;
