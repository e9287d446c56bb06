import './start.test.ts';
