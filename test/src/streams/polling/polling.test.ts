import { SERVERS } from '../../../servers/databases/databases.ts';
import { seeds } from '../../../support/random.ts';
import { pollsTables } from './polling-suite.ts';

pollsTables(
  SERVERS.filter(([product]) => product === 'sqlite'),
  seeds(1, 2),
  4,
);
