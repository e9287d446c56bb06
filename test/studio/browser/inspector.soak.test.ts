import './inspector.test.ts';
