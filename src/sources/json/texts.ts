/** JSON documents within values. Each text is parsed as a whole, and is one document, never JSON Lines. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { depthFault } from '../../core/limits.ts';
import type { JsonOptions, NestedRecords, OpenTexts } from '../source.ts';
import { textFault, textReader } from '../text-faults.ts';
import { parseExpression } from './expression.ts';
import { compileItems, JsonItems } from './nested.ts';
import { MAX_DEPTH } from './split.ts';
import { JsonSyntaxError, parseJson } from './text.ts';

/**
 * Opens texts whose items are values. Without an iterator the item is the whole text; datatypes, dialect and nulls are as in JSON documents.
 */
export const openJsonTexts: OpenTexts<JsonOptions> = async (options) => ({
  records: (iterator, expression) => textRecords(iterator, expression, options),
});

function textRecords(iterator: string | undefined, expression: string | undefined, options: JsonOptions): NestedRecords {
  const find = compileItems(parseExpression(iterator ?? '$', options, {}));
  const place = { input: options.name, ...(expression === undefined ? {} : { expression }) };
  const textOf = textReader(options, place);
  const maxDepth = Math.min(options.maxDepth ?? MAX_DEPTH, MAX_DEPTH);
  return new JsonItems((node) => {
    const text = textOf(node);
    return text === undefined ? [] : find(parseText(text, maxDepth, place));
  }, options);
}

/** @throws Fault record/term, limit/exceeded */
function parseText(text: string, maxDepth: number, place: FaultPlace): unknown {
  if (isDeeper(text, maxDepth)) throw depthFault('The JSON text is', maxDepth, MAX_DEPTH, place);
  try {
    return parseJson(text, SPELLED.test(text));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const line = text.slice(0, error.offset).split('\n').length;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw textFault(new Fault('source/malformed', error.message, { place: { line }, ...hint }), 'JSON', text, place, error.offset);
  }
}

/**
 * Finds numbers that a double may not preserve as written: an exponent, a fraction that ends in zero or begins with six zeros, or 16 digits.
 * It also finds such digits within texts, which only costs time.
 */
const SPELLED = /[0-9][eE]|\.[0-9]*0(?![0-9])|\.0{6}|[0-9.]{16}/;

const OPENING = /[[{]/g;

/** Whether brackets are nested deeper than `maxDepth`: the parser takes a stack frame for each. */
function isDeeper(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth || (text.match(OPENING)?.length ?? 0) <= maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (c === '[' || c === '{') {
      if (++depth > maxDepth) return true;
    } else if (c === ']' || c === '}') depth--;
  }
  return false;
}
