import './ontologies.test.ts';
