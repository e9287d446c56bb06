/** Samples of the inputs of a model: asked for when an input is new or is read in another way, and given to the editor as its schema. */
import { hasSample, readSample, type Sample } from '../../client/samples.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { SIGNED_IN } from '../../client/token.ts';
import type { Id, Input } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { fieldsByPath, type Schema } from '../../core/elements/schema.ts';
import type { Editor } from './editor.ts';
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
  /** Gives up a request. */
  stop(input: Id): void;
  close(): void;
}

const OTHER_DATABASE = 'The fields of a database that the mapping itself names are not shown.';

/** What a sample depends on. */
const keyOf = ({ location, format, dialect }: Input): string => JSON.stringify([location, format, dialect]);

export function followSamples(editor: Editor): Samples {
  const store = makeStore<SampleStates>(new Map());
  // What was known before stays where nothing can be read now.
  const before = editor.get().schema;
  const asked = new Map<Id, { readonly key: string; readonly controller: AbortController }>();

  const put = (input: Id, state: SampleState | undefined): void => {
    const states = new Map(store.get());
    if (state === undefined) states.delete(input);
    else states.set(input, state);
    store.set(states);
    editor.setSchema(new Map([...before, ...schemaOf(states)]));
  };
  const read = (input: Input, deeper: boolean): void => {
    asked.get(input.id)?.controller.abort();
    const controller = new AbortController();
    asked.set(input.id, { key: keyOf(input), controller });
    if (!hasSample(input)) {
      put(input.id, { kind: 'failed', trouble: { kind: 'refused', sentence: OTHER_DATABASE } });
      return;
    }
    if (store.get().get(input.id)?.kind !== 'read') put(input.id, { kind: 'reading' });
    readSample(input, editor.get().origin.service, deeper, controller.signal).then(
      (sample) => {
        if (!controller.signal.aborted) put(input.id, { kind: 'read', sample });
      },
      (error) => {
        const trouble = troubleOf(error);
        if (trouble !== undefined && !controller.signal.aborted) put(input.id, { kind: 'failed', trouble });
      },
    );
  };
  const look = (): void => {
    const { session, role } = editor.get();
    // A viewer gets no values of inputs.
    if (role === 'viewer') return;
    const inputs = recordsOf(session.document, 'input');
    for (const input of inputs) if (asked.get(input.id)?.key !== keyOf(input)) read(input, false);
    for (const id of [...asked.keys()]) {
      if (session.document.records.has(id)) continue;
      asked.get(id)?.controller.abort();
      asked.delete(id);
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

const schemaOf = (states: SampleStates): Schema =>
  new Map([...states].flatMap(([id, state]) => (state.kind === 'read' ? [[id, fieldsByPath(state.sample.fields)] as const] : [])));
