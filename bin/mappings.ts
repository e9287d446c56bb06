/** Mapping documents as the command line names them. */
import { Fault } from '../src/fault.ts';
import { readText, redactUrl } from '../src/storage/storage.ts';

const LIMIT_BYTES = 64 * 2 ** 20;

export interface MappingText {
  readonly name: string;
  readonly text: string;
}

/** @throws Fault mapping/unreadable */
export const readMappings = (urls: readonly string[], workingDirectory: string): Promise<readonly MappingText[]> =>
  Promise.all(
    urls.map(async (url) => {
      try {
        return { name: redactUrl(url), text: await readText(url, LIMIT_BYTES, { workingDirectory }) };
      } catch (error) {
        const { message, hint } = Fault.of(error);
        throw new Fault('mapping/unreadable', `The mapping ${redactUrl(url)} cannot be read: ${message}`, { hint, cause: error });
      }
    }),
  );
