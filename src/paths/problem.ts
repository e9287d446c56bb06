/** What is wrong with an expression. */
export interface PathProblem {
  /** A sentence without its full stop. */
  readonly message: string;
  /** In UTF-16 code units from 0; undefined: not known. */
  readonly position: number | undefined;
  readonly hint: string | undefined;
}

/** For a message that goes on after a colon: `the "[" has no "]", at character 4`. */
export function reasonOf({ message, position }: PathProblem): string {
  const reason = message.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
  return position === undefined ? reason : `${reason}, at character ${position + 1}`;
}
