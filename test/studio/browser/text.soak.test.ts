import './text.test.ts';
