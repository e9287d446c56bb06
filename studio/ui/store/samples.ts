/** Samples of the inputs of a model: asked for when an input is new or is read in another way, and given to the editor as its schema. */
import { type LookedUp, readItems, withItems } from '../../client/items.ts';
import { hasSample, type ModelContext, readSample, type Sample } from '../../client/samples.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { SIGNED_IN } from '../../client/token.ts';
import type { Id, Input, Path } from '../../core/document.ts';
import { itemsUsed } from '../../core/elements/items.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { fieldOf, fieldsByPath, type Schema, sampledValue } from '../../core/elements/schema.ts';
import { pathKey } from '../../core/levels.ts';
import type { Editor, EditorState } from './editor.ts';
import { makeStore, type Store } from './store.ts';

export type SampleState =
  | { readonly kind: 'reading' }
  | { readonly kind: 'read'; readonly sample: Sample }
  | { readonly kind: 'failed'; readonly trouble: Trouble };

/** By input. */
export type SampleStates = ReadonlyMap<Id, SampleState>;

export interface Samples extends Store<SampleStates> {
  /** Asks again, for more of it if `deeper`. */
  read(input: Id, deeper?: boolean): void;
  /** Shows a single item beside the first ones of its list. */
  show(input: Id, item: LookedUp): void;
  /** Gives up a request. */
  stop(input: Id): void;
  close(): void;
}

const OTHER_DATABASE = 'The fields of a database that the mapping itself names are not shown.';

/** Of one input; the oldest are left out of the tree. */
const MOST_LOOKED_UP = 200;
/** Of one input: the model may read more of them, which are shown without values. */
const MOST_QUESTIONS = 20;

export const contextOf = ({ session, origin }: EditorState): ModelContext => ({
  language: session.document.language,
  service: origin.service,
});

/** What a sample depends on. */
const keyOf = ({ location, format, dialect, grouped, nulls }: Input): string => JSON.stringify([location, format, dialect, grouped, nulls]);

interface Asked {
  readonly key: string;
  readonly controller: AbortController;
  /** Items that were asked for alone. */
  readonly tried: Set<string>;
  isLooking: boolean;
}

export function followSamples(editor: Editor): Samples {
  const store = makeStore<SampleStates>(new Map());
  // What was known before stays where nothing can be read now.
  const before = editor.get().schema;
  const asked = new Map<Id, Asked>();

  /** The last sample, once it has come, and items that are shown beside it. */
  const lookedUp = new Map<Id, { readonly sample?: Sample; readonly items: readonly LookedUp[] }>();

  const put = (input: Id, state: SampleState | undefined): void => {
    const states = new Map(store.get());
    if (state === undefined) states.delete(input);
    else states.set(input, state);
    store.set(states);
    const namespaces = new Map([...samplesRead(states)].map(([id, sample]) => [id, sample.namespaces]));
    editor.setSchema(new Map([...before, ...schemaOf(states)]), namespaces);
  };
  const show = (id: Id, item: LookedUp): void => {
    if (!asked.has(id)) return;
    const { sample, items: before = [] } = lookedUp.get(id) ?? {};
    const items = [...before, item].slice(-MOST_LOOKED_UP);
    lookedUp.set(id, { ...(sample !== undefined && { sample }), items });
    // A sample that is on its way takes it up when it comes.
    if (sample !== undefined) put(id, { kind: 'read', sample: withItems(sample, items) });
  };
  const read = (input: Input, deeper: boolean): void => {
    asked.get(input.id)?.controller.abort();
    const controller = new AbortController();
    if (asked.get(input.id)?.key !== keyOf(input)) lookedUp.delete(input.id);
    asked.set(input.id, { key: keyOf(input), controller, tried: new Set(), isLooking: false });
    if (!hasSample(input)) {
      put(input.id, { kind: 'failed', trouble: { kind: 'refused', sentence: OTHER_DATABASE } });
      return;
    }
    if (store.get().get(input.id)?.kind !== 'read') put(input.id, { kind: 'reading' });
    readSample(input, contextOf(editor.get()), deeper, controller.signal).then(
      (sample) => {
        if (controller.signal.aborted) return;
        const { items = [] } = lookedUp.get(input.id) ?? {};
        lookedUp.set(input.id, { sample, items });
        put(input.id, { kind: 'read', sample: withItems(sample, items) });
        void lookUpUsed(input);
      },
      (error) => {
        const trouble = troubleOf(error);
        if (trouble !== undefined && !controller.signal.aborted) put(input.id, { kind: 'failed', trouble: withName(trouble, input) });
      },
    );
  };
  /** Asks for the values of items that the model reads and the sample does not have, one list at a time. */
  const lookUpUsed = async (input: Input): Promise<void> => {
    const request = asked.get(input.id);
    const { sample } = lookedUp.get(input.id) ?? {};
    if (request === undefined || sample === undefined || request.isLooking || input.grouped) return;
    const { session, schema, origin } = editor.get();
    const isUnknown = (path: Path): boolean => {
      const ref = { input: input.id, path };
      return fieldOf(schema, ref)?.sample !== undefined && sampledValue(schema, ref) === undefined;
    };
    const wanted = itemsUsed(session.document, input.id)
      .filter(({ reads }) => reads.some(isUnknown))
      .map(({ list, position }) => ({ list, position, key: `${pathKey(list)} ${position}` }))
      .filter(({ key }) => !request.tried.has(key));
    const [next] = wanted;
    if (next === undefined || request.tried.size >= MOST_QUESTIONS) return;
    request.tried.add(next.key);
    request.isLooking = true;
    const named = { ...input, namespaces: { ...sample.namespaces, ...input.namespaces } };
    const { signal } = request.controller;
    try {
      const { items } = await readItems(named, next.list, sample.fields, { from: next.position }, origin.service, signal);
      // Neighbours come along.
      const same = new Set(wanted.filter(({ list }) => pathKey(list) === pathKey(next.list)).map(({ position }) => position));
      for (const item of items) if (same.has(item.position)) show(input.id, { list: next.list, item });
    } catch (error) {
      // What the service says of it, it says of the next question, too: the items stand in the tree without values. Other errors are thrown.
      troubleOf(error);
      return;
    } finally {
      request.isLooking = false;
    }
    await lookUpUsed(input);
  };
  const look = (): void => {
    const { session, role } = editor.get();
    // A viewer gets no values of inputs.
    if (role === 'viewer') return;
    const inputs = recordsOf(session.document, 'input');
    for (const input of inputs) {
      if (asked.get(input.id)?.key === keyOf(input)) void lookUpUsed(input);
      else read(input, false);
    }
    for (const id of [...asked.keys()]) {
      if (session.document.records.has(id)) continue;
      asked.get(id)?.controller.abort();
      asked.delete(id);
      lookedUp.delete(id);
      put(id, undefined);
    }
  };
  const inputOfId = (id: Id): Input | undefined => recordsOf(editor.get().session.document, 'input').find((input) => input.id === id);
  let seen = editor.get().session.document.records;
  const leave = editor.subscribe(() => {
    const { records } = editor.get().session.document;
    if (records === seen) return;
    seen = records;
    look();
  });
  look();
  // What the service has refused to a token that had ended.
  const readAgain = (): void => {
    for (const [id, state] of store.get()) {
      const input = inputOfId(id);
      if (state.kind === 'failed' && state.trouble.kind === 'sign-in' && input !== undefined) read(input, false);
    }
  };
  window.addEventListener(SIGNED_IN, readAgain);
  return {
    get: store.get,
    subscribe: store.subscribe,
    read(id, deeper = false) {
      const input = inputOfId(id);
      if (input !== undefined) read(input, deeper);
    },
    show,
    stop(id) {
      asked.get(id)?.controller.abort();
      put(id, { kind: 'failed', trouble: { kind: 'refused', sentence: 'Reading was stopped.' } });
    },
    close() {
      leave();
      window.removeEventListener(SIGNED_IN, readAgain);
      for (const { controller } of asked.values()) controller.abort();
    },
  };
}

/** An uploaded file has the name that the person knows, in place of its address on the service. */
const withName = (trouble: Trouble, { location, name }: Input): Trouble =>
  location.kind === 'upload' ? { ...trouble, sentence: trouble.sentence.replaceAll(location.url, name) } : trouble;

/** By input, where one was read. */
export const samplesRead = (states: SampleStates): ReadonlyMap<Id, Sample> =>
  new Map([...states].flatMap(([id, state]) => (state.kind === 'read' ? [[id, state.sample] as const] : [])));

const schemaOf = (states: SampleStates): Schema => new Map([...samplesRead(states)].map(([id, { fields }]) => [id, fieldsByPath(fields)]));
