import './write-out.test.ts';
