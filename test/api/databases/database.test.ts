/** Calls that reach a database: wrong ones, and over PostgreSQL; `database.soak.test.ts` has them over MariaDB. */
import { callsOver, wrongRequests } from './database-suite.ts';

wrongRequests();
callsOver('postgresql');
