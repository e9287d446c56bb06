/** A text of one line for each record, in place of a mapping: enough to see that text and ranges follow the records. */
import type { Element, StudioDocument } from '../../../../studio/core/document.ts';
import type { TextEdit } from '../../../../studio/core/history/edits.ts';

const lineOf = (record: Element): string => `${JSON.stringify(record)}\n`;

/** The edits that rewrite the lines of changed records, remove those of removed ones and add those of new ones. */
export function writeLines(before: StudioDocument, after: StudioDocument): readonly TextEdit[] {
  const { text, anchors } = after.text;
  const edits: TextEdit[] = [];
  for (const [id, ranges] of anchors) {
    const record = after.records.get(id);
    for (const { from, to } of ranges) {
      if (record === undefined) edits.push({ from, to, text: '' });
      else if (record !== before.records.get(id)) edits.push({ from, to, text: lineOf(record), of: id });
    }
  }
  for (const record of after.records.values()) {
    if (record.kind !== 'place' && !anchors.has(record.id))
      edits.push({ from: text.length, to: text.length, text: lineOf(record), of: record.id });
  }
  return edits;
}

/** The document with a line for each of its records. */
export function lined(document: StudioDocument): StudioDocument {
  const anchors = new Map<string, readonly { readonly from: number; readonly to: number }[]>();
  let text = '# a comment\n';
  for (const record of document.records.values()) {
    if (record.kind === 'place') continue;
    const line = lineOf(record);
    anchors.set(record.id, [{ from: text.length, to: text.length + line.length }]);
    text += line;
  }
  return { ...document, text: { text, anchors } };
}
