import { SERVERS } from '../../../servers/databases/databases.ts';
import { seeds, soakSeeds } from '../../../support/random.ts';
import { pollsTables } from './polling-suite.ts';

pollsTables(
  SERVERS.filter(([product]) => product === 'postgresql' || product === 'mariadb'),
  soakSeeds(101, 103),
  6,
);
// Each edit starts a process that writes the file.
pollsTables(
  SERVERS.filter(([product]) => product === 'duckdb'),
  seeds(101, 101),
  5,
);
