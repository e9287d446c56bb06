/** What a worker does not reach, beside what `services.test.ts` shows. */
import './services.test.ts';
