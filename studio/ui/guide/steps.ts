/** The steps of the guided example: each is done when the model shows it, whichever way a person took. */
import type { StudioDocument } from '../../core/document.ts';
import { recordOf, recordsOf } from '../../core/elements/records.ts';
import { EXAMPLE_FILES } from './files.ts';

export type StepName = 'add' | 'identify' | 'describe' | 'connect' | 'run';

export interface GuideStep {
  readonly name: StepName;
  readonly isDone: (document: StudioDocument, hasRun: boolean) => boolean;
}

export const STEPS: readonly GuideStep[] = [
  { name: 'add', isDone: (document) => recordsOf(document, 'input').length >= EXAMPLE_FILES.length },
  { name: 'identify', isDone: (document) => recordsOf(document, 'entity').some(({ termType }) => termType === 'iri') },
  { name: 'describe', isDone: (document) => edges(document, 'attribute') >= 2 },
  { name: 'connect', isDone: (document) => edges(document, 'entity') >= 1 },
  { name: 'run', isDone: (_, hasRun) => hasRun },
];

/** How many edges with a predicate lead to elements of a kind. */
const edges = (document: StudioDocument, kind: 'entity' | 'attribute'): number =>
  recordsOf(document, 'edge').filter(({ to, predicates }) => predicates.length > 0 && recordOf(document, kind, to) !== undefined).length;
