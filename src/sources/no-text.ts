/** Inputs of another kind in the place of text, recognised by their first bytes: "not valid UTF-8" would send their reader to look for an encoding. */
import { Fault } from '../core/fault.ts';
import type { Served } from './source.ts';

interface Kind {
  /** What files of this kind begin with; none is the beginning of a text that any reader takes. */
  readonly begins: Buffer;
  /** `The input is …` */
  readonly what: string;
  readonly hint: string;
}

const WORKBOOK =
  'Give a workbook the ending .xlsx, .xlsb or .ods, and an archive the ending .zip; on the command line, --input-format says what it is';

const KINDS: readonly Kind[] = [
  { begins: Buffer.from('PK\x03\x04', 'latin1'), what: 'a zip archive, perhaps a workbook', hint: WORKBOOK },
  {
    begins: Buffer.from([0x1f, 0x8b, 0x08]),
    what: 'compressed by gzip',
    hint: 'Give it the ending .gz, or write rml:compression rml:gzip in the mapping',
  },
  {
    begins: Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    what: 'a document of Office 97–2003, perhaps a workbook',
    hint: 'Give a workbook the ending .xls; on the command line, --input-format xls says what it is',
  },
  {
    begins: Buffer.from('PAR1\x15', 'latin1'),
    what: 'a Parquet file',
    hint: 'Give it the ending .parquet; on the command line, --input-format parquet says what it is',
  },
  {
    begins: Buffer.from('SQLite format 3\0', 'latin1'),
    what: 'an SQLite database',
    hint: 'Describe it as a database in the mapping, with the location jdbc:sqlite:FILE, or name that with --jdbc-url',
  },
  { begins: Buffer.from('%PDF-', 'latin1'), what: 'a PDF document', hint: 'Give the data from which the document was made' },
  { begins: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), what: 'an image', hint: 'Compare the name of the file with what it holds' },
];

/**
 * @param head the first bytes of an input that is read as text
 * @throws Fault source/type — it is of a kind that is no text
 */
export function assertText(head: Uint8Array, input: string | undefined): void {
  const found = KINDS.find(({ begins }) => head.length >= begins.length && begins.equals(head.subarray(0, begins.length)));
  if (found === undefined) return;
  throw new Fault('source/type', `The input is ${found.what}, and is read as text`, {
    place: input === undefined ? {} : { input },
    hint: found.hint,
  });
}

// ---------------------------------------------------------------- pages for people: a login form, or an error that a server answers with 200

/** What stands before the first tag of a page: a mark, NULs of UTF-16, white space, comments, a declaration of XML. */
const BEFORE = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(?:[\0\s]|<!--[^]*?-->|<\?[^>]*\?>)*/;
const BEGINNING = /^<(?:!doctype\s+html|html|head|body|title|meta)\b/i;

/**
 * Whether a document begins as an HTML page: by its first tag, or by the media type of the answer and any tag. A media type alone says little:
 * programs that set none answer text/html.
 */
export function isPage(head: Uint8Array, served: Served | undefined): boolean {
  const text = Buffer.from(head).toString('latin1').replace(BEFORE, '').replaceAll('\0', '');
  return BEGINNING.test(text) || (/^text\/html$|\/xhtml/.test(served?.mediaType ?? '') && text.startsWith('<'));
}

/** @param expected `CSV`, `JSON` or `XML` */
export const pageFault = (expected: string, input: string | undefined, served: Served | undefined, cause?: unknown): Fault =>
  new Fault('source/type', `The input is an HTML page, and ${expected} was expected`, {
    place: input === undefined ? {} : { input },
    hint:
      served === undefined
        ? 'Compare the name of the file with what it holds: pages that a browser saves are no data'
        : 'Open the address in a browser: servers answer with a page where a login is needed, or the address is wrong',
    ...(cause === undefined ? {} : { cause }),
  });
