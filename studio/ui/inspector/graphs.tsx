/** The graphs that elements are written to, and the graph itself. */
import type { ReactNode } from 'react';
import { addGraph, setGraph } from '../../core/commands/elements/graphs.ts';
import { call, together } from '../../core/commands/together.ts';
import type { Graph, Id } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { Combo } from '../parts/fields/combo.tsx';
import { shortIri, writtenIri } from '../store/iris.ts';
import { useAccess } from './access.ts';
import { Chips, Fact, Section } from './section.tsx';
import { WORDS } from './words.ts';

export function Graphs({ ids, graphs }: { readonly ids: readonly Id[]; readonly graphs: readonly Id[] }): ReactNode {
  const { editor, document, readOnly, tell } = useAccess();
  const all = recordsOf(document, 'graph');
  const graphName = (id: Id): string => shortIri(document, nameOf(document, id));
  const add = (written: string): string | undefined => {
    const known = all.find(({ id }) => graphName(id) === written.trim());
    if (known !== undefined) return tell('set-graph', { ids, graphs: [...graphs, known.id] });
    const value = writtenIri(document, written);
    if (value === undefined) return WORDS.wrongIri(written.trim());
    const name = { kind: 'constant', value } as const;
    const there = all.find((one) => one.name.kind === 'constant' && one.name.value === value);
    if (there !== undefined) return tell('set-graph', { ids, graphs: [...graphs, there.id] });
    const made = together(WORDS.addGraph, WORDS.addGraph, [
      call(addGraph, { name }),
      (next) => setGraph.perform(next, { ids, graphs: [...graphs, recordsOf(next, 'graph').at(-1)?.id ?? ''] }),
    ]);
    return editor.perform(made, undefined)?.sentence;
  };
  const others = all.filter(({ id }) => !graphs.includes(id)).map(({ id }) => ({ value: graphName(id) }));
  return (
    <Section title={WORDS.graphs}>
      <Chips
        none={WORDS.defaultGraph}
        chips={graphs.map((id) => ({
          key: id,
          text: graphName(id),
          onRemove: () => tell('set-graph', { ids, graphs: graphs.filter((one) => one !== id) }),
        }))}
      />
      {!readOnly && <Combo label={WORDS.addGraph} hint={WORDS.iriHint} value="" clears options={others} onCommit={add} />}
    </Section>
  );
}

export function GraphView({ graph: { id } }: { readonly graph: Graph }): ReactNode {
  const { editor, document } = useAccess();
  const users = [...recordsOf(document, 'entity'), ...recordsOf(document, 'edge')].filter(({ graphs }) => graphs.includes(id));
  return (
    <>
      <Fact label={WORDS.name} value={nameOf(document, id)} />
      <Section title={WORDS.usedBy}>
        {users.length === 0 && <p className="muted">{WORDS.none}</p>}
        <ul className="lines">
          {users.map((one) => (
            <li key={one.id}>
              <Button kind="quiet" className="grow" onClick={() => editor.select({ elements: [one.id], fields: [] })}>
                {nameOf(document, one.id)}
              </Button>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
