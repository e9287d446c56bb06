/** The palette: finds elements, fields and commands by their names. */
import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from 'react';
import type { StudioDocument } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { fieldName } from '../../core/elements/path-text.ts';
import { recordsOf } from '../../core/elements/records.ts';
import type { Schema } from '../../core/elements/schema.ts';
import { pathKey } from '../../core/levels.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { useEditor, useEditorState } from '../store/context.tsx';
import type { Editor } from '../store/editor.ts';
import './palette.css';
import { KEYS, WORDS } from './words.ts';

/** What the frame of the page can do. */
export interface Action {
  readonly label: string;
  readonly keys?: string;
  readonly run: () => void;
}

interface Found {
  readonly key: string;
  readonly name: string;
  readonly sort: string;
  readonly run: () => void;
}

/** More are found by typing. */
const MOST_SHOWN = 60;

export function Palette({ actions, onClose }: { readonly actions: readonly Action[]; readonly onClose: () => void }): ReactNode {
  const editor = useEditor();
  const id = useId();
  const document = useEditorState((state) => state.session.document);
  const schema = useEditorState((state) => state.schema);
  const [find, setFind] = useState('');
  const [chosen, setChosen] = useState(0);
  const all = useMemo(() => [...actions.map(ofAction), ...everything(editor, document, schema)], [actions, editor, document, schema]);
  const shown = useMemo(() => best(all, find), [all, find]);
  const take = (found: Found | undefined): void => {
    if (found === undefined) return;
    onClose();
    found.run();
  };
  const move = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    setChosen((now) => Math.max(0, Math.min(shown.length - 1, now + (event.key === 'ArrowDown' ? 1 : -1))));
  };
  return (
    <Dialog title={WORDS.title} onClose={onClose} onSubmit={() => take(shown[chosen])}>
      <Field
        label={WORDS.find}
        labelHidden
        placeholder={WORDS.find}
        value={find}
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={shown[chosen] === undefined ? undefined : `${id}-${chosen}`}
        onKeyDown={move}
        onChange={(event) => {
          setFind(event.target.value);
          setChosen(0);
        }}
      />
      {shown.length === 0 && <p className="muted">{WORDS.none(find)}</p>}
      <div id={id} className="found" role="listbox" aria-label={WORDS.results}>
        {shown.map((found, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field above
          <div
            key={found.key}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            ref={(row) => {
              if (i === chosen) row?.scrollIntoView({ block: 'nearest' });
            }}
            onClick={() => take(found)}
          >
            <span className="name">{found.name}</span>
            <span className="small muted">{found.sort}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

const ofAction = ({ label, keys, run }: Action): Found => ({
  key: `command ${label}`,
  name: label,
  sort: keys === undefined ? WORDS.sorts.command : keys,
  run,
});

function everything(editor: Editor, document: StudioDocument, schema: Schema): readonly Found[] {
  const elements = (['entity', 'attribute', 'input'] as const).flatMap((kind) =>
    recordsOf(document, kind).map(
      ({ id }): Found => ({
        key: id,
        name: nameOf(document, id),
        sort: WORDS.sorts[kind],
        run: () => editor.select({ elements: [id], fields: [] }),
      }),
    ),
  );
  const fields = recordsOf(document, 'input').flatMap(({ id, name }) =>
    [...(schema.get(id)?.values() ?? [])]
      .filter(({ holds }) => holds === 'value')
      .map(
        ({ path }): Found => ({
          key: `${id}:${pathKey(path)}`,
          name: fieldName(path),
          sort: `${WORDS.sorts.field}, ${name}`,
          run: () => editor.select({ elements: [], fields: [{ input: id, path }] }),
        }),
      ),
  );
  return [...elements, ...fields];
}

/** Names that begin with the text first, then those that have it in them. */
function best(all: readonly Found[], find: string): readonly Found[] {
  const wanted = find.trim().toLowerCase();
  const rank = ({ name }: Found): number => name.toLowerCase().indexOf(wanted);
  const found = all.filter((one) => rank(one) >= 0);
  return [...found.filter((one) => rank(one) === 0), ...found.filter((one) => rank(one) > 0)].slice(0, MOST_SHOWN);
}

export const KeyList = ({ onClose }: { readonly onClose: () => void }): ReactNode => (
  <Dialog title={WORDS.keysTitle} onClose={onClose} wide>
    <div className="keys">
      {KEYS.map(([group, rows]) => (
        <section key={group} aria-label={group}>
          <h3>{group}</h3>
          <dl>
            {rows.map(([keys, does]) => (
              <div key={keys}>
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
);
