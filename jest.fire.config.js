/** Long runs with processes that are killed and connections that are cut; `npm run test:fire`. @type {import('jest').Config} */
module.exports = {
  ...require('./jest.config.js'),
  testMatch: ['<rootDir>/test/fire/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // Each starts several processes itself.
  maxWorkers: 1,
}
