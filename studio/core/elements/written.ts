/** Expressions as a person writes them: `order/{id}`, with fields by the shortest names that distinguish them. */

import type { Expression, FieldRef, Format, Id, Input, Path, StudioDocument } from '../document.ts';
import { pathKey } from '../levels.ts';
import { fieldsOfRecord, inputOf } from './records.ts';
import type { Schema } from './schema.ts';

/** The fields of an input by the names that are written for them. */
export interface FieldNames {
  readonly input: Input | undefined;
  /** In the order of the samples. */
  readonly names: readonly string[];
  nameOf(ref: FieldRef): string;
  /** undefined: no field, or more than one, has this name. */
  refOf(name: string): FieldRef | undefined;
}

/** Names of the fields that samples show, and of those that elements read. */
export function fieldNames(document: StudioDocument, schema: Schema, input: Id): FieldNames {
  const byKey = new Map<string, Path>();
  for (const { path, holds } of schema.get(input)?.values() ?? []) if (holds === 'value') byKey.set(pathKey(path), path);
  for (const record of document.records.values()) {
    for (const ref of fieldsOfRecord(record)) if (ref.input === input) byKey.set(pathKey(ref.path), ref.path);
  }
  const paths = [...byKey.values()];
  const { format } = inputOf(document, input) ?? {};
  const endings = (path: Path): readonly string[] => endingsOf(path, format);
  const longName = (path: Path): string => writtenName(path, format);
  const refOf = (name: string): FieldRef | undefined => {
    const wanted = name.trim();
    const exact = paths.filter((path) => longName(path) === wanted);
    const found = exact.length > 0 ? exact : paths.filter((path) => endings(path).includes(wanted));
    const [path] = found;
    return path === undefined || found.length > 1 ? undefined : { input, path };
  };
  const nameOf = ({ path }: FieldRef): string =>
    endings(path).find((name) => pathKey(refOf(name)?.path ?? []) === pathKey(path)) ?? longName(path);
  return { input: inputOf(document, input), names: paths.map((path) => nameOf({ input, path })), nameOf, refOf };
}

/** `sku`, then `lines.sku`: from the shortest to all of it. */
function endingsOf(path: Path, format: Format | undefined): readonly string[] {
  const parts = pathNames(path, format);
  return parts.map((_, i) => parts.slice(parts.length - 1 - i).join('.'));
}

/** All of it, such as `lines[0].sku`. */
export const writtenName = (path: Path, format: Format | undefined): string => pathNames(path, format).join('.');

/** Names with the positions of items that were chosen alone, as the paths of the format count them. */
function pathNames(path: Path, format: Format | undefined): readonly string[] {
  const first = format === 'xml' ? 1 : 0;
  const parts: string[] = [];
  for (const step of path) {
    if ('name' in step) parts.push(step.name);
    else if ('attribute' in step) parts.push(`@${step.attribute}`);
    else if ('index' in step) parts.push(`${parts.pop() ?? ''}[${step.index + first}]`);
  }
  return parts;
}

/** `\{`, `\}` and `\\` stand for themselves. */
const escaped = (text: string): string => text.replace(/[\\{}]/g, '\\$&');

/** The text of a template, with `{…}` around names of fields. */
export const templateText = (parts: readonly (string | FieldRef)[], { nameOf }: FieldNames): string =>
  parts.map((part) => (typeof part === 'string' ? escaped(part) : `{${nameOf(part)}}`)).join('');

/** What is wrong with a template. */
export type WrittenFault = { readonly unknown: string } | { readonly brace: true };

/** Reads a template that a person has written. Without a field it is a constant. */
export function readTemplate(text: string, { refOf }: FieldNames): Exclude<Expression, { kind: 'fresh' }> | WrittenFault {
  const parts: (string | FieldRef)[] = [];
  let plain = '';
  for (let at = 0; at < text.length; at++) {
    const one = text[at] as string;
    if (one === '\\' && /[\\{}]/.test(text[at + 1] ?? '')) plain += text[++at];
    else if (one === '}') return { brace: true };
    else if (one !== '{') plain += one;
    else {
      const end = text.indexOf('}', at);
      if (end < 0) return { brace: true };
      const name = text.slice(at + 1, end);
      const ref = refOf(name);
      if (ref === undefined) return { unknown: name };
      if (plain !== '') parts.push(plain);
      plain = '';
      parts.push(ref);
      at = end;
    }
  }
  if (plain !== '') parts.push(plain);
  return parts.every((part) => typeof part === 'string') ? { kind: 'constant', value: parts.join('') } : { kind: 'template', parts };
}
