/**
 * Language tags: well-formedness by the grammar of RFC 5646.
 *
 * `Intl.getCanonicalLocales` uses Unicode's own syntax instead, which rejects some well-formed tags.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5646#section-2.1
 */

const LANGUAGE = '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})';
const SCRIPT = '(?:-[a-z]{4})?';
const REGION = '(?:-(?:[a-z]{2}|[0-9]{3}))?';
const VARIANTS = '(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*';
const EXTENSIONS = '(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*';
const PRIVATE = 'x(?:-[a-z0-9]{1,8})+';

const TAG = new RegExp(`^(?:${LANGUAGE}${SCRIPT}${REGION}${VARIANTS}${EXTENSIONS}(?:-${PRIVATE})?|${PRIVATE})$`, 'i');

/** Grandfathered tags, which the grammar alone would reject. */
const IRREGULAR: ReadonlySet<string> = new Set([
  'en-gb-oed',
  'i-ami',
  'i-bnn',
  'i-default',
  'i-enochian',
  'i-hak',
  'i-klingon',
  'i-lux',
  'i-mingo',
  'i-navajo',
  'i-pwn',
  'i-tao',
  'i-tay',
  'i-tsu',
  'sgn-be-fr',
  'sgn-be-nl',
  'sgn-ch-de',
]);

export const isLanguageTag = (tag: string): boolean => TAG.test(tag) || IRREGULAR.has(tag.toLowerCase());

/**
 * Whether a well-formed tag can name a language: the grammar allows four to eight letters for a language, but none is registered, so
 * `english` is well-formed and means nothing.
 */
export const namesLanguage = (tag: string): boolean => !/^[a-z]{4,8}(?:-|$)/i.test(tag);
