import { type ReactNode, useState } from 'react';
import type { Language } from '../../core/document.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Field } from '../parts/field.tsx';
import { goTo, type TransformerName } from '../store/address.ts';
import { useVisit } from '../store/visit.ts';
import { beginModel, fileName, type Model, transformerOf } from './opening.ts';
import { LANGUAGE_NAMES, WORDS } from './words.ts';

const { dialog } = WORDS;

/** Asks for the name and the language of a new model. */
export function NewModel({
  models,
  onClose,
}: {
  readonly models: readonly Pick<Model, 'name' | 'service'>[];
  readonly onClose: () => void;
}): ReactNode {
  const { user, drafts } = useVisit();
  const [name, setName] = useState('');
  const [language, setLanguage] = useState<Language>('rml');
  const [service, setService] = useState<TransformerName>(transformerOf(user.services));
  const [error, setError] = useState<string | undefined>(undefined);
  const transformers = user.services.filter((one): one is TransformerName => one !== 'graph-writer');
  const create = async (): Promise<void> => {
    const file = fileName(name.trim(), language);
    const isTaken = models.some((model) => model.name === file && model.service === service);
    const wrong =
      name.trim() === '' ? dialog.missing : /^\.|[/\\]/.test(name.trim()) ? dialog.wrong : isTaken ? dialog.taken(file) : undefined;
    setError(wrong);
    if (wrong === undefined) goTo(await beginModel(file, service, language, drafts));
  };
  return (
    <Dialog
      title={dialog.title}
      onClose={onClose}
      onSubmit={() => void create()}
      footer={
        <>
          <Button onClick={onClose}>{dialog.cancel}</Button>
          <Button kind="primary" submits>
            {dialog.create}
          </Button>
        </>
      }
    >
      <Field
        label={dialog.name}
        hint={dialog.nameHint}
        error={error}
        value={name}
        placeholder="shop"
        onChange={(event) => setName(event.target.value)}
      />
      <Choice label={dialog.language} value={language} options={LANGUAGE_NAMES} onChoose={setLanguage} />
      {transformers.length > 1 && (
        <Choice
          label={dialog.source}
          value={service}
          options={transformers.map((one) => [one, dialog.sources[one]] as const)}
          onChoose={setService}
        />
      )}
    </Dialog>
  );
}
