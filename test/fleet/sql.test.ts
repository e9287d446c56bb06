/** A fleet over PostgreSQL; `sql.soak.test.ts` has one over MariaDB. */
import { sqlFleet } from './sql-suite.ts';

sqlFleet('postgresql');
