/** Numbers as text that sorts as they do: the number of digits, as a digit of base 36, and the digits. */
export function sortable(number: number): string {
  const digits = String(number);
  return digits.length.toString(36) + digits;
}
