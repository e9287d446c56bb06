/** Letters without accents. */

/** Letters that do not decompose. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ß: 'ss',
    ẞ: 'SS',
    æ: 'ae',
    Æ: 'AE',
    œ: 'oe',
    Œ: 'OE',
    ø: 'o',
    Ø: 'O',
    đ: 'd',
    Đ: 'D',
    ð: 'd',
    Ð: 'D',
    þ: 'th',
    Þ: 'Th',
    ł: 'l',
    Ł: 'L',
    ħ: 'h',
    Ħ: 'H',
    ı: 'i',
    ŋ: 'n',
    Ŋ: 'N',
    ŧ: 't',
    Ŧ: 'T',
    ĸ: 'k',
    ſ: 's',
  }),
);

/** Latin letters without combining marks and ligatures; other scripts keep their letters and marks. */
export function foldAccents(text: string): string {
  return text
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .replace(/[ßẞæÆœŒøØđĐðÐþÞłŁħĦıŋŊŧŦĸſ]/gu, (letter) => LETTERS.get(letter) ?? letter)
    .normalize('NFC');
}
