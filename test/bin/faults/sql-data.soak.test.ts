/** Unexpected data in a MariaDB; `sql-data.test.ts` asks the same of PostgreSQL. */
import { sqlDataFaults } from './sql-data-suite.ts';

sqlDataFaults('mariadb');
