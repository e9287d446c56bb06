import './yarrrml.test.ts';
