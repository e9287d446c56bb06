/** What goes wrong with a PostgreSQL, and with a MariaDB. */
import { sqlFaults } from './sql-suite.ts';

sqlFaults('postgresql');
sqlFaults('mariadb');
