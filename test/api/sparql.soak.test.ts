import './sparql.test.ts';
