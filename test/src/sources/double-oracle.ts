/** What a number's canonical xsd:double is, decided by whole numbers alone: no floating point, none of the engine's code. */

/** `mantissa`·10^`power`, without its sign. */
interface Decimal {
  readonly negative: boolean;
  readonly mantissa: bigint;
  readonly power: number;
}

/** Whether `text` is the shortest canonical form of the double nearest to the JSON number `written`. */
export function isCanonicalDouble(text: string, written: string): boolean {
  const given = decimalOf(written);
  const nearest = nearestDouble(given);
  const sign = given.negative ? '-' : '';
  if (nearest === 'INF') return text === `${sign}INF`;
  if (nearest === '0') return text === `${sign}0.0E0`;
  if (!/^-?[1-9]\.(?:0|[0-9]*[1-9])E(?:0|-?[1-9][0-9]*)$/.test(text)) return false;
  const told = decimalOf(text);
  if (told.negative !== given.negative || nearestDouble(told) !== nearest) return false;
  // No decimal with a digit less, from below or from above, may be of the same double.
  const { mantissa, power } = shortened(told);
  if (mantissa < 10n) return true;
  return [0n, 1n].every((up) => nearestDouble({ ...told, mantissa: mantissa / 10n + up, power: power + 1 }) !== nearest);
}

function decimalOf(text: string): Decimal {
  const [, sign, whole = '', fraction = '', power = '0'] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text) ?? [];
  if (sign === undefined) throw new Error(`${text} is no number`);
  return { negative: sign === '-', mantissa: BigInt(whole + fraction), power: Number(power) - fraction.length };
}

function shortened({ negative, mantissa, power }: Decimal): Decimal {
  let [short, tens] = [mantissa, power];
  while (short !== 0n && short % 10n === 0n) [short, tens] = [short / 10n, tens + 1];
  return { negative, mantissa: short, power: tens };
}

/** The magnitude of the nearest double, ties to even, as "m*2^e"; `INF` and `0` beyond its range. */
function nearestDouble({ mantissa, power }: Decimal): string {
  if (mantissa === 0n) return '0';
  const numerator = power > 0 ? mantissa * 10n ** BigInt(power) : mantissa;
  const denominator = power > 0 ? 1n : 10n ** BigInt(-power);
  const bits = (value: bigint): number => value.toString(2).length;
  let exponent = Math.max(bits(numerator) - bits(denominator) - 53, -1074);
  for (;;) {
    const [above, below] = exponent > 0 ? [numerator, denominator << BigInt(exponent)] : [numerator << BigInt(-exponent), denominator];
    let rounded = above / below;
    const twice = (above % below) * 2n;
    if (twice > below || (twice === below && rounded % 2n === 1n)) rounded++;
    if (rounded >= 2n ** 53n) {
      exponent++;
      continue;
    }
    if (rounded === 0n) return '0';
    return exponent > 971 ? 'INF' : `${rounded}*2^${exponent}`;
  }
}
