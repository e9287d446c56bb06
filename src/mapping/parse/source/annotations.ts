/**
 * Structural annotations: what views promise of the values of their fields.
 *
 * A primary key is unique and not null, and a foreign key is an inclusion in fields that are unique, so these two are read as what they
 * consist of.
 *
 * @see https://kg-construct.github.io/rml-lv/spec/docs/#annotations
 */
import type { Annotation, FieldName, LogicalView } from '../../model/model.ts';
import { shorten } from '../../vocabulary/namespaces.ts';
import type { Class } from '../../vocabulary/vocabulary.ts';
import { type Context, literalText, type MappingNode, nodeOf, only, readList } from '../node.ts';
import { checkName, namesOf, readSourceOrView } from './view.ts';

/** Class → what it promises. */
const PROMISES: Partial<Record<Class, readonly Annotation['kind'][]>> = {
  IriSafeAnnotation: ['iri-safe'],
  NotNullAnnotation: ['not-null'],
  UniqueAnnotation: ['unique'],
  PrimaryKeyAnnotation: ['not-null', 'unique'],
  InclusionAnnotation: ['inclusion'],
  ForeignKeyAnnotation: ['inclusion'],
};

/** The annotations of all views. Views to which only annotations lead are read on the way. */
export function readAnnotations(context: Context): readonly Annotation[] {
  const { report, annotated } = context;
  const read: Annotation[] = [];
  /** Foreign keys: their targets must be unique. */
  const foreign: Annotation[] = [];
  // Grows during iteration: views that are read for a target may have annotations, too.
  for (const { view, annotations } of annotated) {
    const keys: MappingNode[] = [];
    for (const statement of annotations) {
      const node = nodeOf(context, statement, 'structural annotation');
      if (node === undefined) continue;
      if (node.classes.has('PrimaryKeyAnnotation')) keys.push(node);
      const found = readAnnotation(context, view, node);
      read.push(...found);
      if (node.classes.has('ForeignKeyAnnotation')) foreign.push(...found.filter(({ target }) => target !== undefined));
    }
    const [first, second] = keys;
    if (first !== undefined && second !== undefined)
      report.error('too-many', second.origin, 'a view has one primary key at most', `the other is on line ${first.origin.line}`);
  }
  for (const { origin, target } of foreign) if (target !== undefined) checkTarget(context, origin, target, read);
  return read;
}

function readAnnotation(context: Context, view: LogicalView, node: MappingNode): readonly Annotation[] {
  const { report } = context;
  const before = report.errors;
  const { origin } = node;
  const classes = [...node.classes].filter((name) => PROMISES[name] !== undefined);
  const kinds = new Set(classes.flatMap((name) => PROMISES[name] ?? []));
  if (kinds.size === 0 && node.valid) {
    const hint = `give it one of the classes ${Object.keys(PROMISES)
      .map((name) => `rml:${name}`)
      .join(', ')}`;
    report.error('incomplete-annotation', origin, 'a structural annotation does not say what it promises', hint);
  }
  const fields = readFieldNames(context, view, node, 'onFields');
  const target = kinds.has('inclusion') ? readTarget(context, node, fields) : undefined;
  if (!kinds.has('inclusion') && node.valid)
    for (const statement of [...node.all('targetView'), ...node.all('targetFields')])
      report.error(
        'misplaced-term',
        statement.propertyOrigin,
        `${shorten(statement.property)} belongs to a foreign key or an inclusion`,
        'add the class rml:ForeignKeyAnnotation or rml:InclusionAnnotation, or remove it',
      );
  if (fields === undefined || !node.valid || report.errors > before) return [];
  const name = classes.map((one) => `rml:${one}`).join(' and ');
  return [...kinds].map((kind) => ({ kind, origin, name, view, fields, target: kind === 'inclusion' ? target : undefined }));
}

function readFieldNames(
  context: Context,
  view: LogicalView | undefined,
  node: MappingNode,
  property: 'onFields' | 'targetFields',
): readonly FieldName[] | undefined {
  const { report } = context;
  const before = report.errors;
  const list = only(context, node, property);
  if (list === undefined) {
    if (node.valid)
      report.error('incomplete-annotation', node.origin, `a ${node.role} has no rml:${property}`, `add rml:${property} ( "…" )`);
    return undefined;
  }
  const items = readList(context, list);
  if (items === undefined) return undefined;
  if (items.length === 0)
    report.error('incomplete-annotation', list.origin, `rml:${property} names no field`, 'write their names in parentheses');
  const names = view === undefined ? undefined : namesOf(view);
  const fields: FieldName[] = [];
  for (const { object, origin } of items) {
    const name = literalText(context, { ...list, object, origin }, 'names of fields in quotes');
    if (name === undefined) continue;
    if (names !== undefined) checkName(context, name, origin, names);
    if (fields.some((other) => other.name === name))
      report.error('too-many', origin, `rml:${property} names ${JSON.stringify(name)} twice`, 'name each field once');
    fields.push({ name, origin });
  }
  return report.errors > before ? undefined : fields;
}

function readTarget(context: Context, node: MappingNode, fields: readonly FieldName[] | undefined): Annotation['target'] {
  const { report } = context;
  const before = report.errors;
  const named = only(context, node, 'targetView');
  if (named === undefined && node.valid)
    report.error('incomplete-annotation', node.origin, 'a foreign key or an inclusion names no target', 'add rml:targetView <…>');
  const view = named === undefined ? undefined : readSourceOrView(context, named);
  if (named !== undefined && view !== undefined && view.kind !== 'view')
    report.error('wrong-value', named.origin, 'rml:targetView leads to a logical source', 'make a view of it: rml:viewOn');
  const target = view?.kind === 'view' ? view : undefined;
  const targetFields = readFieldNames(context, target, node, 'targetFields');
  if (fields !== undefined && targetFields !== undefined && fields.length !== targetFields.length)
    report.error(
      'wrong-value',
      node.origin,
      `rml:onFields names ${count(fields)}, and rml:targetFields ${count(targetFields)}`,
      'name as many: the first belongs to the first, and so on',
    );
  if (target === undefined || targetFields === undefined || report.errors > before) return undefined;
  return { view: target, fields: targetFields };
}

const count = ({ length }: readonly unknown[]): string => (length === 1 ? '1 field' : `${length} fields`);

/** Reports a foreign key whose target does not promise that it is unique. */
function checkTarget(
  { report }: Context,
  origin: Annotation['origin'],
  { view, fields }: NonNullable<Annotation['target']>,
  all: readonly Annotation[],
): void {
  const names = new Set(fields.map(({ name }) => name));
  const isKey = ({ kind, view: of, fields: own }: Annotation): boolean =>
    kind === 'unique' && of === view && own.length === names.size && own.every(({ name }) => names.has(name));
  if (all.some(isKey)) return;
  const target = [...names].map((name) => JSON.stringify(name)).join(' ');
  report.error(
    'target-not-unique',
    origin,
    `the target of a foreign key is unique, but ${view.name} does not say so of ${target}`,
    `add rml:structuralAnnotation [ a rml:UniqueAnnotation ; rml:onFields ( ${target} ) ] to it, or make this an rml:InclusionAnnotation`,
  );
}
