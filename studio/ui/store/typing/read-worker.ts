/** Reads texts beside the page, which stays fluid meanwhile. */
import type { Reading } from '../../../core/read/language.ts';
import { type ReadText, read } from '../../../core/read/read.ts';

export interface ReadRequest {
  readonly number: number;
  readonly text: string;
  readonly reading: Reading;
}

export interface ReadAnswer {
  readonly number: number;
  /** The sentence of the fault, where the reader has failed. */
  readonly read: ReadText | string;
}

self.onmessage = ({ data: { number, text, reading } }: MessageEvent<ReadRequest>): void => {
  const answer = (found: ReadAnswer['read']): void => self.postMessage({ number, read: found } satisfies ReadAnswer);
  read(text, reading.language, reading.apart).then(answer, (error: unknown) =>
    answer(error instanceof Error ? error.message : String(error)),
  );
};
