/** Unit tests run from the TypeScript sources; whatever starts a process or a thread uses `dist`, which `npm test` builds first. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  // Against what hangs, no measure of speed: a service may take a minute to start on a busy machine, and tests that measure do so themselves.
  testTimeout: 120_000,
  reporters: ['default', '<rootDir>/test/reporter.js'],
};
