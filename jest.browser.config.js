/** The suites in a real browser: `npm run test:browser`. */
const { testMatch: _testMatch, globalSetup: _setup, globalTeardown: _teardown, ...shared } = require('./jest.config')

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testMatch: ['<rootDir>/test/browser/**/*.browser.ts'],
  // A page mostly waits for the next answer: two browsers share the cores, three would starve each other.
  maxWorkers: 2,
}
