/** Runs over databases; `sql.soak.test.ts` has the other databases. */
import { FAST_SERVERS } from '../../../servers/databases/databases.ts';
import { runsOverDatabases } from './sql-suite.ts';

runsOverDatabases(FAST_SERVERS);
