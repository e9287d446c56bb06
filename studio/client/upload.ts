/** Uploads with progress, which `fetch` does not report. */

import { ProblemError, QuadmillError } from '../../client/http.ts';
import type { Problem, StudioUpload } from '../../client/types.ts';
import { readToken } from './token.ts';

/**
 * Sends a file to the data directory of the service.
 *
 * @param onProgress bytes that were sent so far
 * @throws ProblemError 409 other bytes under that name, 413, 507; TypeError there was no answer; DOMException AbortError
 */
export function upload(file: File, name: string, onProgress: (bytes: number) => void, signal: AbortSignal): Promise<StudioUpload> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = (): void => request.abort();
    request.open('POST', `uploads?name=${encodeURIComponent(name)}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    const token = readToken();
    if (token !== undefined) request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => {
      const body = request.getResponseHeader('Content-Type')?.includes('json') ? (JSON.parse(request.responseText) as unknown) : undefined;
      if (request.status === 200 || request.status === 201) resolve(body as StudioUpload);
      else if (body !== undefined) reject(new ProblemError(body as Problem));
      else reject(new QuadmillError(request.status, `The service answers ${request.status}`));
    };
    request.onerror = () => reject(new TypeError('no answer'));
    request.onabort = () => reject(new DOMException('stopped', 'AbortError'));
    request.onloadend = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    else request.send(file);
  });
}
