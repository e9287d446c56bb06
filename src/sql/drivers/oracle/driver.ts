/** What this room uses of the driver, `oracledb` in its thin mode, which needs no client library of Oracle. */
import { loadPackage } from '../../faults.ts';

/** @see https://node-oracledb.readthedocs.io/en/latest/api_manual/oracledb.html#oracledb-database-type-objects */
export interface DriverColumn {
  readonly name: string;
  /** `NUMBER`, `TIMESTAMP WITH TIME ZONE`; of an object type its name. */
  readonly dbTypeName?: string;
  readonly precision?: number;
  readonly scale?: number;
  /** Bytes of a character type. */
  readonly byteSize?: number;
  readonly isJson?: boolean;
}

export type DriverValue = string | number | boolean | Buffer | Date | object | null;

export interface DriverRows {
  getRows(rows: number): Promise<DriverValue[][]>;
  close(): Promise<void>;
}

export interface FetchOptions {
  readonly resultSet?: boolean;
  readonly fetchArraySize?: number;
  readonly prefetchRows?: number;
  readonly outFormat?: number;
  readonly maxRows?: number;
  readonly fetchTypeHandler?: (column: DriverColumn) => { readonly type: unknown } | undefined;
}

export interface DriverConnection {
  readonly oracleServerVersionString: string;
  getStatementInfo(
    sql: string,
  ): Promise<{ readonly statementType: number; readonly metaData?: readonly DriverColumn[]; readonly bindNames: readonly string[] }>;
  execute(
    sql: string,
    binds: readonly (string | number)[],
    options: FetchOptions,
  ): Promise<{ readonly metaData?: readonly DriverColumn[]; readonly rows?: DriverValue[][]; readonly resultSet?: DriverRows }>;
  /** Stops the statement on the server; its promise is rejected. */
  break(): Promise<void>;
  rollback(): Promise<void>;
  close(options?: { readonly drop?: boolean }): Promise<void>;
}

export interface Driver {
  readonly STRING: unknown;
  readonly BUFFER: unknown;
  readonly OUT_FORMAT_ARRAY: number;
  readonly STMT_TYPE_SELECT: number;
  getConnection(options: Readonly<Record<string, unknown>>): Promise<DriverConnection>;
}

/** @throws Fault database/driver — it is not installed */
export const loadDriver = (load = importDriver): Promise<Driver> => loadPackage('Oracle Database', 'oracledb', load);

// @ts-expect-error: the package has no types.
const importDriver = (): Promise<unknown> => import('oracledb');
