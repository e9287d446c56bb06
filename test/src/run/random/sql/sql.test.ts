/** Random mappings over databases; `sql.soak.test.ts` has more of them, and the other databases. */
import { FAST_SERVERS } from '../../../../servers/databases/databases.ts';
import { seeds } from '../../../../support/random.ts';
import { randomSql } from './sql-suite.ts';

randomSql(FAST_SERVERS, seeds(1, 3));
