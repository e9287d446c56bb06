/** Changes that a text cannot be edited for. */
import { type Refusal, refuse } from '../rules/verdict.ts';

export class Unpatched extends Error {
  readonly refusal: Refusal;

  constructor(sentence: string) {
    super(sentence);
    this.refusal = refuse('I9', sentence, []);
  }
}

/** Thrown where the text is not what could be edited. */
export const stop = (sentence: string): never => {
  throw new Unpatched(sentence);
};
