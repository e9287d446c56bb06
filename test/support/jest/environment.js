/**
 * Jest's own environment, but with plain globals, in a process that ends when the one that started Jest is gone, and takes along what it
 * has started.
 */
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const LOOK_MS = 500;

// Not by the event, whose listener would keep the process from ending in order. In the process that started Jest itself it is undefined.
setInterval(() => {
  if (process.connected === false) process.exit(1);
}, LOOK_MS).unref();

const { createContext } = vm;

/**
 * Jest makes the global object a proxy behind interceptors: each `Math` and `Map` in an inner loop then costs about a microsecond, and what
 * computes takes up to ten times as long. A context that is not made of an object has globals as fast as Node's.
 */
export default class extends TestEnvironment {
  constructor(...given) {
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...given);
    } finally {
      vm.createContext = createContext;
    }
  }
}
