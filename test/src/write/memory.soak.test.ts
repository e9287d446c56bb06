/** A million statements in the memory that a few hundred thousand need. */
import { boundedMemory } from './memory-suite.ts';

boundedMemory(
  [
    ['insert', { mode: 'insert' }],
    ['update of properties', { mode: 'update', scope: 'property' }],
    ['update of graphs', { mode: 'update', scope: 'graph' }],
  ],
  200_000,
  1_000_000,
);
