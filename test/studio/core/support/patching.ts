/** Drawn changes as edits of a text: one command, or many random ones after each of which the text has to say what is drawn. */
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import type { Command } from '../../../../studio/core/commands/command.ts';
import type { Id, Language, StudioDocument } from '../../../../studio/core/document.ts';
import { baseOf } from '../../../../studio/core/elements/base.ts';
import { nameOf } from '../../../../studio/core/elements/names.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import type { Schema, SchemaField } from '../../../../studio/core/elements/schema.ts';
import { begin, perform, type Session, undo, type Write } from '../../../../studio/core/history/history.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { documentName } from '../../../../studio/core/read/language.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { isRefusal, type Refusal } from '../../../../studio/core/rules/verdict.ts';
import { patternsOf } from '../../../../studio/core/text/patterns.ts';
import { patch } from '../../../../studio/core/text/turtle/patch.ts';
import { patchYarrrml } from '../../../../studio/core/text/yarrrml/patch.ts';
import { readManifest } from '../../../conformance/manifest.ts';
import type { Random } from '../../../support/random.ts';
import { RandomCommands } from './random-command.ts';
import { SHOP_SCHEMA } from './shop.ts';

/** What writes drawn changes into a text of this language. */
const writeOf = ({ language }: StudioDocument): Write => (language === 'yarrrml' ? patchYarrrml : patch);

export const opened = async (text: string, language?: Language): Promise<StudioDocument> => (await read(text, language)).document;

/** The text after one command. */
export function textAfter<A>(document: StudioDocument, command: Command<A>, argument: A): string | Refusal {
  const done = perform(begin(document), command, argument, writeOf(document));
  return isRefusal(done) ? done : done.session.document.text.text;
}

export const idOf = (document: StudioDocument, kind: Parameters<typeof recordsOf>[1], name: string): Id => {
  const found = recordsOf(document, kind).find(({ id }) => nameOf(document, id) === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found.id;
};

/** Lines that only one of the texts has: `- ` of the first, `+ ` of the second. */
export function changesOf(before: string, now: string | Refusal): readonly string[] {
  if (typeof now !== 'string') return [now.sentence];
  const [old, next] = [before.split('\n'), now.split('\n')];
  let start = 0;
  while (start < old.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, next.length) - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  return [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...next.slice(start, next.length - end).map((line) => `+ ${line}`),
  ];
}

/** Steps whose text says what the document says. */
export async function follow(document: StudioDocument, random: Random, schema: Schema, steps: number): Promise<number> {
  const commands = new RandomCommands(random, schema);
  // What only its whole triples map identifies may get further edges beside it.
  const maps = new Set(recordsOf(document, 'entity').flatMap(({ id }) => (document.text.anchors.get(id) ?? []).map(({ from }) => from)));
  const kept = recordsOf(document, 'text').flatMap(({ anchor: { from, to } }) =>
    maps.has(from) ? [] : [document.text.text.slice(from, to)],
  );
  let session: Session = begin(document);
  let written = 0;
  for (let i = 0; i < steps; i++) {
    // Another name of a prefix is written wherever it is used, also in what is kept.
    const without = recordsOf(document, 'text').length === 0 ? [] : (['rename-prefix'] as const);
    const { command, argument } = commands.next(session.document, ['fold', 'set-expert', ...without]);
    const done = perform(session, command, argument, writeOf(document));
    if (isRefusal(done)) {
      expect(done.sentence).toMatch(/^\S.*\.$/s);
      continue;
    }
    const changed = done.session.document.text.text !== session.document.text.text;
    session = done.session;
    if (!changed) continue;
    written++;
    const { text, anchors } = session.document.text;
    for (const ranges of anchors.values())
      for (const { from, to } of ranges) expect(from >= 0 && from < to && to <= text.length).toBe(true);
    for (const part of kept) expect(text).toContain(part);
    await expectSame(session.document, recordsOf(session.document, 'text').length > 0);
  }
  while (session.done.length > 0) session = undo(session);
  expect(session.document.text.text).toBe(document.text.text);
  return written;
}

/** The text says what is drawn, and no more than that and what is kept. */
async function expectSame(document: StudioDocument, hasMore: boolean): Promise<void> {
  const options = { baseIri: baseOf(document.language, document.base) };
  const printed = await print(document, document.language);
  if (printed.text === undefined || printed.text === '') return;
  const name = documentName(document.language === 'yarrrml');
  const [now, meant] = await Promise.all([document.text.text, printed.text].map((text) => readMapping([{ name, text }], options)));
  const errorsOf = (result: typeof now): readonly string[] =>
    (result?.diagnostics ?? []).flatMap(({ severity, message }) => (severity === 'error' ? [message] : [])).sort();
  const context = `${document.text.text}\n-----\n${printed.text}`;
  if (!hasMore && JSON.stringify(errorsOf(now)) !== JSON.stringify(errorsOf(meant))) throw new Error(`${errorsOf(now)}\n${context}`);
  if (errorsOf(meant).length > 0 || now === undefined || meant === undefined) return;
  // Quoted triples have no pattern.
  if (hasMore && JSON.stringify(now.mapping).includes('"kind":"star"')) return;
  const [here, there] = [patternsOf(now.mapping), patternsOf(meant.mapping)];
  const missing = there.filter((one) => !here.includes(one));
  const more = hasMore ? [] : here.filter((one) => !there.includes(one));
  if (missing.length > 0 || more.length > 0)
    throw new Error(`${errorsOf(now)}\nmissing ${missing.join('\n')}\nmore ${more.join('\n')}\n${context}`);
}

/** Fields that inputs of their formats may have. */
export const schemaOf = (document: StudioDocument): Schema =>
  new Map(
    recordsOf(document, 'input').map(({ id, format }) => [
      id,
      SHOP_SCHEMA.get(format === 'json' ? 'orders' : format === 'xml' ? 'parts' : 'people') as ReadonlyMap<string, SchemaField>,
    ]),
  );

export const folder = process.env.CONFORMANCE_CASES;
const cases = folder === undefined ? [] : (readManifest(folder) ?? []);
/** Mappings of public suites, in `folder`. */
export const files = [...new Set(cases.flatMap(({ dir, mapping }) => (mapping === null ? [] : [join(dir, mapping)])))];
