/** Where the records of a CSV document end, as the reader (csv.ts) has them: at line feeds that do not stand within quotes. */
import { DEFAULT_DELIMITER, quoteIn } from '../../core/input/csv-dialect.ts';
import type { OpenBorders } from '../cuts.ts';
import { markOf } from '../cuts.ts';
import type { CsvOptions } from '../source.ts';
import { csvHeadBytes } from './csv.ts';
import { canBeCut } from './cuts.ts';

const LF = 10;
const CR = 13;

/** At the beginning of a row; at the beginning of a cell; within an unquoted cell; within a quoted cell; behind a quote in it; in a comment. */
const ROW = 0;
const CELL = 1;
const PLAIN = 2;
const QUOTED = 3;
const QUOTE = 4;
const COMMENT = 5;

export const openCsvBorders: OpenBorders<CsvOptions> = async (document, _, options) => {
  const { csv = {}, encoding } = options;
  const mark = await markOf(document, encoding);
  if (mark === undefined || !canBeCut(csv)) return undefined;
  const head = mark + (await csvHeadBytes(document.bytes(0), options));
  const delimiter = (csv.delimiter ?? DEFAULT_DELIMITER).charCodeAt(0);
  const quote = quoteIn(csv)?.charCodeAt(0) ?? -1;
  const comment = csv.commentPrefix ? csv.commentPrefix.charCodeAt(0) : -1;

  /** By the rules of `CsvCuts`. */
  function follow(bytes: Buffer, from: number): number {
    let state = ROW;
    for (let at = from; at < bytes.length; at++) {
      const c = bytes[at] as number;
      if (state === QUOTED) {
        const close = c === quote ? at : bytes.indexOf(quote, at);
        if (close < 0) return -1;
        at = close;
        state = QUOTE;
      } else if (state === QUOTE && c === quote) state = QUOTED;
      else if (c === LF) return at + 1;
      else if (c === CR) state = ROW;
      else if (state === COMMENT) continue;
      else if (state < PLAIN && c === quote) state = QUOTED;
      else if (state === ROW && c === comment) state = COMMENT;
      else state = c === delimiter ? CELL : PLAIN;
    }
    return -1;
  }

  return {
    mark,
    head,
    escape: quote,
    endOf: (bytes, from, next) => {
      const end = bytes.indexOf(LF, from) + 1;
      return end === 0 ? -1 : next >= end ? end : follow(bytes, from);
    },
  };
};
