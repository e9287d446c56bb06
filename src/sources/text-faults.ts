/** What formats share when they read documents that are values of other documents. */
import { excerpt, Fault, type FaultPlace } from '../core/fault.ts';
import { fromBytes, toBytes } from '../core/text.ts';
import { TypedValue } from '../core/value.ts';
import type { CommonOptions } from './source.ts';

const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** Bytes of a text that are shown before and after the place where it is not valid. */
const SHOWN_BEFORE = 30;
const SHOWN_AFTER = 50;

/**
 * The text of a value, without a byte order mark. undefined: the value is null or empty. A CSV cell or an XML element without content cannot
 * say in another way that there is no document in it.
 */
export type TextOf = (value: unknown) => string | undefined;

/**
 * @param place of the texts, for faults
 * @returns a function that throws Fault limit/exceeded for a text that is too long
 */
export function textReader({ nulls, maxRecordBytes }: CommonOptions, place: FaultPlace): TextOf {
  const nullTexts = new Set(nulls.map(toBytes));
  return (value) => {
    const text = value instanceof TypedValue ? value.written : value;
    if (typeof text !== 'string' || text === '' || text === BYTE_ORDER_MARK || nullTexts.has(text)) return undefined;
    if (text.length > maxRecordBytes) {
      throw new Fault('limit/exceeded', `A text has more than the ${maxRecordBytes} bytes that are allowed`, {
        place,
        limit: 'MAX_RECORD_BYTES',
        hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
      });
    }
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  };
}

/**
 * A fault of a text, or of an expression that does not fit it, as one that rejects the record: `record/term`, with an excerpt of the text.
 * Any other fault stays what it is.
 *
 * @param at offset in the text, if known
 */
export function textFault(fault: Fault, format: string, text: string, place: FaultPlace, at = 0): Fault {
  // Line, byte and record are those of the text.
  const inText = { line: undefined, column: undefined, byte: undefined, record: undefined };
  switch (fault.code) {
    case 'limit/exceeded':
      return fault.with({ place: { ...inText, ...place } });
    case 'mapping/reference':
      return unfitFault(fault).with({ place: { value: shown(text, at) } });
    case 'source/malformed': {
      const { line } = fault.place;
      const where = line === undefined || !text.includes('\n') ? '' : `, on line ${line} of the text`;
      return fault.with({
        code: 'record/term',
        message: `The text is no valid ${format}: ${fault.message}${where}`,
        place: { ...inText, ...place, value: shown(text, at) },
      });
    }
    default:
      return fault;
  }
}

/** A fault of an expression that depends on the text: it rejects the record. */
export const unfitFault = (fault: Fault): Fault =>
  fault.code === 'mapping/reference'
    ? fault.with({ code: 'record/term', message: `${fault.message}, in this text`, place: { mapping: undefined } })
    : fault;

function shown(text: string, at: number): string {
  let from = Math.max(0, at - SHOWN_BEFORE);
  let to = Math.min(text.length, from + SHOWN_BEFORE + SHOWN_AFTER);
  // Whole characters only.
  while (from > 0 && isContinuation(text, from)) from--;
  while (to < text.length && isContinuation(text, to)) to++;
  const part = fromBytes(text.slice(from, to));
  return excerpt(`${from > 0 ? '…' : ''}${part}${to < text.length ? '…' : ''}`, SHOWN_BEFORE + SHOWN_AFTER + 2);
}

const isContinuation = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xc0) === 0x80;
