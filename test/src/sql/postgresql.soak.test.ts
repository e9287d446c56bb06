import './postgresql.test.ts';
