/** The tab of ontologies: those that are loaded in this browser, and a search over their classes and properties. */
import { type ReactNode, useRef, useState } from 'react';
import type { Ontology } from '../../client/ontologies.ts';
import { saidOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { announce } from '../store/announcements.ts';
import { useEditor, useEditorState } from '../store/context.tsx';
import { addOntology, type Coming, endComing, loadedTerms, ONTOLOGIES, removeOntology } from '../store/page/ontologies.ts';
import { useStore } from '../store/store.ts';
import { AddOntology } from './add.tsx';
import './ontology.css';
import { Terms } from './terms.tsx';
import { WORDS } from './words.ts';

export default function OntologyTab(): ReactNode {
  const editor = useEditor();
  const role = useEditorState((state) => state.role);
  const { loaded, coming, isKept } = useStore(ONTOLOGIES, (state) => state);
  const [isAdding, setAdding] = useState(false);
  const adder = useRef<HTMLButtonElement>(null);
  const add = (all: readonly (File | string)[]): void => {
    for (const from of all) {
      void addOntology(from, editor.get().origin.service).then((ontology) => {
        if (ontology !== undefined) announce(WORDS.loaded(ontology.name, countsOf(ontology)));
      });
    }
  };
  const remove = ({ id, name }: Ontology): void => {
    removeOntology(id);
    announce(WORDS.removed(name));
    // The button that had the focus is gone.
    adder.current?.focus();
  };
  const terms = loadedTerms(loaded);
  return (
    <div className="ontology">
      <div className="panel-bar">
        <Button ref={adder} icon="add" disabled={role === 'viewer' && WORDS.needsOperator} onClick={() => setAdding(true)}>
          {WORDS.add}
        </Button>
      </div>
      {!isKept && <p className="muted pad">{WORDS.notKept}</p>}
      {loaded.length + coming.length > 0 && (
        <ul className="loaded" aria-label={WORDS.list}>
          {loaded.map((ontology) => (
            <li key={ontology.id}>
              <p>
                <strong className="name grow" title={ontology.id}>
                  {ontology.name}
                </strong>
                <span className="small muted">{countsOf(ontology)}</span>
                <Button kind="quiet" icon="close" label={WORDS.remove(ontology.name)} onClick={() => remove(ontology)} />
              </p>
              {ontology.cut.map((sentence) => (
                <p key={sentence} className="muted">
                  {sentence}
                </p>
              ))}
            </li>
          ))}
          {coming.map((one) => (
            <ComingRow key={one.number} coming={one} />
          ))}
        </ul>
      )}
      {terms.length > 0 && <Terms terms={terms} />}
      {loaded.length + coming.length === 0 && <Empty title={WORDS.empty}>{WORDS.emptyHint}</Empty>}
      {isAdding && <AddOntology onAdd={add} onClose={() => setAdding(false)} />}
    </div>
  );
}

function ComingRow({ coming: { number, name, trouble } }: { readonly coming: Coming }): ReactNode {
  return (
    <li>
      <p>
        <span className="name grow">{name}</span>
        {trouble === undefined && (
          <span className="small muted" role="img" aria-label={WORDS.readingOf(name)}>
            {WORDS.reading}
          </span>
        )}
        <Button
          kind="quiet"
          icon="close"
          label={trouble === undefined ? WORDS.stop(name) : WORDS.dismiss}
          onClick={() => endComing(number)}
        />
      </p>
      {trouble !== undefined && (
        <p className="trouble" role="alert">
          {saidOf(trouble)}
        </p>
      )}
    </li>
  );
}

function countsOf({ terms }: Ontology): string {
  const classes = terms.filter(({ kind }) => kind === 'class').length;
  return WORDS.counts(classes, terms.length - classes);
}
