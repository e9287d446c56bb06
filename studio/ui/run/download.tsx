/** Downloads a file of the output. The token goes with the request, so it is no link. */
import { type ReactNode, useState } from 'react';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { downloadBlob } from '../store/saving.ts';
import { useVisit } from '../store/visit.ts';
import { type RunPlace, runsOf } from './follow.ts';
import { TroubleNote } from './trouble-note.tsx';
import { WORDS } from './words.ts';

/** @param props.number its position in the report, from 1 */
export function DownloadOutput({
  place,
  number,
  file,
}: {
  readonly place: RunPlace;
  readonly number: number;
  readonly file: string;
}): ReactNode {
  const { service, user } = useVisit();
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  const last = file.replace(/^.*\//, '');
  // A key of an object is written as it is.
  const name = file.startsWith('file:') ? decodeURIComponent(last) : last;
  const download = async (): Promise<void> => {
    setBusy(true);
    setTrouble(undefined);
    try {
      const answer = await runsOf(service, place.service).output(place.id, number);
      // What is packed comes unpacked.
      downloadBlob(name.replace(/\.gz$/, ''), await answer.blob());
    } catch (error) {
      setTrouble(troubleOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        icon="download"
        label={WORDS.downloadOf(name)}
        disabled={user.role === 'viewer' ? WORDS.needsOperator : isBusy && WORDS.loading}
        onClick={() => void download()}
      >
        {WORDS.download}
      </Button>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
    </>
  );
}
