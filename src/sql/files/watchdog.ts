/** A thread of the host process that ends it when the process of its session has ended, in whatever statement it is. */
import { Socket } from 'node:net';
import { LIFELINE } from './engine.ts';

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

// Nothing is ever written to it.
new Socket({ fd: LIFELINE, readable: true, writable: false }).on('end', end).on('error', end).resume();
