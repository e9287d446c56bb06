/** The files and commands of a page of the documents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../support/project-root.ts';

export interface PageBlock {
  readonly language: string;
  /** Of a file. */
  readonly name: string | undefined;
  readonly text: string;
}

/** The fenced blocks that say their language. @param page below `docs` */
export const blocksOf = (page: string): readonly PageBlock[] =>
  [...readFileSync(join(PROJECT_ROOT, 'docs', page), 'utf8').matchAll(/^```(\S+)(?: (\S+))?\n(.*?)^```$/gms)].map(
    ([, language = '', name, text = '']) => ({ language, name, text }),
  );
