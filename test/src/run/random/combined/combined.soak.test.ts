/** Thousands of random mappings that combine all modules; the seeds from `RANDOM_SEEDS=<first>-<last>`, if it is set. */
import { seeds } from '../seeds.ts';
import { combinedModules } from './combined-suite.ts';

const [first = 41, last = 1040] = (process.env.RANDOM_SEEDS ?? '').split('-').filter(Boolean).map(Number);
combinedModules(seeds(first, last), (seed) => seed % 10 === 0);
