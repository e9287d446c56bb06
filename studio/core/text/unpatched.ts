/** Changes that a text cannot be edited for. */
import { type Refusal, refuse } from '../rules/verdict.ts';

export class Unpatched extends Error {
  readonly refusal: Refusal;
  /** Whether the text could say it, if it were written in another form. */
  readonly isOfForm: boolean;

  constructor(sentence: string, isOfForm = true) {
    super(sentence);
    this.refusal = refuse('I9', sentence, []);
    this.isOfForm = isOfForm;
  }
}

/** Thrown where the text is not what could be edited. */
export const stop = (sentence: string): never => {
  throw new Unpatched(sentence);
};

/** Thrown where no other form of the text would help. */
export const stopForGood = (sentence: string): never => {
  throw new Unpatched(sentence, false);
};

/** Writes the text in a form in which what was refused can be changed, and does it then. */
export const WRITE_OUT = { command: 'write-out', argument: {} } as const;
