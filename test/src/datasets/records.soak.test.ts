/** More random datasets by record. */
import { soakSeeds } from '../../support/random.ts';
import { datasetsByRecord } from './records-suite.ts';

datasetsByRecord(soakSeeds(11, 54), Number(process.env.VERSIONS ?? 4), true);
