import './service.test.ts';
