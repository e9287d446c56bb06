/** Comments of documents, and what each of them belongs to. */
import type { Origin } from '../model/model.ts';
import { type Document, isYarrrml } from '../parse/document.ts';

/** A comment without `#`, and whether something stands before it on its line. */
interface Comment {
  readonly text: string;
  readonly isAtEnd: boolean;
}

/**
 * Each comment is given once. Lines of comments belong to what begins on the next line. A comment at the end of a line belongs to what begins
 * last before it, and of several on one line to the first.
 */
export class Comments {
  /** Document → line, from 1 → comment. */
  readonly #comments: ReadonlyMap<string, ReadonlyMap<number, Comment>>;
  readonly #used = new Set<Comment>();
  /** Place → comments at the ends of the lines that belong to it. */
  readonly #atEnds = new Map<string, Comment[]>();

  private constructor(comments: ReadonlyMap<string, ReadonlyMap<number, Comment>>) {
    this.#comments = comments;
  }

  static async of(documents: readonly Document[]): Promise<Comments> {
    const found = documents.map(async (document) => {
      const starts = isYarrrml(document)
        ? (await import('../yarrrml/comments.ts')).startsInYaml(document.text)
        : startsInTurtle(document.text);
      return [document.name, commentsAt(document.text, starts)] as const;
    });
    return new Comments(new Map(await Promise.all(found)));
  }

  /** Says what will be asked for, so that comments at the ends of lines belong to something. */
  assign(origins: readonly Origin[]): void {
    for (const [document, comments] of this.#comments) {
      const places = origins.filter((origin) => origin.document === document).sort((a, b) => a.line - b.line || a.column - b.column);
      for (const [line, comment] of comments) {
        const last = places.findLast((place) => place.line <= line);
        if (!comment.isAtEnd || last === undefined) continue;
        const first = places.find((place) => place.line === last.line) as Origin;
        this.#atEnds.set(keyOf(first), [...(this.#atEnds.get(keyOf(first)) ?? []), comment]);
      }
    }
  }

  /** Those that belong to what begins at a place, each without `#`. */
  above(origin: Origin): readonly string[] {
    const comments = this.#comments.get(origin.document);
    const found: Comment[] = [];
    for (let line = origin.line - 1; ; line--) {
      const comment = comments?.get(line);
      if (comment === undefined || comment.isAtEnd || this.#used.has(comment)) break;
      found.unshift(comment);
    }
    return this.#use([...found, ...(this.#atEnds.get(keyOf(origin)) ?? [])]);
  }

  /** Those that the documents begin with, and those at ends of lines that belong to nothing, unless they stand above something. */
  heading(): readonly string[] {
    return [...this.#comments.values()].flatMap((comments) => {
      const found: Comment[] = [];
      for (let line = 1; comments.get(line)?.isAtEnd === false; line++) found.push(comments.get(line) as Comment);
      return this.#use([...found, ...[...comments.values()].filter(({ isAtEnd }) => isAtEnd)]);
    });
  }

  /** Those that belong to nothing that was asked for, in their order. */
  rest(): readonly string[] {
    return this.#use([...this.#comments.values()].flatMap((comments) => [...comments.values()]));
  }

  #use(comments: readonly Comment[]): readonly string[] {
    const fresh = comments.filter((comment) => !this.#used.has(comment));
    for (const comment of fresh) this.#used.add(comment);
    return fresh.map(({ text }) => text);
  }
}

const keyOf = ({ document, line, column }: Origin): string => `${line}:${column} ${document}`;

/** @param starts offsets of `#` */
function commentsAt(text: string, starts: readonly number[]): ReadonlyMap<number, Comment> {
  const found = new Map<number, Comment>();
  let line = 1;
  let begin = 0;
  const breaks = /\r\n|\r|\n/g;
  for (const start of starts) {
    for (let next = breaks.exec(text); next !== null && next.index < start; next = breaks.exec(text)) {
      line++;
      begin = breaks.lastIndex;
    }
    breaks.lastIndex = begin;
    const isAtEnd = /[^\s\uFEFF]/.test(text.slice(begin, start));
    found.set(line, { text: /^#(.*)/.exec(text.slice(start))?.[1] ?? '', isAtEnd });
  }
  return found;
}

/** What a `#` can be in without a comment to begin: long strings, strings, IRIs, and characters after a backslash in local names. */
const TURTLE =
  /"""(?:[^"\\]|\\.|"(?!""))*"""|'''(?:[^'\\]|\\.|'(?!''))*'''|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|<(?:[^\s<>"{}|^`\\]|\\.)*>|\\.|#[^\r\n]*/gs;

const startsInTurtle = (text: string): readonly number[] =>
  [...text.matchAll(TURTLE)].filter(([token]) => token.startsWith('#')).map(({ index }) => index);
