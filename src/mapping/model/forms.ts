/** Blank nodes by what is said of them: those of two documents never have one label, and may still be described alike. */
import { type Described, nodeId, type Statement } from './graph.ts';
import type { RdfTerm } from './model.ts';

/** A text for each term of one document: equal for equal IRIs and literals, and for blank nodes that are described alike. */
export function formsOf(document: readonly Described[]): (term: RdfTerm) => string {
  const described = new Map<string, Statement[]>();
  for (const { subject, statement } of document) {
    const id = nodeId(subject);
    if (id === undefined || subject.kind !== 'blank') continue;
    const known = described.get(id);
    if (known === undefined) described.set(id, [statement]);
    else known.push(statement);
  }
  const forms = new Map<string, string>();
  const formOf = (term: RdfTerm): string => {
    if (term.kind !== 'blank') return JSON.stringify(term);
    const id = nodeId(term) as string;
    const known = forms.get(id);
    if (known !== undefined) return known;
    // Within itself, a node is its label.
    forms.set(id, id);
    const said = (described.get(id) ?? []).map(({ property, object }) => `${property} ${formOf(object)}`);
    const form = said.length === 0 ? id : `[${said.sort().join(';')}]`;
    forms.set(id, form);
    return form;
  };
  return formOf;
}
