/** The drivers of the products that are files. */
import type { OpenSession } from '../database.ts';
import { openFiles } from './session.ts';
import { sqliteCatalogue } from './sqlite/catalogue.ts';
import { columnOf } from './sqlite/columns.ts';

export const openSqliteFile: OpenSession = openFiles({ product: 'sqlite', label: 'SQLite', columnOf, catalogue: sqliteCatalogue });
