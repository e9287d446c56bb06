/** Drafts: what a person has drawn and not saved, kept in the browser (IndexedDB), so that a reload, a lost connection or a crash loses nothing. */

import type { StudioDocument } from '../core/document.ts';
import type { Shown } from '../core/edit/side-file.ts';
import type { Step } from '../core/history/history.ts';
import { answered, openStore } from './database.ts';

/** Which model it is. */
export interface ModelOrigin {
  readonly name: string;
  /** The transformer whose mapping directory has it. */
  readonly service: 'semi-structured-transformer' | 'sql-transformer';
  /** Of the version that it goes on from; undefined: it was never saved. */
  readonly etag: string | undefined;
  /**
   * `drawn`: the text is printed from the document. `text`: it was read from a text that the studio has not printed, and is never printed
   * over.
   */
  readonly kept: 'drawn' | 'text';
  /** The text of that version; undefined: it was never saved. */
  readonly savedText: string | undefined;
}

export interface Draft {
  readonly id: string;
  readonly origin: ModelOrigin;
  readonly document: StudioDocument;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
  /** Text that is typed and has yet to be a step, such as one with an error. Absent: none. */
  readonly typed?: string;
  /** Absent: nothing was shown yet. */
  readonly shown?: Shown;
  /** Steps since it was saved. */
  readonly changes: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface DraftHead extends Pick<Draft, 'id' | 'changes' | 'at'> {
  readonly name: string;
  /** It was never saved. */
  readonly isNew: boolean;
}

export interface Drafts {
  /** The newest first. */
  list(): Promise<readonly DraftHead[]>;
  get(id: string): Promise<Draft | undefined>;
  put(draft: Draft): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Of the layout of drafts. */
const VERSION = 1;

/** One draft for each model: its name within its transformer, or a name that is new. */
export const draftId = ({ service, name }: Pick<ModelOrigin, 'service' | 'name'>): string => `${service}/${name}`;

/** @throws DOMException — the browser keeps nothing for this page */
export async function openDrafts(): Promise<Drafts> {
  const store = await openStore('quadmill-studio', VERSION, 'drafts');
  return {
    async list() {
      const all = (await answered(store('readonly').getAll())) as readonly Draft[];
      return all
        .map(({ id, origin, changes, at }) => ({ id, name: origin.name, isNew: origin.etag === undefined, changes, at }))
        .sort((a, b) => b.at - a.at);
    },
    get: (id) => answered(store('readonly').get(id)) as Promise<Draft | undefined>,
    async put(draft) {
      await answered(store('readwrite').put(draft));
    },
    async remove(id) {
      await answered(store('readwrite').delete(id));
    },
  };
}
