/** Sentences about joins. */
import type { StudioJoin } from '../../../../client/types.ts';

const records = (number: number): string => `${number.toLocaleString('en')} ${number === 1 ? 'record' : 'records'}`;

export const WORDS = {
  asking: 'Looking for partners …',
  unknown: 'This join cannot be tried alone.',
  failed: (sentence: string): string => `Partners cannot be looked for: ${sentence}`,
  share: ({ children, cut, asked, found, parents, complete }: StudioJoin): string => {
    const slow = cut ? ' There was no time to read more.' : '';
    if (children === 0) return cut ? 'No record could be read in time.' : 'There are no records.';
    if (parents === 0 && !complete) return `No record of the other side could be read in time, for the first ${records(asked)}.${slow}`;
    return [
      `${complete ? '' : 'At least '}${found.toLocaleString('en')} of the first ${records(asked)} ${found === 1 ? 'finds' : 'find'} a partner`,
      complete ? '' : ` among the first ${records(parents)} of the other side`,
      asked === children ? '.' : `; ${(children - asked).toLocaleString('en')} more have no key.`,
      slow,
    ].join('');
  },
  without: (keys: string, examples: string): string =>
    examples === '' ? ` Without: ${keys}. The other side has no key.` : ` Without: ${keys}. The other side has: ${examples}.`,
} as const;
