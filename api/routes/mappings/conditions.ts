/** Conditional requests: a change is made only to the version that its caller has seen. @see https://www.rfc-editor.org/rfc/rfc9110#section-13 */
import type { Fields } from '../../../src/core/schema.ts';
import { RequestFault } from '../../problem.ts';
import type { Parameter } from '../../route.ts';
import type { Check } from './saved.ts';

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  description: 'The entity tag of the version that is changed; the request is refused if the file has another one by now. `*`: any',
  schema: { type: 'string', minLength: 1, maxLength: 1_000 },
};
const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: '`*`: the request is refused if the file exists',
  schema: { type: 'string', enum: ['*'] },
};
export const CONDITIONS: readonly Parameter[] = [IF_MATCH, IF_NONE_MATCH];
/** Of requests that change what exists. */
export const MATCH: readonly Parameter[] = [IF_MATCH];

/** Whether a file may be changed, by the headers of the request; `required`: one of them must be there. */
export function conditionOf({ 'If-Match': match, 'If-None-Match': noneMatch }: Fields, required: 'required' | 'optional'): Check {
  if (required === 'required' && match === undefined && noneMatch === undefined) {
    throw new RequestFault('request/precondition-required', 'The request does not say which version of the file it changes', {
      hint: 'Send If-Match with the ETag of the version that you have seen, or If-None-Match: * for a new file',
    });
  }
  const tags = match === undefined ? undefined : String(match).split(/"?\s*,\s*"?/);
  return (before) => {
    const isMatched = tags === undefined || (before !== undefined && (tags.includes('*') || tags.includes(before.etag)));
    if (isMatched && (noneMatch === undefined || before === undefined)) return;
    const { etag = null, by = null, at = null } = before ?? {};
    const who = by === null ? '' : ` by ${by}`;
    throw new RequestFault(
      'request/precondition-failed',
      before === undefined
        ? 'The file does not exist any more'
        : `The file has another version${at === null ? '' : `, saved at ${at}${who}`}`,
      {
        hint: 'Nothing was changed. Read the file again, and compare',
        members: { etag, by, at },
        headers: etag === null ? {} : { ETag: `"${etag}"` },
      },
    );
  };
}

export const tagHeader = (etag: string): Readonly<Record<string, string>> => ({ ETag: `"${etag}"` });
