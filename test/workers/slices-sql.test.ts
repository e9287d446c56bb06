/** A large table of PostgreSQL, sliced over real processes; `slices-sql.soak.test.ts` has one of MariaDB. */
import { largeTable } from './slices-sql-suite.ts';

largeTable('PostgreSQL');
