import './round-trips.test.ts';
