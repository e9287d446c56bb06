/**
 * How a Web API gives its records page by page: `qw:paging` on a form, in a vocabulary of this project, since neither RML-IO nor the Web of
 * Things has one. `docs/web-apis.md` describes it.
 */
import { didYouMean } from '../../../core/nearest.ts';
import type { Paging } from '../../model/model.ts';
import { localName, shorten } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, orList, RDF_TYPE } from '../node.ts';
import { all, describedBy, full, one, wordOf } from './description.ts';

type Kind = Paging['kind'];
type Property = 'reference' | 'parameter' | 'first' | 'items' | 'pageCount' | 'recordCount';

/** By the local name of its class: the properties that a paging must have, and those that it may have. */
const KINDS: Readonly<Record<string, { readonly kind: Kind; readonly must: readonly Property[]; readonly may: readonly Property[] }>> = {
  LinkHeader: { kind: 'link-header', must: [], may: ['items'] },
  NextLink: { kind: 'next-link', must: ['reference'], may: ['items'] },
  Cursor: { kind: 'cursor', must: ['reference', 'parameter'], may: ['items'] },
  PageNumber: { kind: 'page-number', must: ['parameter'], may: ['first', 'items', 'pageCount'] },
  Offset: { kind: 'offset', must: ['parameter'], may: ['first', 'items', 'recordCount'] },
};
const PROPERTIES: readonly Property[] = ['reference', 'parameter', 'first', 'items', 'pageCount', 'recordCount'];
const CLASS_NAMES = Object.keys(KINDS).map((name) => `qw:${name}`);
const HINT = `write qw:paging [ a ${CLASS_NAMES[0]} ], or another of ${CLASS_NAMES.slice(1).join(', ')}`;

/** undefined: the form has one answer, or its paging is not valid. */
export function readPaging(context: Context, form: string): Paging | undefined {
  const { graph, report } = context;
  const before = report.errors;
  reportUnknown(context, form, ['paging']);
  const statement = one(context, form, full('qw', 'paging'), 'form');
  const id = statement === undefined ? undefined : describedBy(context, statement);
  if (statement === undefined || id === undefined) return undefined;
  const classes = all(graph, id, RDF_TYPE);
  const found = Object.entries(KINDS).find(([name]) => classes.some(({ object }) => object.value === full('qw', name)));
  if (found === undefined || classes.length > 1) {
    const [written] = classes;
    const near = written === undefined ? undefined : didYouMean(shorten(written.object.value), CLASS_NAMES, localName);
    report.error('incomplete-paging', (written ?? statement).origin, `qw:paging takes one of ${orList(CLASS_NAMES)}`, near ?? HINT);
    return undefined;
  }
  const [name, { kind, must, may }] = found;
  reportUnknown(context, id, PROPERTIES);
  for (const property of PROPERTIES) {
    if (must.includes(property) || may.includes(property)) continue;
    for (const { propertyOrigin } of all(graph, id, full('qw', property)))
      report.error('incomplete-paging', propertyOrigin, `qw:${property} has no meaning for qw:${name}`, 'remove it');
  }
  const text = (property: Property): string | undefined => {
    const given = one(context, id, full('qw', property), 'paging');
    const word = given === undefined ? undefined : wordOf(context, given, 'a text in quotes');
    if (given !== undefined && word === '') report.error('wrong-value', given.origin, `qw:${property} takes a text, found an empty one`);
    return word;
  };
  for (const property of must)
    if (all(graph, id, full('qw', property)).length === 0)
      report.error('incomplete-paging', statement.origin, `a qw:${name} without qw:${property}`, EXAMPLES[kind]);
  const own = { kind, origin: statement.origin, reference: text('reference'), parameter: text('parameter'), items: text('items') };
  const counts = { pageCount: text('pageCount'), recordCount: text('recordCount') };
  const paging = { ...own, ...counts, first: numberOf(context, id, kind === 'page-number' ? 1 : 0) };
  return report.errors > before ? undefined : paging;
}

const EXAMPLES: Readonly<Record<Kind, string>> = {
  'link-header': 'write [ a qw:LinkHeader ]',
  'next-link': 'write [ a qw:NextLink ; qw:reference "$.next" ]',
  cursor: 'write [ a qw:Cursor ; qw:reference "$.cursor" ; qw:parameter "cursor" ]',
  'page-number': 'write [ a qw:PageNumber ; qw:parameter "page" ; qw:items "$.items[*]" ]',
  offset: 'write [ a qw:Offset ; qw:parameter "offset" ; qw:items "$.items[*]" ]',
};

/** What the number of the first page is, or the offset of the first record. */
function numberOf(context: Context, id: string, otherwise: number): number {
  const statement = one(context, id, full('qw', 'first'), 'paging');
  if (statement === undefined) return otherwise;
  const { object, origin } = statement;
  if (object.kind === 'literal' && /^\d{1,9}$/.test(object.value)) return Number(object.value);
  context.report.error('wrong-value', origin, `qw:first takes a whole number, found ${describeTerm(object)}`);
  return otherwise;
}

function reportUnknown({ graph, report }: Context, id: string, known: readonly string[]): void {
  const namespace = full('qw', '');
  for (const { property, propertyOrigin } of graph.get(id)?.statements ?? []) {
    if (!property.startsWith(namespace) || known.includes(property.slice(namespace.length))) continue;
    const names = known.map((name) => `qw:${name}`);
    const hint = didYouMean(shorten(property), names, localName) ?? `here may stand ${orList(names)}`;
    report.error('unknown-term', propertyOrigin, `there is no property ${shorten(property)} here`, hint);
  }
}

/**
 * Whether a paging fits the format of its pages: rows are counted by themselves, and expressions need a format that has them. Where a page
 * number or an offset would not know the end, or how many records a page has, records would be lost without a word.
 */
export function checkPaging({ report }: Context, paging: Paging, hasRows: boolean): void {
  const { kind, reference, items, pageCount, recordCount, origin } = paging;
  if (hasRows) {
    const named = [reference, items, pageCount, recordCount].find((expression) => expression !== undefined);
    if (named === undefined) return;
    const hint = 'CSV has pages by qw:LinkHeader, qw:PageNumber or qw:Offset, whose items are its rows';
    report.error('incomplete-paging', origin, `the paging has the expression ${JSON.stringify(named)}, and CSV has none`, hint);
    return;
  }
  const isEndless = kind === 'page-number' && items === undefined && pageCount === undefined;
  if (isEndless || (kind === 'offset' && items === undefined)) {
    const why = kind === 'offset' ? 'how far the next page is' : 'which page is the last one';
    report.error('incomplete-paging', origin, `the paging does not tell ${why}`, `add qw:items: ${EXAMPLES[kind]}`);
  }
}
