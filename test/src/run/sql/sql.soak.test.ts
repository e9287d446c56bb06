/** Runs over the databases that `sql.test.ts` leaves out. */
import { OTHER_SERVERS } from '../../../servers/databases/databases.ts';
import { runsOverDatabases } from './sql-suite.ts';

runsOverDatabases(OTHER_SERVERS);
