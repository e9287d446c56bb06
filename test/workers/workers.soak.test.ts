import './workers.test.ts';
