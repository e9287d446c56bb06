/** Random mappings over databases; `sql.soak.test.ts` has more of them. */
import { seeds } from '../../../../support/random.ts';
import { randomSql } from './sql-suite.ts';

randomSql(seeds(1, 12));
