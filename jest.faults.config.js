/** Whatever may go wrong on one server, under load; `npm run faults`. @type {import('jest').Config} */
module.exports = {
  ...require('./jest.config.js'),
  testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // Each starts several processes itself.
  maxWorkers: 1,
}
