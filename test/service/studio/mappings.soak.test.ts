import './mappings.test.ts';
