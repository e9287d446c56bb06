/** The runs of each dataset that have not ended, in the order of their requests: the head of the line is the one that may run. */

/** The head of a line, and how many runs are before the one that asks. */
export interface LinePlace {
  readonly head: string;
  readonly before: number;
}

/** Each call is one step: no process sees half of it, and all processes see one order. */
export interface DatasetLines {
  /** Adds a run to the end of a line, if it is not in it. @param dataset URL of the dataset */
  join(dataset: string, run: string): Promise<LinePlace>;
  /** Removes a run from a line, if it is in it. Resolves to the head then; undefined: the line is empty. */
  leave(dataset: string, run: string): Promise<string | undefined>;
}
