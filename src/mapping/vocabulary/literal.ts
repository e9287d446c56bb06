/** Literals of constant maps: what their languages, datatypes and texts say together. */
import { isLexicalForm } from '../../core/input/lexical-form.ts';
import { XSD } from '../../core/value.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Expression, Origin, RdfTerm, TermMap } from '../model/model.ts';
import { shorten } from './namespaces.ts';

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const LANG_STRING = `${RDF}langString`;
/** Datatypes of literals with a language, or with a language and a direction, and of no others. */
const OF_LANGUAGES = [LANG_STRING, `${RDF}dirLangString`];

/** The datatype of every literal with a language: to state it beside one says nothing new. */
export const isLangString = ({ expression }: TermMap): boolean => expression.kind === 'constant' && expression.term.value === LANG_STRING;

/**
 * Merges a constant language or datatype into a constant literal, so that nothing is left to do per record.
 *
 * @returns undefined, with a diagnostic, if they contradict each other
 */
export function foldLiteral(report: Report, map: TermMap): TermMap | undefined {
  const folded = fold(report, map);
  if (folded?.expression.kind === 'constant') checkLiteral(report, folded.expression);
  return folded;
}

function fold(report: Report, map: TermMap): TermMap | undefined {
  const { expression, language, datatype } = map;
  const typed = datatype?.expression.kind === 'constant' ? datatype.expression.term.value : undefined;
  const own = expression.kind === 'constant' && expression.term.kind === 'literal' ? expression.term : undefined;
  if (datatype !== undefined && typed !== undefined && OF_LANGUAGES.includes(typed) && typed !== own?.datatype) {
    const message = `a literal of ${shorten(typed)} has a language, and none is given`;
    report.error('contradiction', datatype.origin, message, 'write rml:language "…", or rml:languageMap […], instead of the datatype');
    return undefined;
  }
  if (expression.kind !== 'constant' || expression.term.kind !== 'literal' || (language === undefined && datatype === undefined))
    return map;
  const { term } = expression;
  if (typed === term.datatype) return { ...map, datatype: undefined };
  if (language?.kind === 'constant' && language.term.value === term.language) return { ...map, language: undefined };
  if (term.language !== undefined || term.datatype !== `${XSD}string`) {
    const has = term.language !== undefined ? `language ${JSON.stringify(term.language)}` : `datatype ${shorten(term.datatype)}`;
    const origin: Origin = (language ?? datatype)?.origin ?? map.origin;
    report.error('contradiction', origin, `the constant has the ${has} already`, 'remove one of the two');
    return undefined;
  }
  if (language?.kind === 'constant') {
    const tagged: RdfTerm = { ...term, datatype: LANG_STRING, language: language.term.value };
    return { ...map, expression: { ...expression, term: tagged }, language: undefined };
  }
  if (typed !== undefined) return { ...map, expression: { ...expression, term: { ...term, datatype: typed } }, datatype: undefined };
  return map;
}

/** Warns of a constant whose text is no value of its datatype: RDF allows it, but it is most likely a mistake. */
export function checkLiteral(report: Report, { term, origin }: Extract<Expression, { kind: 'constant' }>): void {
  if (term.kind !== 'literal' || isLexicalForm(term.value, term.datatype)) return;
  const message = `the text ${JSON.stringify(term.value)} is no ${shorten(term.datatype)}: it is written as it is`;
  report.warning('ill-typed', origin, message, 'correct the text, or its datatype');
}
