/** What a run came to. */
import type { ReactNode } from 'react';
import type { FailureMessage, RunView, SuccessReport, WriterReport } from '../../../client/types.ts';
import { hashOf } from '../store/address.ts';
import { DownloadOutput } from './download.tsx';
import type { RunPlace } from './follow.ts';
import { WORDS } from './words.ts';

type Outcome = NonNullable<RunView['outcome']>;

/** What can be done with what a run has made. */
export type AfterRun = (report: SuccessReport) => ReactNode;

interface ReportProps {
  readonly place: RunPlace;
  readonly outcome: Outcome;
  readonly after: AfterRun | undefined;
}

export function Report({ place, outcome, after }: ReportProps): ReactNode {
  if (outcome.state !== 'completed') return <Failure failure={outcome.failure} />;
  const { report } = outcome;
  return (
    <>
      {'target' in report ? <Written report={report} /> : <Made place={place} report={report} after={after} />}
      {report.warnings.length > 0 && (
        <>
          <h4>{WORDS.warnings}</h4>
          <ul className="sentences">
            {report.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

interface MadeProps extends Omit<ReportProps, 'outcome'> {
  readonly report: SuccessReport;
}

function Made({ place, report, after }: MadeProps): ReactNode {
  const { records, quads, processingTime, rejectedRecords, outputFileLocations, targetFileLocations = [] } = report;
  const files = [...outputFileLocations, ...targetFileLocations];
  return (
    <>
      <p>
        {WORDS.counts(records, quads)} {WORDS.took(processingTime)}
      </p>
      {rejectedRecords > 0 && <p className="trouble">{WORDS.rejected(rejectedRecords)}</p>}
      <VersionMade report={report} />
      {(report.dataset === undefined || files.length > 0) && <h4>{report.dataset === undefined ? WORDS.outputs : WORDS.version.files}</h4>}
      {files.length === 0 && report.dataset === undefined && <p>{WORDS.noOutput}</p>}
      <ul className="run-outputs">
        {files.map((file, i) => (
          <li key={file}>
            <code>{file}</code>
            {/^(?:file|s3):/.test(file) && <DownloadOutput place={place} number={i + 1} file={file} />}
            {/^https?:/i.test(file) && (
              <a href={file} target="_blank" rel="noreferrer">
                {WORDS.openOutput}
              </a>
            )}
          </li>
        ))}
      </ul>
      {(outputFileLocations.length > 0 || report.dataset !== undefined) && after?.(report)}
    </>
  );
}

/** What the run has changed in its dataset. */
function VersionMade({
  report: { dataset, version = 0, previousVersion = 0, added = 0, removed = 0 },
}: Pick<MadeProps, 'report'>): ReactNode {
  if (dataset === undefined) return null;
  if (version === previousVersion) {
    return (
      <p>
        {WORDS.version.same(dataset, version)} <a href={hashOf({ kind: 'datasets', name: dataset })}>{WORDS.version.all}</a>
      </p>
    );
  }
  return (
    <p>
      {WORDS.version.made(dataset, version, added, removed)}{' '}
      <a href={hashOf({ kind: 'datasets', name: dataset, version })}>{WORDS.version.see}</a>
    </p>
  );
}

const Written = ({ report }: { readonly report: WriterReport }): ReactNode => (
  <>
    <p>
      {report.dataset === undefined
        ? WORDS.write.written(report.quadsWritten, report.target, report.mode)
        : WORDS.version.written(report.dataset, report.version ?? 0, report.quadsWritten)}{' '}
      {WORDS.took(report.processingTime)}
    </p>
    {report.rejectedRecords > 0 && (
      <>
        <p className="trouble">{WORDS.rejectedStatements(report.rejectedRecords)}</p>
        <ul className="sentences">
          {report.rejectedStatements.map(({ input, line, statement, fault }) => (
            <li key={`${input} ${line}`}>
              {input}:{line} <code>{statement}</code> {fault.message}
            </li>
          ))}
        </ul>
      </>
    )}
  </>
);

type PlaceName = keyof typeof WORDS.place;
const PLACES = Object.entries(WORDS.place) as readonly (readonly [PlaceName, string])[];

/** The sentence of a failure, the place that it names, and what to do. */
const Failure = ({ failure: { error, detail } }: { readonly failure: FailureMessage }): ReactNode => (
  <>
    <p className="trouble">{detail.message === '' ? error : detail.message}</p>
    {detail.hint !== undefined && <p>{detail.hint}</p>}
    <dl className="run-place">
      {PLACES.filter(([name]) => detail.place[name] !== undefined).map(([name, label]) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>{detail.place[name]}</dd>
        </div>
      ))}
    </dl>
  </>
);
