/**
 * Targets: files that statements go to instead of the output of the run.
 *
 * @see https://rml.io/yarrrml/spec/#targets
 */
import { didYouMean } from '../../core/nearest.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Origin } from '../model/model.ts';
import { fieldsOf, itemsOf, reportKind, textIn } from './keys.ts';
import type { Entry, Tree } from './tree.ts';
import { literal, named, type Subject } from './writer.ts';

export const SERIALIZATIONS: Readonly<Record<string, string>> = {
  nquads: 'formats:N-Quads',
  ntriples: 'formats:N-Triples',
  turtle: 'formats:Turtle',
  trig: 'formats:TriG',
  jsonld: 'formats:JSON-LD',
  n3: 'formats:N3',
  rdfxml: 'formats:RDF_XML',
  rdfjson: 'formats:RDF_JSON',
};

/** Serialisations that the specification lists beside those. */
const OTHER_SERIALIZATIONS =
  /^(ldpatch|microdata|owlxml|owlfunctional|owlmanchester|powder|powder-s|prov-n|prov-xml|rdfa|rifxml|sparqlxml|sparqljson|sparqlcsv|sparqltsv)$/;

export const COMPRESSIONS: Readonly<Record<string, string>> = {
  gzip: 'rml:gzip',
  zip: 'rml:zip',
  targzip: 'rml:targz',
  targz: 'rml:targz',
  tarxz: 'rml:tarxz',
};

/** Types of targets that are files. */
const FILES: readonly string[] = ['localfile', 'void', 'dcat'];
const OTHERS: readonly string[] = ['sparql', 'sd', 'directhttprequest', 'linkedhttprequest'];

/** The targets of a key: names of targets, descriptions, short forms. `lookUp` gives the description of a name, or reports it. */
export function writeTargets(
  report: Report,
  entry: Entry | undefined,
  map: Subject,
  lookUp: (name: string, origin: Origin) => Tree | undefined,
): void {
  if (entry === undefined) return;
  const { value } = entry;
  // `[dump.ttl~void, turtle]` is one target, and `[people, projects]` are two.
  const items = isShortTarget(value) ? [value] : itemsOf(value);
  for (const item of items) {
    const described = item.kind === 'text' && !item.text.includes('~') ? lookUp(item.text, item.origin) : item;
    if (described !== undefined) writeTarget(report, described, map.lead('rml:logicalTarget', item.origin));
  }
}

const isShortTarget = (tree: Tree): boolean => tree.kind === 'list' && tree.items[0]?.kind === 'text' && tree.items[0].text.includes('~');

function writeTarget(report: Report, tree: Tree, node: Subject): void {
  if (tree.kind !== 'map') {
    const [access, serialization, compression, ...others] = tree.kind === 'list' ? tree.items : [tree];
    const parts = [access, serialization, compression];
    if (access === undefined || others.length > 0 || parts.some((part) => part !== undefined && part.kind !== 'text')) {
      reportKind(
        report,
        tree,
        'a target is a map, or a list of its access, serialization and compression',
        'write [dump.ttl~void, turtle]',
      );
      return;
    }
    const [path = '', type = 'localfile'] = scalarText(access)?.split('~') ?? [];
    writeDescribed(report, node, access.origin, path, [type, access.origin], given(serialization), given(compression));
    return;
  }
  const fields = fieldsOf(report, tree, 'target');
  if (fields === undefined) return;
  const path = textIn(report, fields.get('access'));
  if (path === undefined) {
    if (!fields.has('access')) report.error('missing-path', tree.origin, 'a target without the key access', 'add access: dump.nq');
    return;
  }
  const part = (key: 'type' | 'serialization' | 'compression') => given(fields.get(key)?.value);
  const at = fields.get('access')?.value.origin as Origin;
  writeDescribed(report, node, at, path, part('type') ?? ['localfile', at], part('serialization'), part('compression'));
}

const scalarText = (tree: Tree | undefined): string | undefined => (tree?.kind === 'text' ? tree.text : undefined);

type Given = readonly [text: string, origin: Origin] | undefined;

const given = (tree: Tree | undefined): Given => (tree?.kind === 'text' ? [tree.text, tree.origin] : undefined);

function writeDescribed(
  report: Report,
  node: Subject,
  at: Origin,
  path: string,
  [type, typeOrigin]: readonly [string, Origin],
  serialization: Given,
  compression: Given,
): void {
  if (path.includes('$(')) {
    report.error('not-supported', at, 'targets whose place depends on the record are not supported yet by this version', 'name one file');
    return;
  }
  if (!FILES.includes(type)) {
    if (OTHERS.includes(type)) {
      const hint = 'a target is a file here; the graph writer (quadmill write) brings it into a store afterwards';
      report.error('not-supported', typeOrigin, `${type} as a target is not supported yet by this version`, hint);
    } else {
      const hint = didYouMean(type, [...FILES, ...OTHERS]) ?? `the types are ${FILES.join(', ')}`;
      report.error('wrong-value', typeOrigin, `there is no type of target ${JSON.stringify(type)}`, hint);
    }
    return;
  }
  const target = node.lead('rml:target', at);
  target.set('rdf:type', named('rml:FilePath'), at);
  target.set('rml:path', literal(path), at);
  writeChoice(report, node, 'rml:serialization', 'serialization', serialization, SERIALIZATIONS, OTHER_SERIALIZATIONS);
  writeChoice(report, node, 'rml:compression', 'compression', compression, COMPRESSIONS, undefined);
}

function writeChoice(
  report: Report,
  node: Subject,
  property: string,
  what: string,
  chosen: Given,
  table: Readonly<Record<string, string>>,
  unsupported: RegExp | undefined,
): void {
  if (chosen === undefined) return;
  const [text, origin] = chosen;
  if (Object.hasOwn(table, text)) {
    node.set(property, named(table[text] as string), origin);
    return;
  }
  const known = Object.keys(table);
  if (unsupported?.test(text)) {
    report.error('not-supported', origin, `the ${what} ${text} is not supported yet by this version`, `${known.join(', ')} are`);
    return;
  }
  const hint = didYouMean(text, known) ?? `known are ${known.join(', ')}`;
  report.error('wrong-value', origin, `there is no ${what} ${JSON.stringify(text)}`, hint);
}
