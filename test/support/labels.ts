/** Blank nodes of runs, for tests that compare runs over other inputs. */

/**
 * The text with labels of `nquads/labels.ts` that name neither mapping nor input: `_:b…`, `_:c…` and `_:l…` of values, constants and lists, and
 * `_:f…`, with the digits of the triples map, of rows.
 */
export const plainLabels = (text: string): string =>
  text.replace(/_:q([0-9a-f]{16})[0-9a-f]{16}([a-z])/g, (_, map: string, kind: string) =>
    kind === 'r' || kind === 's' ? `_:f${map}${kind}` : `_:${kind}`,
  );
