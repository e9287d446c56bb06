/** As many starters as a fleet that comes back at once; `directory-lock.test.ts` has fewer. */
import { closeAfterEach } from '../../support/closing.ts';
import { testStarters } from './directory-lock-starters.ts';
import './directory-lock.test.ts';

testStarters(closeAfterEach(), 50);
