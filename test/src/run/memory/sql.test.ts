/** Memory does not grow with the rows of a PostgreSQL; `memory/sql.soak.test.ts` asks the same of MariaDB. */
import { boundedSqlMemory } from './sql-suite.ts';

boundedSqlMemory('postgresql');
