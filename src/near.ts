/** The same under an older name; new code imports `nearest.ts`. */
export { didYouMean, editDistance, nearest as nearNames } from './nearest.ts';
