/** Where nothing is selected: what concerns the whole model, and several elements at once. */
import type { ReactNode } from 'react';
import type { Element, Id } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { recordOf, recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { Combo } from '../parts/fields/combo.tsx';
import { Switch } from '../parts/switch.tsx';
import { useAccess } from './access.ts';
import { Graphs } from './graphs.tsx';
import { Fact, Section } from './section.tsx';
import { WORDS } from './words.ts';

export function ModelView(): ReactNode {
  const { document, locked, tell } = useAccess();
  return (
    <>
      <Empty title={WORDS.title}>{WORDS.empty}</Empty>
      <dl className="key-list">
        {WORDS.keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <Section title={WORDS.model}>
        <Fact label={WORDS.modelLanguage} value={WORDS.languages[document.language]} />
        <Switch
          name={WORDS.expert}
          label={WORDS.expert}
          on={document.expert}
          disabled={locked}
          onSwitch={(expert) => tell('set-expert', { expert })}
        />
      </Section>
      <Prefixes />
    </>
  );
}

function Prefixes(): ReactNode {
  const { document, readOnly, tell } = useAccess();
  const prefixes = recordsOf(document, 'prefix');
  const add = (written: string): string | undefined => {
    const [, name, iri] = /^\s*([^:]*):\s*<?([^\s<>]+)>?\s*$/.exec(written) ?? [];
    return name === undefined || iri === undefined ? WORDS.wrongPrefix : tell('add-prefix', { name: name.trim(), iri });
  };
  return (
    <Section title={WORDS.prefixes}>
      {prefixes.length === 0 && <p className="muted">{WORDS.none}</p>}
      <ul className="lines">
        {prefixes.map(({ id, name, iri }) => (
          <li key={id}>
            <Combo
              label={WORDS.prefixName(name)}
              labelHidden
              value={name}
              hint={iri}
              readOnly={readOnly}
              onCommit={(text) => tell('rename-prefix', { id, name: text.trim() })}
            />
            {!readOnly && (
              <Button kind="quiet" icon="close" label={WORDS.removeOne(`${name}:`)} onClick={() => tell('remove-prefix', { id })} />
            )}
          </li>
        ))}
      </ul>
      {!readOnly && <Combo label={WORDS.newPrefix} hint={WORDS.newPrefixHint} value="" clears onCommit={add} />}
    </Section>
  );
}

/** What several elements share. */
export function SeveralView({ elements }: { readonly elements: readonly Element[] }): ReactNode {
  const { editor, document, locked, tell } = useAccess();
  const ids = elements.map(({ id }) => id);
  const inGraphs = elements.every(({ kind }) => kind === 'entity' || kind === 'edge');
  const common = elements.map((one) => ('graphs' in one ? one.graphs : [])).reduce((a, b) => a.filter((graph) => b.includes(graph)));
  const blocks = [...new Set(ids.map((id): Id => attributeOf(id) ?? id))].filter(
    (id) => recordOf(document, 'entity', id) ?? recordOf(document, 'attribute', id),
  );
  function attributeOf(id: Id): Id | undefined {
    const edge = recordOf(document, 'edge', id);
    return edge === undefined ? undefined : recordOf(document, 'attribute', edge.to)?.id;
  }
  return (
    <>
      <ul className="lines">
        {elements.map(({ id, kind }) => (
          <li key={id}>
            <Button kind="quiet" className="grow" onClick={() => editor.select({ elements: [id], fields: [] })}>
              {nameOf(document, id)}
            </Button>
            <span className="muted">{WORDS.kinds[attributeOf(id) === undefined ? kind : 'attribute']}</span>
          </li>
        ))}
      </ul>
      {inGraphs && <Graphs ids={ids} graphs={common} />}
      <div className="buttons">
        {blocks.length > 0 && (
          <Button disabled={locked} onClick={() => tell('duplicate', { ids: blocks })}>
            {WORDS.duplicate}
          </Button>
        )}
        <Button kind="danger" disabled={locked} onClick={() => tell('remove', { ids: ids.map((id) => attributeOf(id) ?? id) })}>
          {WORDS.remove}
        </Button>
      </div>
    </>
  );
}
