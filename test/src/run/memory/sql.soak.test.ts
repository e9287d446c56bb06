/** Memory does not grow with the rows of a MariaDB; `memory/sql.test.ts` asks the same of PostgreSQL. */
import { boundedSqlMemory } from './sql-suite.ts';

boundedSqlMemory('mariadb');
