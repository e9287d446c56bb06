/** Where another engine finds the sources of a mapping. */
import { type Command, type Parsed, UsageError } from '../command-line.ts';

export const PLACE_OPTIONS = {
  source: {
    value: 'NAME=PLACE',
    multiple: true,
    summary: 'where the engine finds the source that the mapping calls NAME: a path or URL such as s3a://…, or table:NAME',
  },
} as const satisfies Command['options'];

/** The name of a source → where the engine finds it. @throws UsageError */
export function placesOf(parsed: Parsed): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const one of parsed.values('source')) {
    const equals = one.indexOf('=');
    const [name, place] = [one.slice(0, equals), one.slice(equals + 1)];
    if (equals < 1 || place === '' || place === 'table:') throw new UsageError(`--source is '${one}', expected is NAME=PLACE`);
    if (places.has(name)) throw new UsageError(`--source names '${name}' twice`);
    places.set(name, place);
  }
  return places;
}
