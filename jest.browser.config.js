/** The suites in a real browser: `npm run test:browser`. */
const { testMatch: _testMatch, globalSetup: _setup, globalTeardown: _teardown, ...shared } = require('./jest.config')

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testMatch: ['<rootDir>/test/browser/**/*.browser.ts'],
  // One browser at a time: what is measured is how soon something is seen.
  maxWorkers: 1,
}
