import './inputs.test.ts';
