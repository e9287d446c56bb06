/** What goes wrong with a MariaDB; `sql.test.ts` asks the same of PostgreSQL. */
import { sqlFaults } from './sql-suite.ts';

sqlFaults('mariadb');
