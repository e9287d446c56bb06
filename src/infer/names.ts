/** Names of classes, predicates and IRIs, made of the names that data has. */

/** English plurals that a rule would spoil. */
const SINGULARS: Readonly<Record<string, string>> = {
  people: 'person',
  series: 'series',
  species: 'species',
  news: 'news',
  children: 'child',
  men: 'man',
  women: 'woman',
  shelves: 'shelf',
  leaves: 'leaf',
  halves: 'half',
  knives: 'knife',
  wolves: 'wolf',
  movies: 'movie',
  cookies: 'cookie',
  statuses: 'status',
  viruses: 'virus',
  buses: 'bus',
  campuses: 'campus',
};

/** The words of a name, in lower case: `customerId` and `customer_id` are `customer`, `id`. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .normalize('NFC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

/** The singular of an English plural; other words stay. */
export function singular(word: string): string {
  const known = SINGULARS[word];
  if (known !== undefined) return known;
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word;
}

/** The words of a class: of the things that a file or an array of this name holds. */
export function classWords(name: string): readonly string[] {
  const words = wordsOf(name);
  const last = words.at(-1);
  return last === undefined ? ['record'] : [...words.slice(0, -1), singular(last)];
}

/** `order-lines` → `OrderLine`. */
export const classNameOf = (words: readonly string[]): string =>
  words.map((word) => word.replace(/^./u, (first) => first.toUpperCase())).join('');

/** The name of a member or column as the end of an IRI; empty if none of its characters may stand there. */
export const localNameOf = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_]+/gu, '_')
    .replace(/^_+|_+$/g, '');

/** Gives each name once: the second `name` is `name_2`. */
export class UniqueNames {
  readonly #given = new Set<string>();

  of(...wanted: readonly string[]): string {
    const free = wanted.find((name) => name !== '' && !this.#given.has(name));
    const last = wanted.findLast((name) => name !== '') ?? 'value';
    let name = free ?? last;
    for (let i = 2; this.#given.has(name); i++) name = `${last}_${i}`;
    this.#given.add(name);
    return name;
  }
}

const GENERIC = new Set(['id', 'key', 'code', 'no', 'nr', 'number', 'num', 'name', 'identifier', 'value']);
const IDENTIFIERS = new Set(['id', 'ids', 'uuid', 'guid', 'identifier', 'pk']);
const CODES = new Set([
  'key',
  'code',
  'no',
  'nr',
  'number',
  'num',
  'nummer',
  'isbn',
  'issn',
  'sku',
  'ean',
  'gtin',
  'doi',
  'iban',
  'slug',
  'ref',
]);

/** How much a name looks like that of a key of a class, from 1 to 4; 0: it does not. */
export function keyLikeness(name: string, classWordsOf: readonly string[]): number {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (words.length === 1 && IDENTIFIERS.has(last)) return 4;
  const isOfClass = words.slice(0, -1).join(' ') === classWordsOf.join(' ');
  if (IDENTIFIERS.has(last)) return isOfClass ? 3 : 2;
  return CODES.has(last) ? (isOfClass || words.length === 1 ? 2 : 1) : 0;
}

/** Whether a name speaks of the key of another class: `customer_id` of Customer with the key `id`, `isbn` of the key `isbn`. */
export function speaksOf(name: string, ofClass: readonly string[], key: string): boolean {
  const words = wordsOf(name);
  const own = wordsOf(key);
  const text = words.join(' ');
  if (text === own.join(' ')) return !(own.length === 1 && GENERIC.has(own[0] as string));
  const endsAs = [ofClass.join(' '), [...ofClass, ...own].join(' '), [...ofClass, 'id'].join(' ')];
  return endsAs.some((end) => text === end || text.endsWith(` ${end}`));
}

/** Whether a name says nothing of the class that it is a key of: `id`, `name`. */
export const isGeneric = (name: string): boolean => wordsOf(name).every((word) => GENERIC.has(word) || IDENTIFIERS.has(word));

/** `customer_id` → `customer`, `homeBranchId` → `homeBranch`: what the record is called that an identifier leads to. */
export function withoutKey(name: string): string {
  const words = wordsOf(name);
  const end = words.findLastIndex((word) => !IDENTIFIERS.has(word) && !CODES.has(word));
  const kept = words.slice(0, end + 1);
  return /[^\p{L}\p{N}]/u.test(name) ? kept.join('_') : kept.join(' ').replace(/ (.)/gu, (_, first: string) => first.toUpperCase());
}
