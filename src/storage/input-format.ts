/** Determines the format of an input: by its file extension, then by the media type of the response. */
import { Fault } from '../core/fault.ts';
import { formatOfExtension, formatOfMediaType, type InputFormat } from '../core/input/formats.ts';
import { type RdfSyntax, syntaxOfExtension } from '../core/input/rdf-syntaxes.ts';
import { redact } from '../core/redact.ts';
import { withoutCompression } from './compression.ts';
import { fileNameOf } from './url.ts';

/** The text of the specification, whatever else is read. */
const EXPECTED = 'expected is one of XML, JSON, CSV, XLSX, ODS';

/** Without the ending of a compression. */
function extensionOf(url: string): string | undefined {
  const name = withoutCompression(fileNameOf(url));
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : undefined;
}

/** The format by name alone. */
export function formatByExtension(url: string): InputFormat | undefined {
  const extension = extensionOf(url);
  return extension === undefined ? undefined : formatOfExtension(extension);
}

/** The syntax of RDF by name alone. */
export function syntaxByExtension(url: string): RdfSyntax | undefined {
  const extension = extensionOf(url);
  return extension === undefined ? undefined : syntaxOfExtension(extension);
}

/**
 * The format of the input at `url`: by its extension, else by the media type of the answer.
 *
 * @throws Fault source/type — the text names the extension and the expected types
 */
export function inputFormat(url: string, mediaType?: string): InputFormat {
  const known = formatByExtension(url);
  if (known !== undefined) return known;
  const extension = extensionOf(url);
  const media = mediaType?.split(';', 1)[0]?.trim().toLowerCase();
  const told = media === undefined ? undefined : formatOfMediaType(media);
  if (told !== undefined) return told;
  const found = extension === undefined ? 'Input has no file extension' : `Input has the file extension '${extension}'`;
  throw new Fault('source/type', `${found}${media ? ` and the media type ${media}` : ''}; ${EXPECTED}`, {
    place: { input: redact(url) },
    ...(media === 'text/html'
      ? { hint: 'It is an HTML page: servers answer with one where a login is needed, or the address is wrong' }
      : {}),
  });
}
