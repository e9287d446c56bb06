import './saving.test.ts';
