/** References that are variables of a SPARQL query. */

/** `name` for `name`, `?name` and `$name`; undefined for everything else, such as the JSONPath `name.value`. */
export const variableOf = (reference: string): string | undefined =>
  // Within the function: a literal of the module would be parsed, with its long classes, by every run.
  /^[?$]?([\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u00b7]*)$/u.exec(reference)?.[1];
