/** The inspector: what is selected, to be read and changed. All that it does is a command. */
import type { ReactNode } from 'react';
import type { Edge, Element } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { edgesTo, recordOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { useEditorState } from '../store/context.tsx';
import { useAccess } from './access.ts';
import { AttributeView } from './attribute.tsx';
import { EdgeView, Predicates } from './edges/edge.tsx';
import { EntityView, KeptAsText } from './entity.tsx';
import { Graphs, GraphView } from './graphs.tsx';
import { InputView } from './input.tsx';
import './inspector.css';
import { ModelView, SeveralView } from './model.tsx';
import { Suggestions } from './suggestions.tsx';
import { WORDS } from './words.ts';

export default function InspectorRegion(): ReactNode {
  const { document, readOnly } = useAccess();
  const ids = useEditorState(({ selection }) => selection.elements);
  const elements = ids.map((id) => document.records.get(id)).filter((one) => one !== undefined);
  const [only] = elements;
  return (
    <div className="inspector">
      {readOnly && <p className="muted">{WORDS.readOnly}</p>}
      {only === undefined ? (
        <ModelView />
      ) : elements.length > 1 ? (
        <>
          <h2>{WORDS.several(elements.length)}</h2>
          <SeveralView elements={elements} />
          <Suggestions of={ids} />
        </>
      ) : (
        // Another element has other fields: nothing that was typed is carried over.
        <One key={only.id} element={only} />
      )}
    </div>
  );
}

/** An attribute stands with the edge that leads to it, whichever of the two is selected. */
function One({ element }: { readonly element: Element }): ReactNode {
  const { document, locked, tell } = useAccess();
  const attribute = element.kind === 'edge' ? recordOf(document, 'attribute', element.to) : recordOf(document, 'attribute', element.id);
  const shown = attribute ?? element;
  const edges = attribute === undefined ? [] : element.kind === 'edge' ? [element] : edgesTo(document, attribute.id);
  const related = [shown.id, element.id, ...edges.map(({ id }) => id)];
  return (
    <>
      <h2>
        {nameOf(document, shown.id)} <span className="muted">{WORDS.kinds[shown.kind]}</span>
      </h2>
      <Suggestions of={related} />
      {edges.map((edge) => (
        <Predicates key={edge.id} edge={edge} />
      ))}
      <View element={shown} />
      {edges.map((edge: Edge) => (
        <Graphs key={edge.id} ids={[edge.id]} graphs={edge.graphs} />
      ))}
      <div className="buttons">
        {(shown.kind === 'entity' || shown.kind === 'attribute') && (
          <Button disabled={locked} onClick={() => tell('duplicate', { ids: [shown.id] })}>
            {WORDS.duplicate}
          </Button>
        )}
        <Button
          kind="danger"
          disabled={locked}
          onClick={() => (shown.kind === 'input' ? tell('remove-input', { id: shown.id }) : tell('remove', { ids: [shown.id] }))}
        >
          {WORDS.remove}
        </Button>
      </div>
    </>
  );
}

function View({ element }: { readonly element: Element }): ReactNode {
  switch (element.kind) {
    case 'entity':
      return <EntityView entity={element} />;
    case 'attribute':
      return <AttributeView attribute={element} />;
    case 'edge':
      return <EdgeView edge={element} />;
    case 'input':
      return <InputView input={element} />;
    case 'graph':
      return <GraphView graph={element} />;
    case 'text':
      return <p>{element.reason}</p>;
    default:
      return <KeptAsText of={element.id} />;
  }
}
