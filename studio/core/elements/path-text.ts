/** Paths as people read them: JSONPath, XPath, and the short names of fields and levels. */
import type { Path, Step } from '../document.ts';

const PLAIN = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** `$[*].lines[2]['unit price']`. @see https://www.rfc-editor.org/rfc/rfc9535 */
export const jsonPathText = (path: Path): string => `$${path.map(jsonStep).join('')}`;

function jsonStep(step: Step): string {
  if ('name' in step) return PLAIN.test(step.name) ? `.${step.name}` : `['${quoted(step.name)}']`;
  if ('attribute' in step) return `['@${quoted(step.attribute)}']`;
  if ('each' in step) return '[*]';
  return 'index' in step ? `[${step.index}]` : '';
}

const quoted = (name: string): string =>
  name.replace(/['\\]/g, '\\$&').replace(/[\x00-\x1f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `/orders/order[1]/line/@sku`: positions from 1, and nothing where all elements of a name are meant. */
export const xPathText = (path: Path): string => path.map(xPathStep).join('') || '/';

function xPathStep(step: Step): string {
  if ('name' in step) return `/${step.name}`;
  if ('attribute' in step) return `/@${step.attribute}`;
  if ('each' in step) return '';
  return 'index' in step ? `[${step.index + 1}]` : '/text()';
}

/** The name of a field as it stands in the tree: `sku`, `@currency`. Of an item: the name of its list. */
export const fieldName = (path: Path): string => lastName(path) ?? jsonPathText(path);

function lastName(path: Path): string | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const step = path[i] as Step;
    if ('name' in step) return step.name;
    if ('attribute' in step) return `@${step.attribute}`;
  }
  return undefined;
}

/** A name of the data without what it has for programs alone: `@x:id` and `id` are called alike. */
export const spokenName = (name: string): string => name.replace(/^@/, '').replace(/^[\p{L}_][\p{L}\p{N}_.-]*:(?=[\p{L}_])/u, '');

/** The name of the list or object that `level` leads into behind its first `shared` steps; undefined: none has a name there. */
export const nameBehind = (level: Path, shared: number): string | undefined => {
  const step = level.slice(shared).find((one) => 'name' in one || 'attribute' in one);
  return step === undefined ? undefined : fieldName([step]);
};
