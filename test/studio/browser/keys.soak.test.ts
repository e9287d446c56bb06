import './keys.test.ts';
