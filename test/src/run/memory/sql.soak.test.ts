/** Memory does not grow with the rows of a database, PostgreSQL or MariaDB; `memory.test.ts` has what is asked of files. */
import { boundedSqlMemory } from './sql-suite.ts';

boundedSqlMemory('postgresql');
boundedSqlMemory('mariadb');
