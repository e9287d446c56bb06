/** More random mappings over databases than `sql.test.ts` has. */
import { seeds } from '../../../../support/random.ts';
import { randomSql } from './sql-suite.ts';

randomSql(seeds(13, 40));
