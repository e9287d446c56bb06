/**
 * Which join keys of records are followed to other records.
 *
 * A *derivation* is what a statement is made of: a record, the rows that the joins of its pipeline (and of its rule) have found for it, each of them a row
 * of another pipeline, with its own record and joins. So it is a tree of records. Each edge is a join: the row above has a key on the left
 * side, the row below has it on the right side.
 *
 * A record that names blank nodes has a further key, its content, and a row of a view with a promise of unique keys has these: they lead to others with the
 * same one, on a side without an opposite one.
 *
 * A *followed* key leads from the records that have it to those that have it on the other side. Upwards, from the right side to the left one, it finds what
 * is made with a record; downwards it finds what a record needs.
 */
import type { Check, Join, Project, Scan } from '../../plan/algebra.ts';
import type { PipelinePlan, Plan, ScanPlan } from '../../plan/plan.ts';
import { quotes } from './reasons.ts';

/** A side of joins: twice the position of the build side among `Plan.joins`; the right side has one more. Joins that share a build side share both. */
export type Side = number;

export const leftOf = (join: number): Side => join * 2;
export const rightOf = (join: number): Side => join * 2 + 1;
export const isRight = (side: Side): boolean => side % 2 === 1;

/** Sides whose keys are followed. */
export type Follow = ReadonlySet<Side>;

/** The joins of the rows of a pipeline, as positions of their build sides. */
interface Shape {
  /** One that makes rows, as often as it is made. */
  readonly steps: readonly number[];
  /** Those of rules. */
  readonly objects: readonly number[];
  /** The build sides that the rows fill. */
  readonly builds: readonly number[];
}

export class JoinSides {
  /** Whether a row without a partner stays. */
  readonly isOuter: boolean;
  /** Whether there is something to follow beside the subjects of statements. */
  readonly isTraced: boolean;
  readonly #sides = new Map<Join | Project | Scan | Check, Side>();
  /** Behind those of joins. */
  readonly #firstAlone: Side;
  /** By scan: of each pipeline. */
  readonly #shapes: readonly (readonly Shape[])[];
  /** By scan: the sides without an opposite one. */
  readonly #alone: readonly (readonly Side[])[];
  readonly #known = new Map<string, Follow>();

  constructor({ scans, joins, checks }: Pick<Plan, 'scans' | 'joins' | 'checks'>) {
    for (const [at, project] of joins.entries()) this.#sides.set(project, rightOf(at));
    this.#firstAlone = leftOf(joins.length);
    this.#alone = scans.map(({ iterations }) =>
      iterations.flatMap(({ scan, namesRows, pipelines }) =>
        [...(namesRows ? [scan] : []), ...uniqueIn(pipelines, checks)].map((of) => {
          // Documents of one source share it.
          const side = this.#sides.get(of) ?? leftOf(this.#sides.size);
          this.#sides.set(of, side);
          return side;
        }),
      ),
    );
    const pipelines = scans.map(({ iterations }) => iterations.flatMap((iteration) => iteration.pipelines));
    let isOuter = false;
    const taken = ({ operator, join }: { readonly operator: Join; readonly join: number }): number => {
      this.#sides.set(operator, leftOf(join));
      isOuter ||= operator.type === 'left';
      return join;
    };
    this.#shapes = pipelines.map((of) =>
      of.map(({ steps, maps, buildSides }) => ({
        steps: steps.flatMap((step) => (step.kind === 'join' ? taken(step) : [])),
        objects: maps.flatMap(({ rules }) => rules.flatMap(({ object }) => (object.kind === 'join' ? taken(object) : []))),
        builds: buildSides,
      })),
    );
    this.isOuter = isOuter;
    this.isTraced = this.#sides.size > 0 || quotes({ scans, joins });
  }

  /** @param of a scan: the side of contents; a promise: that of unique keys */
  sideOf(of: Join | Project | Scan | Check): Side {
    return this.#sides.get(of) as Side;
  }

  /** The side on which those are that a key leads to. */
  oppositeOf(side: Side): Side {
    if (side >= this.#firstAlone) return side;
    return isRight(side) ? side - 1 : side + 1;
  }

  /** Of records that have changed: everything. */
  ofChanged(scan: number): Follow {
    return this.#once(`changed ${scan}`, () => [
      ...this.#all(scan).flatMap((shape) => [...downs(shape), ...shape.builds.map(rightOf)]),
      ...(this.#alone[scan] as readonly Side[]),
    ]);
  }

  /** Of records whose statements are wanted as far as records that stay make them: downwards. */
  ofRoot(scan: number): Follow {
    return this.#once(`root ${scan}`, () => this.#all(scan).flatMap(downs));
  }

  /**
   * Of records that were found by a key on a side.
   *
   * On the right side, the rows that fill it are wanted. On the left side, it is the derivations with this join: all of their other joins, and upwards what
   * is made of the rows, where the join makes rows. On a side without an opposite one it is all of their joins. With joins that keep rows without a partner, all rows of the records must be right.
   */
  ofFound(scan: number, side: Side): Follow {
    if (this.isOuter && !isRight(side)) return this.ofChanged(scan);
    if (side >= this.#firstAlone) return this.ofRoot(scan);
    if (this.isOuter) return this.#once(`rows ${scan}`, () => this.#all(scan).flatMap(({ steps }) => steps.map(leftOf)));
    const join = Math.floor(side / 2);
    const shapes = this.#all(scan);
    return this.#once(`${side} ${scan}`, () => {
      if (isRight(side)) return shapes.flatMap(({ steps, builds }) => (builds.includes(join) ? steps.map(leftOf) : []));
      return shapes.flatMap(({ steps, objects, builds }) => {
        const ofRows = steps.includes(join) ? [...without(steps, join), ...objects].map(leftOf).concat(builds.map(rightOf)) : [];
        return objects.includes(join) ? [...ofRows, ...steps.map(leftOf)] : ofRows;
      });
    });
  }

  #all(scan: number): readonly Shape[] {
    return this.#shapes[scan] as readonly Shape[];
  }

  #once(key: string, make: () => readonly Side[]): Follow {
    const known = this.#known.get(key) ?? new Set(make());
    this.#known.set(key, known);
    return known;
  }
}

/** Whether equal records of a scan are not as good as one of them: they name blank nodes, or a view promises that there are none. */
export const countsEqual = ({ iterations }: ScanPlan, checks: Plan['checks']): boolean =>
  iterations.some(({ namesRows, pipelines }) => namesRows || uniqueIn(pipelines, checks).length > 0);

/** The promises of unique keys of the rows of pipelines. */
const uniqueIn = (pipelines: readonly PipelinePlan[], checks: Plan['checks']): readonly Check[] =>
  pipelines.flatMap((pipeline) => pipeline.checks.map((at) => checks[at] as Check)).filter(({ kind }) => kind === 'unique');

const downs = ({ steps, objects }: Shape): readonly Side[] => [...steps, ...objects].map(leftOf);

const without = (joins: readonly number[], join: number): readonly number[] => joins.toSpliced(joins.indexOf(join), 1);
