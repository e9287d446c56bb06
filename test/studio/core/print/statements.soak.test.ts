import './statements.test.ts';
