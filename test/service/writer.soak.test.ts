import './writer.test.ts';
