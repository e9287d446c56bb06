/** One dataset: what the store has of it, and its versions, the newest first. */
import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ago } from '../../parts/times.ts';
import { hashOf } from '../../store/address.ts';
import { useVisit } from '../../store/visit.ts';
import { Answered } from './answered.tsx';
import { useAnswer } from './asking.ts';
import { WORDS } from './words.ts';
import { WriteDataset } from './write.tsx';

const STEP = 50;
const MOST = 1_000;

export function Versions({ name }: { readonly name: string }): ReactNode {
  const { user } = useVisit();
  const [limit, setLimit] = useState(STEP);
  const asked = useAnswer(`${name} ${limit}`, ({ datasets }, signal) => datasets.get(name, { limit, signal }));
  return (
    <>
      {user.services.includes('graph-writer') && user.role !== 'viewer' && <WriteDataset name={name} />}
      <section aria-labelledby="versions">
        <h2 id="versions">{WORDS.versions}</h2>
        <Answered asked={asked}>
          {({ versions, oldestVersion }) => (
            <>
              {versions.length === 0 && <p className="muted">{WORDS.noVersion}</p>}
              <table>
                <thead>
                  <tr>
                    {Object.entries(WORDS.versionColumns).map(([key, label]) => (
                      <th key={key} scope="col">
                        {label}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {versions.map(({ version, endedAt, records, added, removed, rejected, runId }) => (
                    <tr key={version}>
                      <th scope="row">
                        <a href={hashOf({ kind: 'datasets', name, version })} aria-label={WORDS.versionOf(name, version)}>
                          {version}
                        </a>
                      </th>
                      <td title={endedAt}>{ago(Date.parse(endedAt))}</td>
                      <td>{WORDS.number(records)}</td>
                      <td>{WORDS.number(added)}</td>
                      <td>{WORDS.number(removed)}</td>
                      <td>{WORDS.number(rejected)}</td>
                      <td>
                        <code>{runId}</code>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {versions.length === limit && limit < MOST && (
                <Button onClick={() => setLimit(Math.min(limit * 4, MOST))}>{WORDS.moreVersions}</Button>
              )}
              {oldestVersion > 1 && versions.at(-1)?.version === oldestVersion && <p className="muted">{WORDS.noOlder(oldestVersion)}</p>}
            </>
          )}
        </Answered>
      </section>
    </>
  );
}
