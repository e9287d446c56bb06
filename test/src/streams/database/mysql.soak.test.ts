import './mysql.test.ts';
