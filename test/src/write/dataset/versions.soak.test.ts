/** More random versions, also to the stores of others. */
import { soakSeeds } from '../../../support/random.ts';
import { FEW_PLACES, OTHER_PLACES } from '../../targets/sparql/stores.ts';
import { datasetSuite } from './suite.ts';

datasetSuite([...FEW_PLACES, ...OTHER_PLACES], soakSeeds(13, 16), 20);
