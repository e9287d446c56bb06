/** The build sides of joins that each part of a divided group fills for itself: threads, and slices on workers. */
import { policyOf } from '../../mapping/model/model.ts';
import type { Project } from '../../plan/algebra.ts';
import type { Provided } from '../../plan/physical/nodes.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { InputState } from '../../storage/storage.ts';
import type { PreparedRun } from '../prepare/open.ts';
import type { RunRequest, SliceScan } from '../request.ts';

/**
 * The documents that fill the build sides of a group, each as a whole; none: the group has no joins. undefined: parts cannot fill them.
 *
 * Parts must fill them with the same result: from the same versions of documents, without terms that differ whenever they are made, and without
 * triples maps that leave out records.
 *
 * @param group positions of scans
 * @param stateOf the state of a document; undefined: parts cannot read the same version of it
 * @param mostBytes of all documents together
 */
export async function sidesOfGroup(
  group: readonly number[],
  { plan, physical: { nodes, provided } }: Pick<PreparedRun, 'plan' | 'physical'>,
  { onError }: RunRequest,
  stateOf: (position: number) => Promise<InputState | undefined>,
  mostBytes: number,
): Promise<readonly SliceScan[] | undefined> {
  const areSame = (side: Project): boolean => {
    const at = nodes.findIndex((node) => node.kind === 'project' && node.operator === side);
    const { deterministic, readsPosition } = provided[at] as Provided;
    // Rows of a view belong to no triples map, and legacy mappings have no views.
    return deterministic && !readsPosition && policyOf(side.map?.dialect ?? 'rml', onError) === 'strict';
  };
  const sides: SliceScan[] = [];
  let bytes = 0;
  for (const position of group) {
    const { iterations } = plan.scans[position] as ScanPlan;
    const joins = iterations.flatMap(({ pipelines }) => pipelines.flatMap(({ buildSides }) => buildSides));
    if (joins.length === 0) continue;
    const state = await stateOf(position);
    if (state === undefined || !joins.every((join) => areSame(plan.joins[join] as Project))) return undefined;
    const { sizeBytes, version } = state;
    bytes += sizeBytes;
    sides.push({ position, range: { kind: 'bytes', head: 0, from: 0, to: sizeBytes, version } });
  }
  return bytes <= mostBytes ? sides : undefined;
}
