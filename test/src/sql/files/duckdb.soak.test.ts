import './duckdb.test.ts';
