import './faults.test.ts';
