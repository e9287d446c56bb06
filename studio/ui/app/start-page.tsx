import { type ReactNode, useEffect, useState } from 'react';
import type { StudioMappings } from '../../../client/types.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { Empty } from '../parts/empty.tsx';
import { useVisit } from '../store/visit.ts';
import { hashOf } from './address.ts';
import { WORDS } from './words.ts';

/** The models of the service. */
export function StartPage(): ReactNode {
  const { service, user } = useVisit();
  const [models, setModels] = useState<StudioMappings['mappings'] | Trouble | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    service.studio.listMappings({ signal: stop.signal }).then(setModels, (error) => setModels(troubleOf(error)));
    return () => stop.abort();
  }, [service]);
  return (
    <main className="start">
      <header>
        <h1>{WORDS.product}</h1>
        <span>{WORDS.user(user.actor, user.role)}</span>
      </header>
      {models === undefined ? (
        <p>{WORDS.loading}</p>
      ) : 'sentence' in models ? (
        <Empty title={models.sentence}>{models.hint}</Empty>
      ) : (
        <ul>
          {models.map(({ name }) => (
            <li key={name}>
              <a href={hashOf({ kind: 'model', service: 'semi-structured-transformer', name, isNew: false })}>{name}</a>
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
