/** A fleet over PostgreSQL, and one over MariaDB. */
import { sqlFleet } from './sql-suite.ts';

sqlFleet('postgresql');
sqlFleet('mariadb');
