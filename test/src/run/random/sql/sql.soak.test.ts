/** More random mappings over databases than `sql.test.ts` has. */
import { FAST_SERVERS, OTHER_SERVERS } from '../../../../servers/databases/databases.ts';
import { seeds } from '../../../../support/random.ts';
import { randomSql } from './sql-suite.ts';

randomSql(FAST_SERVERS, seeds(4, 26));
randomSql(OTHER_SERVERS, seeds(1, 26));
