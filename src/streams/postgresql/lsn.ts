/** Places in PostgreSQL's write-ahead log. */

/** `16/B374D848` → its number. */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** As PostgreSQL writes it. */
export const lsnText = (lsn: bigint): string =>
  `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffffffffn).toString(16).toUpperCase()}`;

/** In whose order texts are that of the numbers. */
export const lsnSorted = (lsn: bigint): string => lsn.toString(16).padStart(16, '0');

/**
 * Whether a transaction is in a snapshot.
 *
 * @param xid the lower 32 bits of its number, as the log has it
 * @param snapshot `xmin:xmax:xip,…`, the text of `txid_current_snapshot()`, whose numbers have 64 bits
 */
export function isInSnapshot(xid: number, snapshot: string): boolean {
  const [xmin = '0', xmax = '0'] = snapshot.split(':');
  const end = BigInt(xmax);
  // The number of 64 bits that is nearest to the end: the server keeps those of one time within 2^31.
  const difference = BigInt.asIntN(32, BigInt(xid) - end);
  const full = end + difference;
  if (full < BigInt(xmin)) return true;
  return full < end && !runningIn(snapshot).includes(String(full));
}

/** Transactions of a snapshot that have begun and not ended, as texts of their numbers. */
export const runningIn = (snapshot: string): readonly string[] => (snapshot.split(':')[2] ?? '').split(',').filter(Boolean);
