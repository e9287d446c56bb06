/** References that are variables of a SPARQL query. */

const VARIABLE = /^[?$]?([\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u00b7]*)$/u;

/** `name` for `name`, `?name` and `$name`; undefined for everything else, such as the JSONPath `name.value`. */
export const variableOf = (reference: string): string | undefined => VARIABLE.exec(reference)?.[1];
