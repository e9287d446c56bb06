/** A fleet over MariaDB; `sql.test.ts` has one over PostgreSQL. */
import { sqlFleet } from './sql-suite.ts';

sqlFleet('mariadb');
