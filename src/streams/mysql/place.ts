/** Places in a binlog. */

export interface Place {
  /** `mysql-bin.000123` */
  readonly file: string;
  /** Bytes. */
  readonly position: number;
}

const numberOf = (file: string): number => Number(/\.(\d+)$/.exec(file)?.[1] ?? 0);

/** Negative: `a` is before `b`, in the same log. */
export const comparePlaces = (a: Place, b: Place): number => numberOf(a.file) - numberOf(b.file) || a.position - b.position;

/** In whose order texts are that of the places. */
export const placeSorted = ({ file, position }: Place): string =>
  `${String(numberOf(file)).padStart(10, '0')}${String(position).padStart(12, '0')}`;
