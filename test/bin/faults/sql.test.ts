/** What goes wrong with a PostgreSQL; `sql.soak.test.ts` asks the same of MariaDB. */
import { sqlFaults } from './sql-suite.ts';

sqlFaults('postgresql');
