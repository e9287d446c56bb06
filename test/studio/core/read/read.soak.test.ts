import './read.test.ts';
