/** Whether a server has answered in the format that the mapping reads: the media type of the answer says it. */
import { Fault } from '../../../core/fault.ts';
import { formatOfMediaType, type InputFormat, isReadAs } from '../../../core/input/formats.ts';
import { redact } from '../../../core/redact.ts';
import { type FileSource, formatOrigin, type ResultFormat, type WebRequest } from '../../../mapping/model/model.ts';

/** What an endpoint is asked for. @see https://www.w3.org/TR/sparql11-protocol/#query-success */
export const RESULT_TYPES: Readonly<Record<ResultFormat, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/sparql-results+json',
  xml: 'application/sparql-results+xml',
};

const ACCEPTED_RESULTS: Readonly<Record<ResultFormat, RegExp>> = {
  csv: /^(?:text\/(?:csv|plain)|application\/csv)$/,
  tsv: /^text\/(?:tab-separated-values|plain)$/,
  json: /[/+]json$/,
  xml: /[/+]xml$/,
};

/** Types that say nothing of the content, as file servers send them. */
const VAGUE = /^(?:application\/octet-stream|binary\/octet-stream|text\/plain|application\/(?:x-)?(?:gzip|zip|xz|tar|zip-compressed))$/;

/** Pages for people, which are no data unless the mapping reads XML. */
const PAGE = /[/+](?:x?html)(?:\+xml)?$/;

const formatOfType = (type: string): InputFormat | undefined => (PAGE.test(type) ? 'xml' : formatOfMediaType(type));

/**
 * The format of an answer; undefined: the usual one of the reference formulation.
 *
 * @param mediaType of the answer, without parameters; undefined: the server does not tell
 * @throws Fault source/type — the answer has another format, such as an HTML page with an error
 */
export function formatOfAnswer(
  url: string,
  source: FileSource,
  request: WebRequest,
  mediaType: string | undefined,
): InputFormat | undefined {
  if (request.kind === 'select') {
    const { results } = request;
    if (mediaType !== undefined && !ACCEPTED_RESULTS[results].test(mediaType))
      throw wrongType(url, mediaType, `the mapping reads SPARQL results as ${results.toUpperCase()} (${RESULT_TYPES[results]})`, source);
    return undefined;
  }
  if (request.kind === 'topic') return undefined;
  const declared = request.mediaType?.split(';', 1)[0]?.trim();
  const told = mediaType === undefined || VAGUE.test(mediaType) ? declared : mediaType;
  const format = told === undefined ? undefined : formatOfType(told);
  if (format !== undefined && !isReadAs(format, source.formulation))
    throw wrongType(url, told as string, `the mapping reads this source as ${source.formulation.toUpperCase()}`, source);
  return format;
}

const wrongType = (url: string, mediaType: string, expected: string, { origin }: FileSource): Fault =>
  new Fault('source/type', `The server answered ${mediaType}, and ${expected}`, {
    place: { input: redact(url), mapping: formatOrigin(origin) },
    hint: 'Check the address: a page for people has another type than data. Else change rml:referenceFormulation',
  });
