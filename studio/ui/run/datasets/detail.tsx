/** What makes a changed statement: the rules of the mapping, and the records of the inputs, as both are now. */
import type { ReactNode } from 'react';
import type { DatasetManifest, StudioStatement } from '../../../../client/types.ts';
import { Button } from '../../parts/button.tsx';
import { fileOf, StatementRecords } from '../../parts/statements/records.tsx';
import { useEscape } from '../../store/page/escape.ts';
import { TroubleNote } from '../trouble-note.tsx';
import { useAnswer } from './asking.ts';
import type { Which } from './group.ts';
import type { VersionModel } from './model.ts';
import { WORDS } from './words.ts';

interface DetailProps {
  readonly name: string;
  readonly manifest: Pick<DatasetManifest, 'version' | 'previous'>;
  readonly which: Which;
  readonly statement: string;
  readonly model: VersionModel | undefined;
  readonly onClose: () => void;
}

export function ChangeDetail({ name, manifest: { version, previous }, which, statement, model, onClose }: DetailProps): ReactNode {
  const { answer, trouble } = useAnswer(statement, ({ datasets }, signal) =>
    datasets.findStatement(name, { statement, version }, { signal }),
  );
  useEscape(true, onClose);
  return (
    <section className="statement-detail" aria-label={statement}>
      <Button kind="quiet" icon="close" label={WORDS.close} onClick={onClose} />
      <code>{statement}</code>
      <p>{which === 'added' ? WORDS.addedBy(version) : WORDS.removedBy(version, previous)}</p>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      {answer === undefined && trouble === undefined && <p role="status">{WORDS.looking}</p>}
      {answer !== undefined && (
        <>
          <Rules rules={answer.rules} which={which} model={model} />
          <Records answer={answer} which={which} />
        </>
      )}
    </section>
  );
}

function Rules({ rules, which, model }: Pick<StudioStatement, 'rules'> & Pick<DetailProps, 'which' | 'model'>): ReactNode {
  if (rules.length === 0) return <p>{WORDS.noRule}</p>;
  return (
    <>
      <h3>{WORDS.rule[which]}</h3>
      <ul>
        {rules.map(({ triplesMap, name, document, line, parts }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules of one triples map have no other name
          <li key={`${triplesMap} ${i}`}>
            <p>
              {WORDS.at(name, line, fileOf(document))}
              {parts.length === 0 && `, ${WORDS.gathers}`}
            </p>
            <dl>
              {parts.flatMap(({ part, values }) =>
                values.map(({ name: reference, value }) => (
                  <div key={`${part} ${reference}`}>
                    <dt>{reference}</dt>
                    <dd>{value}</dd>
                  </div>
                )),
              )}
            </dl>
          </li>
        ))}
      </ul>
      {model !== undefined && (
        <p>
          <a href={model.hash}>{WORDS.openModel(model.name)}</a>
        </p>
      )}
    </>
  );
}

function Records({
  answer: { rules, rows, count, late, partial },
  which,
}: {
  readonly answer: StudioStatement;
  readonly which: Which;
}): ReactNode {
  return (
    <>
      {rows.length > 0 ? (
        <>
          {which === 'removed' && <p>{WORDS.again}</p>}
          <p>{WORDS.records(count)}</p>
          <StatementRecords rows={rows} />
          {count > rows.length && <p className="muted">{WORDS.moreRecords(count - rows.length)}</p>}
        </>
      ) : (
        rules.length > 0 && late.length === 0 && !partial && <p>{WORDS.noRecord[which]}</p>
      )}
      {late.map((input) => (
        <p key={input} className="muted">
          {WORDS.late(fileOf(input) ?? input)}
        </p>
      ))}
      {partial && <p className="muted">{WORDS.partial}</p>}
    </>
  );
}
