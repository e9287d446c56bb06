/** Unit tests run from the TypeScript sources; whatever starts a process or a thread uses `dist`, which `npm test` builds first. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  testTimeout: 30_000,
  reporters: ['default', '<rootDir>/test/support/reporter.js'],
};
