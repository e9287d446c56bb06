/** Certificates and keys that JDBC parameters name. */
import { readFile } from 'node:fs/promises';
import { Fault } from '../../core/fault.ts';

/**
 * The text of a PEM file; undefined without a path.
 *
 * @param input the address's name, for the fault
 * @throws Fault database/unreachable
 */
export async function readPem(path: string | undefined, input: string): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Fault('database/unreachable', `The PEM file ${path} cannot be read`, { place: { input }, cause });
  }
}
