/** Values as servers write them → their canonical forms, as text: of numbers no digit is lost or added. */

/** What is not canonical: a plus, leading zeros, no digit on one side of the point, trailing zeros, minus zero. */
const LONGHAND = /^\+|^-?0\d|^-?\.|\.(?:\d*0)?$|^-0$/;

/** `-12.500` → `-12.5`, `3.00` → `3`, `007` → `7`. @see https://www.w3.org/TR/xmlschema11-2/#decimal */
export function canonicalDecimal(text: string): string {
  if (!LONGHAND.test(text)) return text;
  const [, sign, whole, fraction] = /^([+-]?)0*(\d*?)(?:\.(\d*?)0*)?$/.exec(text) as RegExpExecArray;
  const digits = (whole || '0') + (fraction ? `.${fraction}` : '');
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
}

/** `80.25` → `8.025E1`, `1e-07` → `1.0E-7`; undefined: not a number. @see https://www.w3.org/TR/xmlschema11-2/#double */
export function canonicalDouble(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', power = '0'] = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '');
  const minus = sign === '-' ? '-' : '';
  if (digits === '') return `${minus}0.0E0`;
  const exponent = whole.length - (all.length - digits.length) - 1 + Number(power);
  return `${minus}${digits[0]}.${digits.slice(1).replace(/0+$/, '') || '0'}E${exponent}`;
}

/** `12:00:00.500` → `12:00:00.5`. */
export const withoutZeros = (time: string): string => (time.includes('.') ? time.replace(/\.?0+$/, '') : time);

/** The value of a CHAR(n) has n characters; some products leave the padding out. @param text one-byte UTF-8 */
export function padded(text: string, length: number): string {
  let missing = length;
  for (let i = 0; i < text.length && missing > 0; i++) if ((text.charCodeAt(i) & 0xc0) !== 0x80) missing--;
  return missing === 0 ? text : text + ' '.repeat(missing);
}

/** The shortest text that reads as the same 32-bit float: `0.1`, not `0.10000000149011612`. */
export function shortestSingle(value: number): string {
  // Numbers close to zero have fewer digits than the six that all others have.
  for (let digits = Math.abs(value) < 2 ** -126 ? 1 : 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}
