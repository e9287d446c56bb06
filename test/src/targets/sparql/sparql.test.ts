/** SPARQL targets on the embedded store and one other; `sparql.soak.test.ts` has the other stores. */
import { sparqlSuite } from './sparql-suite.ts';
import { FEW_PLACES } from './stores.ts';

sparqlSuite(FEW_PLACES);
