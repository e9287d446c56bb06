/** Reads texts beside the page, which stays fluid meanwhile. */
import type { Language } from '../../../core/document.ts';
import { type ReadText, read } from '../../../core/read/read.ts';

export interface ReadRequest {
  readonly number: number;
  readonly text: string;
  readonly language: Language | undefined;
}

export interface ReadAnswer {
  readonly number: number;
  /** The sentence of the fault, where the reader has failed. */
  readonly read: ReadText | string;
}

self.onmessage = ({ data: { number, text, language } }: MessageEvent<ReadRequest>): void => {
  const answer = (found: ReadAnswer['read']): void => self.postMessage({ number, read: found } satisfies ReadAnswer);
  read(text, language).then(answer, (error: unknown) => answer(error instanceof Error ? error.message : String(error)));
};
