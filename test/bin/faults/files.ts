/** Inputs with the mapping that reads them, and the form of the table of faults. */
import type { FaultCode, FaultPlace } from '../../../src/core/fault.ts';
import { CSV, JSON_PATH, XPATH } from './mappings.ts';
import type { Files } from './trial.ts';

export const csv = (content: string | Uint8Array): Files => ({ 'mapping.ttl': CSV, 'people.csv': content });
export const json = (content: string | Uint8Array): Files => ({ 'mapping.ttl': JSON_PATH, 'people.json': content });
export const xml = (content: string | Uint8Array): Files => ({ 'mapping.ttl': XPATH, 'people.xml': content });
export const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
export const utf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le');

/** `people.csv.gz` with `content`, which is already compressed. */
export const zipped = (content: Uint8Array): Files => ({
  'mapping.ttl': CSV.replace('people.csv', 'people.csv.gz'),
  'people.csv.gz': content,
});

/** `place` has numbers and other whole values, `words` what the text must contain. */
export type Row = readonly [name: string, files: Files, code: FaultCode, place: FaultPlace, words: readonly string[]];
