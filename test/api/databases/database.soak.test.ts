/** Calls that reach a MariaDB; `database.test.ts` has them over PostgreSQL. */
import { callsOver } from './database-suite.ts';

callsOver('mariadb');
