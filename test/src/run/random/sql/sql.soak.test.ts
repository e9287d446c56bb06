/** More random mappings over databases than `sql.test.ts` has; RANDOM_SEEDS=1000-2000 selects others. */
import { FAST_SERVERS, OTHER_SERVERS } from '../../../../servers/databases/databases.ts';
import { soakSeeds } from '../../../../support/random.ts';
import { randomSql } from './sql-suite.ts';

randomSql(FAST_SERVERS, soakSeeds(4, 9));
randomSql(OTHER_SERVERS, soakSeeds(1, 6));
