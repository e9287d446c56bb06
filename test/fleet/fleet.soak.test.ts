import './fleet.test.ts';
