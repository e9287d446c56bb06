/** What archives have in common: the faults, and which of their entries count. */
import { Fault } from '../../core/fault.ts';

/** The kind of archive, and the input for messages. */
export interface ArchiveName {
  readonly kind: 'zip' | 'tar';
  readonly input: string;
}

/** macOS puts the attributes of a file into a separate entry. */
export const isAttributes = (entry: string): boolean => /^__MACOSX\/|(?:^|\/)\._[^/]*$/.test(entry);

const NAMED_FILES = 3;

/** @param files at least two of them, for messages */
export function severalFault({ kind, input }: ArchiveName, files: readonly string[]): Fault {
  const others = files.length - NAMED_FILES;
  const named = others > 0 ? [...files.slice(0, NAMED_FILES), others === 1 ? 'another one' : `${others} others`] : files;
  const program = kind === 'zip' ? 'unzip -p' : 'tar -xOf';
  return new Fault('source/refused', `The ${kind} archive has more than one file: ${named.slice(0, -1).join(', ')} and ${named.at(-1)}`, {
    place: { input },
    hint: `Unpack the one that is to be read (${program} ARCHIVE FILE > FILE) and name it in place of the archive, or give an archive with this file alone`,
  });
}

export const emptyFault = ({ kind, input }: ArchiveName): Fault =>
  new Fault('source/malformed', `The ${kind} archive has no file`, { place: { input } });

export const noArchiveFault = ({ kind, input }: ArchiveName): Fault =>
  new Fault('source/malformed', `The input should be a ${kind} archive, and is none`, {
    place: { input },
    hint: 'Compare the rml:compression of the mapping, or the ending of the file name, with the file',
  });

export const refusedEntryFault = ({ kind, input }: ArchiveName, entry: string, reason: string): Fault =>
  new Fault('source/refused', `The file ${entry} of the ${kind} archive cannot be read: ${reason}`, {
    place: { input },
    hint: 'Unpack it',
  });

/** @throws Fault source/refused — the name of the entry is that of an archive or a compressed file @param shown the name for messages */
export function assertNotPacked(archive: ArchiveName, entry: string, shown: string): void {
  if (/\.(?:zip|gz|tgz|tar|xz|txz|bz2|zst|7z|rar)$/i.test(entry)) throw refusedEntryFault(archive, shown, 'it is packed itself');
}

export const damagedFault = ({ kind, input }: ArchiveName, byte: number, reason: string, cause?: unknown): Fault =>
  new Fault('source/malformed', `The ${kind} archive is damaged: ${reason}`, {
    place: { input, byte },
    hint: 'Fetch or write the file again',
    cause,
  });

export const CUT_OFF = 'it ends too early';
