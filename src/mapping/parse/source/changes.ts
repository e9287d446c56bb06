/** What a logical source or logical table says of how the rows of its table change: `qms:changedSince`, `qms:deletedWhen`, `qms:overlap`. */
import { SOURCE_NAMESPACE } from '../../../core/input/formats.ts';
import type { Statement } from '../../model/graph.ts';
import type { SqlContent, TableChanges } from '../../model/model.ts';
import { type Context, describeTerm, literalText } from '../node.ts';

const NAMES = ['changedSince', 'deletedWhen', 'overlap'] as const;
type Name = (typeof NAMES)[number];

/** @param id of the logical source @returns undefined: nothing is said, or it is wrong, which is reported */
export function readChanges(context: Context, id: string, content: SqlContent | undefined): TableChanges | undefined {
  const { graph, report } = context;
  const found = new Map<Name, Statement>();
  for (const statement of graph.get(id)?.statements ?? []) {
    const name = NAMES.find((one) => statement.property === SOURCE_NAMESPACE + one);
    if (name === undefined) continue;
    if (found.has(name)) report.error('too-many', statement.origin, `a second qms:${name}, which a source may have once`);
    else found.set(name, statement);
  }
  const [first] = found.values();
  if (first === undefined) return undefined;
  const changed = found.get('changedSince');
  if (changed === undefined) {
    const message = `qms:${[...found.keys()].join(' and qms:')} without qms:changedSince`;
    report.error('contradiction', first.origin, message, 'add qms:changedSince "COLUMN", a column that grows with each change of a row');
    return undefined;
  }
  if (content?.kind === 'query')
    report.error(
      'contradiction',
      changed.origin,
      'qms:changedSince beside a query, whose rows have no key that identifies a changed row',
      'name the table (rr:tableName, rml:SQL2008Table), and join in the mapping',
    );
  const column = literalText(context, changed, 'the name of a column in quotes');
  const deletedWhen = found.get('deletedWhen');
  const deleted = deletedWhen && literalText(context, deletedWhen, 'the name of a column in quotes');
  const overlap = readOverlap(context, found.get('overlap'));
  if (column === undefined) return undefined;
  return {
    origin: changed.origin,
    column,
    ...(deleted === undefined ? {} : { deleted }),
    ...(overlap === undefined ? {} : { overlap }),
  };
}

function readOverlap({ report }: Context, statement: Statement | undefined): number | undefined {
  if (statement === undefined) return undefined;
  const { object, origin } = statement;
  if (object.kind === 'literal' && /^\d{1,9}$/.test(object.value)) return Number(object.value);
  const message = `qms:overlap takes a whole number of at most nine digits, found ${describeTerm(object)}`;
  report.error('wrong-value', origin, message, 'seconds for a column of times, and units for a column of numbers');
  return undefined;
}
