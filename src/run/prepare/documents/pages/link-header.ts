/** The header `Link` of an answer. @see https://www.rfc-editor.org/rfc/rfc8288#section-3 */

/** The target of the first link with the relation `next`; undefined: there is none. */
export function nextIn(header: string | undefined): string | undefined {
  let rest = header ?? '';
  for (;;) {
    const [whole, target, parameters = ''] = LINK.exec(rest) ?? [];
    if (whole === undefined || target === undefined) return undefined;
    rest = rest.slice(whole.length);
    for (const [, name, quoted, plain] of parameters.matchAll(PARAMETER)) {
      if (name?.toLowerCase() !== 'rel') continue;
      const relations = (quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1')) ?? '';
      if (relations.toLowerCase().split(/\s+/).includes('next')) return target;
      // Of several, only the first `rel` counts.
      break;
    }
  }
}

/** A link, with the comma before it. Quoted texts may have commas and semicolons. */
const LINK = /^[\s,]*<([^>]*)>((?:\s*;\s*[^\s=;,"]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/;
const PARAMETER = /;\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;
