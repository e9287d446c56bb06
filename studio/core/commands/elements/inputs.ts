/** Inputs: added, moved, removed, and how they are read. */
import type { CsvDialect, Format, Id, Input, Location, StudioDocument } from '../../document.ts';
import { freshId, nameOf } from '../../elements/names.ts';
import { fieldsOfRecord, recordsOf, withRecords } from '../../elements/records.ts';
import { saysEmpty, whyNoSwitch } from '../../empty-texts.ts';
import { isFlat } from '../../levels.ts';
import { mayUngroup } from '../../rules/ungroup.ts';
import { isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { addedIn, always, type Command, changedIn, removedIn, required, selected } from '../command.ts';
import { namesNamespaces } from './first-use.ts';

const oneInput = selected('Select an input first.', ['input']);

export interface NewInput {
  /** Unique among inputs. */
  readonly name: string;
  readonly location: Location;
  readonly format: Format;
  readonly namespaces?: Readonly<Record<string, string>>;
  /** Absent: the empty text, where the language can say so. */
  readonly nulls?: readonly string[];
  readonly dialect?: CsvDialect;
}

/** Adds a file, table or query. */
export const addInput: Command<NewInput> = {
  name: 'add-input',
  label: (_, { name }) => `Add ${name}`,
  role: 'operator',
  enabled: always,
  perform(document, { namespaces = {}, ...rest }) {
    const taken = nameTaken(document, rest.name);
    if (taken !== undefined) return taken;
    const id = freshId(document.records, 'input');
    const said = namesNamespaces(document.language) ? namespaces : {};
    const nulls = saysEmpty(document.language, rest) ? [''] : [];
    return withRecords(document, [{ kind: 'input', id, grouped: true, namespaces: said, nulls, ...rest }]);
  },
  said: (before, after) => `Added ${namesOf(after, addedIn(before, after))}`,
  recorded: true,
};

/** Refuses a name that another input has. */
function nameTaken(document: StudioDocument, name: string, but?: Id): Refusal | undefined {
  if (name.trim() === '') return refuse('I1', 'An input needs a name.', []);
  const isTaken = recordsOf(document, 'input').some((input) => input.name === name && input.id !== but);
  return isTaken ? refuse('I1', `There is an input named ${name} already.`, [name]) : undefined;
}

/** Removes an input that no element reads. */
export const removeInput: Command<{ readonly id: Id }> = {
  name: 'remove-input',
  label: (document, { id }) => `Remove ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneInput,
  perform(document, { id }) {
    const input = required(document, 'input', id);
    if (isRefusal(input)) return input;
    const readers = readersOf(document, id);
    if (readers.length > 0) {
      const names = [...new Set(readers.map((reader) => nameOf(document, reader)))];
      return refuse('I1', `${input.name} is read by ${names.join(', ')}. Remove ${names.length === 1 ? 'it' : 'them'} first.`, [
        input.name,
        ...names,
      ]);
    }
    const shown = recordsOf(document, 'place').filter(({ of }) => of === id);
    return withRecords(document, [], new Set([id, ...shown.map((place) => place.id)]));
  },
  said: (before, after) => `Removed ${namesOf(before, removedIn(before, after))}`,
  recorded: true,
};

const readersOf = (document: StudioDocument, input: Id): readonly Id[] =>
  [...document.records.values()]
    .filter(
      (record) => (record.kind === 'entity' && record.input === input) || fieldsOfRecord(record).some((field) => field.input === input),
    )
    .map(({ id }) => id);

/** Reads an input from elsewhere, such as a newer file of the same shape. */
export const relocateInput: Command<{
  readonly id: Id;
  readonly location: Location;
  readonly name?: string;
  readonly format?: Format;
}> = {
  name: 'relocate-input',
  label: (document, { id }) => `Change where ${nameOf(document, id)} is read from`,
  role: 'operator',
  enabled: oneInput,
  perform(document, { id, location, name, format }) {
    const input = required(document, 'input', id);
    if (isRefusal(input)) return input;
    const taken = name === undefined ? undefined : nameTaken(document, name, id);
    if (taken !== undefined) return taken;
    const moved: Input = { ...input, location, name: name ?? input.name, format: format ?? input.format };
    const next: Input = saysEmpty(document.language, moved) ? moved : { ...moved, nulls: moved.nulls.filter((text) => text !== '') };
    if (pathsOf(next.format) !== pathsOf(input.format) && readersOf(document, id).length > 0) {
      return refuse('I1', `The fields of ${input.name} have no paths in the format ${next.format}.`, [input.name]);
    }
    const { dialect, ...rest } = next;
    const grouped = input.grouped || mayUngroup(withRecords(document, [next]), id) !== undefined;
    return withRecords(document, [{ ...rest, grouped, ...(next.format === 'csv' && dialect && { dialect }) }]);
  },
  said: changed('is read from another place'),
  recorded: true,
};

/** Formats with the same kind of paths can take each other's place. */
const pathsOf = (format: Format): string => (isFlat(format) ? 'rows' : format);

/** The switch of rule R5. Elements that exist keep the view in which they were chosen. */
export const setGrouping: Command<{ readonly id: Id; readonly grouped: boolean }> = {
  name: 'set-grouping',
  label: (document, { id, grouped }) => `Switch grouping of ${nameOf(document, id)} ${grouped ? 'on' : 'off'}`,
  keys: 'G',
  role: 'operator',
  enabled: oneInput,
  perform(document, { id, grouped }) {
    const input = required(document, 'input', id);
    if (isRefusal(input)) return input;
    const refusal = grouped ? undefined : mayUngroup(document, id);
    if (refusal !== undefined) return refusal;
    return input.grouped === grouped ? document : withRecords(document, [{ ...input, grouped }]);
  },
  said(before, after) {
    const input = changedIn(before, after)[0];
    return input?.kind === 'input' ? `Grouping of ${input.name} is ${input.grouped ? 'on' : 'off'}` : 'Nothing changed';
  },
  recorded: true,
};

/** How a CSV file is written. */
export const setDialect: Command<{ readonly id: Id; readonly dialect: CsvDialect | undefined }> = {
  name: 'set-dialect',
  label: (document, { id }) => `Change how ${nameOf(document, id)} is read`,
  role: 'operator',
  enabled: oneInput,
  perform(document, { id, dialect }) {
    const input = required(document, 'input', id);
    if (isRefusal(input)) return input;
    if (input.format !== 'csv') return refuse('I1', `${input.name} is no CSV file: it has no delimiter.`, [input.name]);
    if ((dialect?.delimiter ?? ',').length === 0) return refuse('I1', 'A delimiter has one character at least.', []);
    const { dialect: _, ...rest } = input;
    return withRecords(document, [dialect === undefined ? rest : { ...rest, dialect }]);
  },
  said: changed('is read in another way'),
  merges: (last, next) => last.id === next.id,
  recorded: true,
};

/** Whether an empty text is a value. */
export const setEmpty: Command<{ readonly id: Id; readonly isNone: boolean }> = {
  name: 'set-empty',
  label: (document, { id, isNone }) => `Take empty texts of ${nameOf(document, id)} for ${isNone ? 'no value' : 'values'}`,
  role: 'operator',
  enabled: oneInput,
  perform(document, { id, isNone }) {
    const input = required(document, 'input', id);
    if (isRefusal(input)) return input;
    const refusal = whyNoSwitch(document.language, input);
    if (refusal !== undefined) return refuse('I1', refusal, [input.name]);
    if (input.nulls.includes('') === isNone) return document;
    const others = input.nulls.filter((text) => text !== '');
    return withRecords(document, [{ ...input, nulls: isNone ? ['', ...others] : others }]);
  },
  said(before, after) {
    const input = changedIn(before, after)[0];
    return input?.kind === 'input'
      ? `Empty texts of ${input.name} are ${input.nulls.includes('') ? 'no value' : 'values'}`
      : 'Nothing changed';
  },
  recorded: true,
};

const namesOf = (document: StudioDocument, records: readonly { readonly kind: string; readonly id: Id }[]): string =>
  records
    .filter(({ kind }) => kind !== 'place')
    .map(({ id }) => nameOf(document, id))
    .join(', ');

function changed(how: string): Command<never>['said'] {
  return (before, after) => {
    const [input] = changedIn(before, after);
    return input === undefined ? 'Nothing changed' : `${nameOf(after, input.id)} ${how}`;
  };
}
