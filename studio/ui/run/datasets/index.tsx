/** The page of datasets: all of them, one with its versions, or what a version has changed. */
import { type ReactNode, useEffect, useRef } from 'react';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ago } from '../../parts/times.ts';
import { type DatasetsAddress, hashOf } from '../../store/address.ts';
import { useVisit } from '../../store/visit.ts';
import { Answered } from './answered.tsx';
import { useAnswer } from './asking.ts';
import { Changes } from './changes.tsx';
import './datasets.css';
import { Versions } from './versions.tsx';
import { WORDS } from './words.ts';

export default function DatasetsPage({ address: { name, version } }: { readonly address: DatasetsAddress }): ReactNode {
  const { user } = useVisit();
  const heading = useRef<HTMLHeadingElement>(null);
  // The link that led here is gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another page
  useEffect(() => heading.current?.focus(), [name, version]);
  return (
    <div className="datasets">
      <header>
        <a className="button quiet icon-only" href={hashOf({ kind: 'start' })} aria-label={WORDS.home} title={WORDS.home}>
          <Icon name="home" />
        </a>
        <h1 ref={heading} tabIndex={-1}>
          {name === undefined ? WORDS.title : version === undefined ? name : WORDS.versionOf(name, version)}
        </h1>
        {name !== undefined && (
          <a className="button quiet" href={hashOf({ kind: 'datasets' })}>
            {WORDS.title}
          </a>
        )}
        {name !== undefined && version !== undefined && (
          <a className="button quiet" href={hashOf({ kind: 'datasets', name })}>
            {WORDS.allOf(name)}
          </a>
        )}
        <span className="muted">{user.actor === 'anonymous' ? user.role : `${user.actor} · ${user.role}`}</span>
      </header>
      <main>
        {name === undefined ? (
          <DatasetList />
        ) : version === undefined ? (
          <Versions key={name} name={name} />
        ) : (
          <Changes key={`${name}/${version}`} name={name} version={version} />
        )}
      </main>
    </div>
  );
}

const DatasetList = (): ReactNode => (
  <section aria-label={WORDS.title}>
    <p className="muted">{WORDS.explained}</p>
    <Answered asked={useAnswer('all', ({ datasets }, signal) => datasets.list({ signal }))}>
      {(datasets) =>
        datasets.length === 0 ? (
          <Empty title={WORDS.none}>{WORDS.noneHint}</Empty>
        ) : (
          <table>
            <thead>
              <tr>
                {Object.entries(WORDS.columns).map(([key, label]) => (
                  <th key={key} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {datasets.map(({ name, currentVersion, endedAt, statements }) => (
                <tr key={name}>
                  <th scope="row">
                    <a href={hashOf({ kind: 'datasets', name })}>{name}</a>
                  </th>
                  <td>{currentVersion}</td>
                  <td title={endedAt ?? undefined}>{endedAt === null ? WORDS.noVersion : ago(Date.parse(endedAt))}</td>
                  <td>{WORDS.number(statements)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Answered>
  </section>
);
