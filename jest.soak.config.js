import fast from './jest.config.js';

/**
 * `npm run test:soak`: what takes long on purpose. Two files at a time: they measure the memory of separate processes, and break only dedicated
 * servers.
 */
export default {
  ...fast,
  testMatch: ['<rootDir>/test/**/*.soak.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 600_000,
  maxWorkers: 2,
};
