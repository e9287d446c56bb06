/** Unexpected data in a PostgreSQL; `sql-data.soak.test.ts` asks the same of MariaDB. */
import { sqlDataFaults } from './sql-data-suite.ts';

sqlDataFaults('postgresql');
