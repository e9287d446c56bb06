import './patch.test.ts';
