/** What `sparql.test.ts` shows of SPARQL targets, on the other stores. */
import { sparqlSuite } from './sparql-suite.ts';
import { OTHER_PLACES } from './stores.ts';

sparqlSuite(OTHER_PLACES);
