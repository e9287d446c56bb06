import fast from './jest.config.js';

/** `npm run test:soak`: what takes long on purpose. One file at a time, since these measure memory and break what they run on. */
export default {
  ...fast,
  testMatch: ['<rootDir>/test/**/*.soak.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 300_000,
  maxWorkers: 1,
};
