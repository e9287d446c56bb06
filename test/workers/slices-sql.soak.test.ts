/** A large table of MariaDB, sliced over real processes; `slices-sql.test.ts` has one of PostgreSQL. */
import { largeTable } from './slices-sql-suite.ts';

largeTable('MariaDB');
