/** Random versions to the embedded store; `versions.soak.test.ts` has more, and other stores. */
import { seeds } from '../../../support/random.ts';
import { FEW_PLACES } from '../../targets/sparql/stores.ts';
import { datasetSuite } from './suite.ts';

datasetSuite(FEW_PLACES.slice(0, 1), seeds(1, 8), 12);
