import './side.test.ts';
