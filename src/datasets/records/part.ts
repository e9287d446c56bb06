/** What is mapped together when versions are compared. */
import type { RunReport } from '../../run/request.ts';
import type { GraphLogReader } from '../graphs/graph-log.ts';
import type { Follow } from './joins.ts';
import type { Unit } from './units.ts';

/** For what a unit is mapped. */
interface Use {
  /** The sides of which its keys are followed. */
  readonly follow: Follow;
  /** Whether statements are wanted that have it for their root. */
  readonly isRoot: boolean;
}

/** Units that are mapped together. */
export class Part {
  /** Many units share one use. */
  readonly units = new Map<Unit, Use>();
  readonly #name: string;
  /** Where units are added, or sides. */
  hasGrown = false;
  /** By output. */
  readonly graphs = new Map<string | undefined, GraphLogReader>();
  report: RunReport | undefined;
  #runs = 0;
  #last: Use | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** @param isRoot false: it is needed for others, as far as nothing else is known of it */
  add(unit: Unit, follow: Follow, isRoot: boolean): void {
    const known = this.units.get(unit);
    const isWider = known === undefined || (known.follow !== follow && [...follow].some((side) => !known.follow.has(side)));
    if (!isWider && (known.isRoot || !isRoot)) return;
    this.hasGrown = true;
    // Most have what one unit has.
    const all = known === undefined ? follow : isWider ? new Set([...known.follow, ...follow]) : known.follow;
    this.units.set(unit, this.#use(all, isRoot || known?.isRoot === true));
  }

  /** The last one again, where it is the same. */
  #use(follow: Follow, isRoot: boolean): Use {
    if (this.#last?.follow !== follow || this.#last.isRoot !== isRoot) this.#last = { follow, isRoot };
    return this.#last;
  }

  nextName(): string {
    return `${this.#name}-${this.#runs++}`;
  }

  close(): void {
    for (const graph of this.graphs.values()) graph.close();
    this.graphs.clear();
  }
}
