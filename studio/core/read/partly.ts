/**
 * A text with errors, as far as it can be drawn: the statements of Turtle and the mappings of YARRRML that hold none. What holds one is a block
 * of text, with its message.
 *
 * A text that is no Turtle or YARRRML at one place is read again without the statement that has this place. That is blanked, so that all
 * others stay where they are.
 */
import type { Diagnostic, Origin } from '../../../src/mapping/model/model.ts';
import type { Anchor, Element, StudioDocument } from '../document.ts';
import { lineOffsets, tokensOf } from '../text/places.ts';
import type { Apart } from './apart.ts';
import { looksLikeYarrrml } from './language.ts';
import { type ReadText, read } from './read.ts';

/** A text with more errors is drawn as far as it was read by then. */
const MOST_READINGS = 40;
const MOST_MS = 3_000;

const errorIn = ({ diagnostics }: ReadText): Diagnostic | undefined => diagnostics.find(({ severity }) => severity === 'error');
const hasMaps = ({ document }: ReadText): boolean => [...document.records.values()].some(({ kind }) => kind === 'entity');

/** Reads a text whose language it recognises. `diagnostics` are those of the whole text. */
export async function readPartly(text: string, apart: Apart = []): Promise<ReadText> {
  const whole = await read(text, undefined, apart);
  if (errorIn(whole) === undefined) return whole;
  const isYarrrml = looksLikeYarrrml(text);
  const language = isYarrrml ? 'yarrrml' : undefined;
  const chunks = isYarrrml ? yarrrmlChunks(text) : turtleChunks(text);
  const left = new Map<string, Left>();
  const isLeft = ({ from, to }: Anchor): boolean => left.has(`${from} ${to}`);
  const leave = (anchor: Anchor | undefined, message: string): boolean => {
    if (anchor === undefined || isLeft(anchor)) return false;
    left.set(`${anchor.from} ${anchor.to}`, { anchor, message });
    return true;
  };
  let found = whole;
  const leaveFor = ({ code, origin, message }: Diagnostic): boolean => {
    const at = offsetOf(text, origin);
    const isSyntax = code === 'syntax';
    const chunk = chunkAt(chunks, at) ?? chunks.at(-1);
    // A document without any triples map is reported at its beginning.
    if (!isSyntax && chunk !== undefined && /^(?:@?prefix|@?base)\b/i.test(text.slice(chunk.from))) return false;
    // Where a part begins with it, what stands before is not ended, and is tried first.
    const isBefore = isSyntax && chunk !== undefined && text.slice(chunk.from, at).trim() === '';
    const before = isBefore ? chunks.slice(0, chunks.indexOf(chunk)).findLast((one) => !isLeft(one)) : undefined;
    const [wrong, place] = before === undefined ? [chunk, at] : [before, lastOf(text, before)];
    const rule = isYarrrml ? itemAt(text, wrong, place) : isSyntax ? undefined : ruleAt(text, wrong, place);
    const rest = (): Anchor | undefined => chunks.slice(0, chunk === undefined ? 0 : chunks.indexOf(chunk)).findLast((one) => !isLeft(one));
    return leave(rule, message) || leave(wrong, message) || leave(chunk, message) || (isSyntax && leave(rest(), message));
  };
  const until = Date.now() + MOST_MS;
  for (let readings = 1; readings < MOST_READINGS && Date.now() < until; readings++) {
    const errors = found.diagnostics.filter(({ severity }) => severity === 'error');
    // What is no Turtle or YARRRML hides what is behind it; other errors stand for themselves.
    const now = errors[0]?.code === 'syntax' ? errors.slice(0, 1) : errors;
    if (!now.map(leaveFor).includes(true)) break;
    found = await read(
      blanked(
        text,
        [...left.values()].map(({ anchor }) => anchor),
      ),
      language,
      apart,
    );
  }
  // Without triples maps the text says more by itself: what was read of it stays.
  return { document: withLeft(hasMaps(found) ? found.document : whole.document, text, [...left.values()]), diagnostics: whole.diagnostics };
}

/** A part of the text that is left out, and why. */
interface Left {
  readonly anchor: Anchor;
  readonly message: string;
}

/** The document of the whole text, with a block for each part of it that is left out, or beside the entity whose triples map has it. */
function withLeft(document: StudioDocument, text: string, left: readonly Left[]): StudioDocument {
  const records = new Map<string, Element>(document.records);
  const anchors = new Map(document.text.anchors);
  const taken = [...anchors].flatMap(([id, ranges]) => ranges.map((range) => ({ id, ...range })));
  const trimmed = left.map(({ anchor: { from, to }, message }) => ({ from, to: from + text.slice(from, to).trimEnd().length, message }));
  for (const { from, to, message } of trimmed.sort((a, b) => a.from - b.from)) {
    const touched = taken.filter((one) => one.from < to && from < one.to);
    // It would share a part of the text with an element, or is in one that is left out as a whole.
    const isWithin = trimmed.some((one) => one.from <= from && to <= one.to && one.to - one.from > to - from);
    if (isWithin || touched.some((one) => one.from > from || to > one.to)) continue;
    const of = touched.find(({ id }) => records.get(id)?.kind === 'entity')?.id;
    const id = `text-at-${from}`;
    records.set(id, { kind: 'text', id, of, anchor: { from, to }, reason: `Kept as text: ${message}` });
    anchors.set(id, [{ from, to }]);
  }
  return { ...document, records, text: { text, anchors } };
}

const chunkAt = (chunks: readonly Anchor[], at: number): Anchor | undefined => chunks.findLast(({ from, to }) => from <= at && at < to);

/** Where the last character of a part stands that is no white space. */
const lastOf = (text: string, { from, to }: Anchor): number => from + text.slice(from, to).trimEnd().length - 1;

const offsetOf = (text: string, { line, column }: Origin): number => (lineOffsets(text)[line - 1] ?? text.length) + column - 1;

/** Spaces in place of characters: lines and columns stay. */
function blanked(text: string, parts: Iterable<Anchor>): string {
  let rest = text;
  for (const { from, to } of parts) rest = rest.slice(0, from) + rest.slice(from, to).replace(/[^\r\n]/g, ' ') + rest.slice(to);
  return rest;
}

/** The predicate object map of a statement that has a place, with what separates it from the next one. */
function ruleAt(text: string, chunk: Anchor | undefined, at: number): Anchor | undefined {
  if (chunk === undefined) return undefined;
  const tokens = tokensOf(text.slice(chunk.from, chunk.to)).filter(({ kind }) => kind !== 'comment');
  const textAt = (i: number): string => text.slice(chunk.from + (tokens[i]?.from ?? 0), chunk.from + (tokens[i]?.to ?? 0));
  let depth = 0;
  let open = 0;
  let predicate = '';
  for (const [i, { kind, from, to }] of tokens.entries()) {
    if (kind === 'open' && depth++ === 0) open = i;
    else if (kind === 'close' && --depth === 0) {
      if (textAt(open - 1) !== ',') predicate = textAt(open - 1);
      const start = tokens[open]?.from ?? 0;
      if (chunk.from + start > at || at >= chunk.from + to || !/[:/#]predicateObjectMap>?$/.test(predicate)) continue;
      // One of several objects goes with its comma, the only one with its predicate.
      if (textAt(i + 1) === ',') return { from: chunk.from + start, to: chunk.from + (tokens[i + 1]?.to ?? to) };
      const isOnly = textAt(open - 1) !== ',';
      const end = isOnly && textAt(i + 1) === ';' ? (tokens[i + 1]?.to ?? to) : to;
      return { from: chunk.from + (tokens[open - 1]?.from ?? from), to: chunk.from + end };
    }
  }
  return undefined;
}

/** The item of a list of YARRRML, such as a predicate with its objects, that begins above a place. */
function itemAt(text: string, chunk: Anchor | undefined, at: number): Anchor | undefined {
  if (chunk === undefined) return undefined;
  const lines = [...text.slice(chunk.from, chunk.to).matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)].map(({ 0: line, index }) => ({
    line,
    from: chunk.from + index,
    indent: line.search(/[^ \r\n]/),
  }));
  const item = lines.findLastIndex(({ line, from }) => from <= at && /^ *- /.test(line));
  const found = lines[item];
  if (found === undefined) return undefined;
  const next = lines.slice(item + 1).find(({ indent }) => indent >= 0 && indent <= found.indent);
  const to = next?.from ?? chunk.to;
  return at < to ? { from: found.from, to } : undefined;
}

/** Statements. One that is not ended ends where a line begins with an IRI, a directive or, behind an empty line, with anything. */
function turtleChunks(text: string): readonly Anchor[] {
  const starts: number[] = [];
  let depth = 0;
  let isNew = true;
  for (const { kind, from, to } of tokensOf(text)) {
    if (kind === 'comment') continue;
    const begins =
      /(?:^|\n)$/.test(text.slice(0, from)) && (/^[<@]/.test(text.slice(from, to)) || /(?:^|\n)\s*\n$/.test(text.slice(0, from)));
    if (isNew || begins) {
      starts.push(from);
      depth = 0;
    }
    isNew = false;
    if (kind === 'open') depth++;
    else if (kind === 'close') depth = Math.max(0, depth - 1);
    else if (kind === 'end') isNew = depth === 0;
  }
  return between(starts, text.length);
}

/** Top-level keys, and within `mappings` each mapping. */
function yarrrmlChunks(text: string): readonly Anchor[] {
  const starts: number[] = [];
  let within: number | undefined;
  for (const { 0: line, index } of text.matchAll(/^[^\r\n]*/gm)) {
    const indent = line.search(/[^ ]/);
    if (indent < 0 || line[indent] === '#') continue;
    const isMappings = /^(?:mappings?|m)\s*:\s*(?:#.*)?$/.test(line);
    if (indent === 0) within = isMappings ? 0 : undefined;
    else if (within === 0) within = indent;
    // The key `mappings` itself is no part that could be left out.
    if ((indent === 0 && !isMappings) || (indent > 0 && indent === within)) starts.push(index);
  }
  return between(starts, text.length);
}

const between = (starts: readonly number[], end: number): readonly Anchor[] =>
  starts.map((from, i) => ({ from, to: starts[i + 1] ?? end }));
