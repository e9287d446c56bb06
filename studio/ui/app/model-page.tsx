/** Opens the model that the address names: its draft, if there is one, else what the service has. */
import { type ReactNode, useEffect, useState } from 'react';
import { draftId } from '../../client/drafts.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import type { StudioDocument } from '../../core/document.ts';
import { apartBy, restored } from '../../core/edit/side.ts';
import { Empty } from '../parts/empty.tsx';
import type { ModelAddress } from '../store/address.ts';
import { EditorProvider } from '../store/context.tsx';
import { type Editor, openEditor } from '../store/editor.ts';
import { restoreOntologies } from '../store/page/ontologies.ts';
import { followSamples, type Samples } from '../store/samples.ts';
import { keptOf, mappingText } from '../store/text.ts';
import { useVisit, type Visit } from '../store/visit.ts';
import { loadWriting } from '../store/writing.ts';
import { EditorPage } from './editor-page.tsx';
import { WORDS } from './words.ts';

interface Opened {
  readonly editor: Editor;
  readonly samples: Samples;
}

export function ModelPage({ address }: { readonly address: ModelAddress }): ReactNode {
  const visit = useVisit();
  const [opened, setOpened] = useState<Opened | Trouble | undefined>(undefined);
  // A new model that is saved gets another address, and stays open.
  const [first] = useState(address);
  useEffect(() => {
    let here: Opened | undefined;
    let isGone = false;
    void restoreOntologies();
    openModel(visit, first).then(
      (editor) => {
        if (isGone) return;
        here = { editor, samples: followSamples(editor) };
        // The printer is there before it is needed: the service may be away then.
        void mappingText(editor.get().session.document, 'drawn').catch(() => undefined);
        setOpened(here);
      },
      (error) => setOpened(troubleOf(error)),
    );
    return () => {
      isGone = true;
      here?.samples.close();
      void here?.editor.close();
    };
  }, [visit, first]);
  if (opened === undefined) return <p className="alone">{WORDS.loading}</p>;
  if ('sentence' in opened) {
    return (
      <main className="alone">
        <Empty title={opened.sentence} actions={<a href="#/">{WORDS.home}</a>}>
          {opened.hint}
        </Empty>
      </main>
    );
  }
  return (
    <EditorProvider {...opened}>
      <EditorPage address={address} />
    </EditorProvider>
  );
}

const newDocument = (name: string): StudioDocument => ({
  records: new Map(),
  language: /\.ya?ml$/i.test(name) ? 'yarrrml' : 'rml',
  expert: false,
  text: { text: '', anchors: new Map() },
});

async function openModel({ drafts, service, user }: Visit, { service: transformer, name, isNew }: ModelAddress): Promise<Editor> {
  const opening = { role: user.role, drafts };
  const draft = await drafts?.get(draftId({ service: transformer, name }));
  if (draft !== undefined) {
    const { origin, document, done, undone, typed, shown } = draft;
    if (keptOf({ origin, session: { done } }) === 'text') await loadWriting(document.language);
    return openEditor({ ...opening, origin, document, history: { done, undone }, typed, shown });
  }
  if (isNew) {
    const origin = { name, service: transformer, etag: undefined, kept: 'drawn', savedText: undefined } as const;
    return openEditor({ ...opening, origin, document: newDocument(name) });
  }
  const { text, etag, side } = await service.studio.getMapping(name, { service: transformer });
  const { readPartly } = await import('../../core/read/partly.ts');
  const { document: found, diagnostics } = await readPartly(text, apartBy(side));
  const { document, shown, schema } = restored(found, side);
  // What is printed as it stands was drawn: nothing of the text is lost when it is printed again.
  const isDrawn = (await mappingText(document, 'drawn')).text === text;
  if (!isDrawn) await loadWriting(document.language);
  const origin = { name, service: transformer, etag, kept: isDrawn ? 'drawn' : 'text', savedText: text } as const;
  // A text with errors is to be corrected, as one that is typed; what is drawn meanwhile is what has none.
  const typed = diagnostics.some(({ severity }) => severity === 'error') ? text : undefined;
  return openEditor({ ...opening, origin, document, shown, schema, typed });
}
