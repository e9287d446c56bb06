/** Jest's own environment, in a process that ends when the one that started Jest is gone, and takes along what it has started. */
import { TestEnvironment } from 'jest-environment-node';

const LOOK_MS = 500;

// Not by the event, whose listener would keep the process from ending in order. In the process that started Jest itself it is undefined.
setInterval(() => {
  if (process.connected === false) process.exit(1);
}, LOOK_MS).unref();

export default TestEnvironment;
