/** Sentences of this region. */
const count = (number: number, one: string, many: string): string => `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

export const WORDS = {
  title: 'Preview',
  empty: 'There is no entity yet. Drag an identifier onto the canvas, or choose a field and press E.',
  viewer: 'Previewing needs the role operator.',
  statements: 'Statements',
  problems: (number: number): string => (number === 0 ? 'Problems' : `Problems (${number})`),
  tabs: 'Parts of the preview',
  asking: 'Mapping the first records …',
  stop: 'Stop',
  stopped: 'The preview was stopped.',
  again: 'Preview now',
  none: 'The first records give no statement.',
  why: (name: string, reason: string): string => `${name}: ${reason}`,
  noProblems: 'No problem was found.',
  summary: (statements: number, records: number, more: boolean, cut: boolean): string =>
    `${more ? 'The first ' : ''}${count(statements, 'statement', 'statements')} of ${cut ? 'the first ' : ''}${count(records, 'record', 'records')}`,
  older: 'This is the preview of an earlier state.',
  showMore: (left: number): string => `Show more (${left.toLocaleString('en')} left)`,
  madeBy: (name: string, line: number): string => `Made by ${name}, line ${line}`,
  record: (record: number, input: string | undefined): string => `Record ${record + 1}${input === undefined ? '' : ` of ${input}`}`,
  parent: 'joined with',
  finding: 'Looking for its records …',
  noRecord: 'None of the first records makes it alone.',
  count: (number: number): string => `${count(number, 'record makes', 'records make')} it`,
  close: 'Close',
  at: (line: number, column: number): string => `${line}:${column}`,
  severities: { error: 'Error', warning: 'Warning' },
  rejected: (map: string): string => `Rejected record of ${map}`,
  cannotPrint: 'The model cannot be written in this language yet:',
  withoutRecords: (name: string, number: number): string => `${count(number, 'record gives', 'records give')} no statement of ${name}`,
} as const;
