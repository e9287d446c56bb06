import { availableParallelism } from 'node:os';

/**
 * `npm test`: what answers within minutes. Files named `*.soak.test.ts` take long on purpose and run with `npm run test:soak`
 * (`jest.soak.config.js`); every file belongs to exactly one of the two.
 *
 * Unit tests run from the TypeScript sources; whatever starts a process or a thread uses `dist`, which `npm test` builds first.
 */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '\\.soak\\.test\\.ts$'],
  testEnvironment: '<rootDir>/test/support/jest/environment.js',
  setupFilesAfterEnv: ['<rootDir>/test/support/jest/equality.js'],
  globalSetup: '<rootDir>/test/support/jest/setup.js',
  globalTeardown: '<rootDir>/test/support/jest/teardown.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  // Against hanging alone: a test that waits for its turn on a busy machine is not to fail.
  testTimeout: 120_000,
  // Files wait for servers a third of their time: one worker more than there are cores. Beyond four they wait for each other.
  maxWorkers: Math.min(4, availableParallelism() + 1),
  // Modules of files that have ended are never freed; a new worker is cheaper than collecting garbage among them.
  workerIdleMemoryLimit: '700MB',
  testSequencer: '<rootDir>/test/support/jest/sequencer.js',
  reporters: ['default', '<rootDir>/test/support/jest/reporter.js'],
};
