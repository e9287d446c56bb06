/** Jest's own environment, in a process that ends when the one that started Jest is gone, and takes along what it has started. */
import { TestEnvironment } from 'jest-environment-node';

process.once('disconnect', () => process.exit(1));

export default TestEnvironment;
